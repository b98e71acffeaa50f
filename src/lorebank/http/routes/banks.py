"""Banks: list, profile, configuration, aliases, statistics, templates."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.requests.banks import (
    BankConfigUpdate,
    BankTemplateManifest,
    CreateBankAliasRequest,
    CreateBankRequest,
    SetBankAliasPrimaryRequest,
)
from lorebank.service.requests.queries import Named, StatsQuery, TemplateImportQuery, TimeseriesQuery

BINDINGS = (
    bind("GET", "/v1/default/banks", "list_banks", query=Named),
    bind("PUT", "~", "create_or_update_bank", body=CreateBankRequest),
    bind("PATCH", "~", "update_bank", body=CreateBankRequest),
    bind("DELETE", "~", "delete_bank"),
    bind("GET", "~/profile", "get_bank_profile"),
    bind("GET", "~/access", "get_bank_access"),
    bind("PUT", "~/profile", "update_bank_disposition"),
    bind("POST", "~/background", "add_bank_background"),
    bind("GET", "~/config", "get_bank_config"),
    bind("PATCH", "~/config", "update_bank_config", body=BankConfigUpdate),
    bind("DELETE", "~/config", "reset_bank_config"),
    bind("GET", "~/stats", "get_agent_stats", query=StatsQuery),
    bind("GET", "~/stats/memories-timeseries", "get_memories_timeseries", query=TimeseriesQuery),
    bind("GET", "~/aliases", "list_bank_aliases"),
    bind("POST", "~/aliases", "create_bank_alias", body=CreateBankAliasRequest, status=201),
    bind("PATCH", "~/aliases/{alias}", "set_bank_alias_primary", body=SetBankAliasPrimaryRequest),
    bind("DELETE", "~/aliases/{alias}", "delete_bank_alias"),
    bind("GET", "~/export", "export_bank_template"),
    bind("POST", "~/import", "import_bank_template", body=BankTemplateManifest, query=TemplateImportQuery),
)
