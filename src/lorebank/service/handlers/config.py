"""Operations on a bank's configuration and its template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorebank.banks import banks
from lorebank.banks import config as configs
from lorebank.banks.config_keys import KEYS, Key
from lorebank.errors import BadRequest, NeedsLLM, NotFound
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.storage.rows import BankRow

TEMPLATE_VERSION = "1"
_JSON_TYPES: Mapping[str, Any] = {
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "number": {"type": "number"},
    "text": {"type": "string"},
    "choice": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
    "objects": {"type": "array", "items": {"type": "object"}},
    "list": {"type": "array"},
    "scopes": {"type": ["string", "array"]},
}


def get_bank_config(call: Call) -> Wire:
    """BankConfigResponse: every settable key in force, and the bank's own overrides."""
    return _config(call, call.handle.bank)


def _config(call: Call, row: BankRow) -> Wire:
    config = banks.settings_of(row, call.context.settings)
    return {"bank_id": row.bank_id, "config": configs.as_dict(config), "overrides": dict(row.config)}


def update_bank_config(call: Call) -> Wire:
    """BankConfigResponse after the updates; makes the bank when it is missing."""
    return _config(call, _apply(call, call.request.updates))


def _apply(call: Call, updates: Mapping[str, Any]) -> BankRow:
    context = call.context
    try:
        banks.row_of(context.banks, call.grant)
    except NotFound:
        # Settings of a bank do not imply making one.
        context.resolver.resolve(call.grant.principal, "bank:create", call.grant.bank)
    return banks.create_or_update(context.banks, call.grant, context.settings, None, updates, context.clock())


def reset_bank_config(call: Call) -> Wire:
    """BankConfigResponse without overrides."""
    context = call.context
    return _config(call, banks.reset_config(context.banks, call.grant, context.settings, context.clock()))


# templates


def export_bank_template(call: Call) -> Wire:
    """BankTemplateManifest of what the bank overrides; unset keys are null, as the wire has them."""
    overrides = call.handle.bank.config
    bank = {name: overrides.get(name) for name in KEYS}
    return {"version": TEMPLATE_VERSION, "bank": bank, "mental_models": None, "directives": None}


def import_bank_template(call: Call) -> Wire:
    """BankTemplateImportResponse; with `dry_run` everything is checked and nothing is changed."""
    manifest, context = call.request, call.context
    _check_manifest(manifest)
    settings = {k: v for k, v in (manifest.bank or {}).items() if v is not None}
    dry_run = call.params["dry_run"]
    if dry_run:
        banks.checked(settings, context.settings)
    else:
        _apply(call, settings)
    return {
        "bank_id": call.grant.bank,
        "config_applied": bool(settings),
        "mental_models_created": [],
        "mental_models_updated": [],
        "directives_created": [],
        "directives_updated": [],
        "operation_ids": [],
        "dry_run": dry_run,
    }


def _check_manifest(manifest: Any) -> None:
    if manifest.version.split(".")[0] != TEMPLATE_VERSION:
        raise BadRequest(f"version must be {TEMPLATE_VERSION}; this server knows no other template format")
    for name in ("mental_models", "directives"):
        if getattr(manifest, name):
            raise NeedsLLM(
                f"{name} need a language model and come with the Reasoning release; "
                "import the template without them"
            )


def get_bank_template_schema(call: Call) -> Wire:
    """The JSON schema of a template."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "BankTemplateManifest",
        "type": "object",
        "required": ["version"],
        "properties": {
            "version": {"type": "string", "const": TEMPLATE_VERSION},
            "bank": {"type": ["object", "null"], "properties": {k.name: _schema(k) for k in KEYS.values()}},
            "mental_models": {"type": ["array", "null"], "items": {"type": "object"}},
            "directives": {"type": ["array", "null"], "items": {"type": "object"}},
        },
    }


def _schema(key: Key) -> Wire:
    shape: Wire = {**_JSON_TYPES[key.kind], "description": key.meaning}
    if key.choices:
        shape["enum"] = list(key.choices)
    if key.kind in ("int", "number"):
        shape |= {"minimum": key.low, "maximum": key.high}
    return {"anyOf": [shape, {"type": "null"}]}


OPERATIONS = (
    Operation("get_bank_config", "bank:config:read", Scope.BANK, get_bank_config),
    Operation("update_bank_config", "bank:config:update", Scope.BANK_NAME, update_bank_config),
    Operation("reset_bank_config", "bank:config:update", Scope.BANK, reset_bank_config),
    Operation("export_bank_template", "bank:config:read", Scope.BANK, export_bank_template),
    Operation("import_bank_template", "bank:config:update", Scope.BANK_NAME, import_bank_template),
    Operation("get_bank_template_schema", "bank:config:read", Scope.SERVER, get_bank_template_schema),
)
