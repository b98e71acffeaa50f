"""The server itself: health, version, metrics, and the download of finished files."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.addresses import bank_of_file_params

BINDINGS = (
    bind("GET", "/health", "health"),
    bind("GET", "/health/ready", "get_readiness"),
    bind("GET", "/health/live", "get_liveness"),
    bind("GET", "/version", "get_version"),
    bind("GET", "/v1/version", "get_version"),
    bind("GET", "/metrics", "metrics"),
    bind("GET", "/v1/bank-template-schema", "get_bank_template_schema"),
    bind("GET", "/v1/default/files/download/{key:path}", "download_file", bank_of=bank_of_file_params),
)
