"""Health, version and metrics."""

from __future__ import annotations

import time
from typing import Any

from lorebank import __version__
from lorebank.errors import LorebankError
from lorebank.service.answers import Status, Text
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope

API_VERSION = "1.1.0"
"""The version of the wire contract; clients compare it to decide what they may ask for."""
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


def health(call: Call) -> dict[str, Any] | Status:
    """Whether the registry answers, and how long that took."""
    began = time.perf_counter()
    try:
        call.context.banks.canonical("health")
    except LorebankError:
        return Status(503, {"status": "unhealthy", "database": "unavailable"})
    took = round((time.perf_counter() - began) * 1000, 3)
    return {"status": "healthy", "database": "connected", "db_acquire_ms": took}


def get_readiness(call: Call) -> dict[str, Any] | Status:
    """Whether requests can be answered: the registry is open. Says too whether the embedder is loaded:
    until it is, recall answers by keyword."""
    answer = health(call)
    if isinstance(answer, Status):
        return Status(503, {"status": "not_ready"})
    return {"status": "ready", "models": {"embedder": call.context.embedders.target.status.state}}


def get_liveness(call: Call) -> dict[str, Any]:
    """That the process runs, and since when; touches nothing else."""
    up = (call.context.clock() - call.context.started_at) / 1_000_000
    return {"status": "alive", "version": __version__, "uptime_seconds": max(0.0, round(up, 3))}


def get_version(call: Call) -> dict[str, Any]:
    """The wire contract's version, and which of its features are there."""
    keeps_text = call.context.settings.bank_defaults.get("store_document_text", True) is not False
    return {
        "api_version": API_VERSION,
        "features": {
            "observations": False,
            "mcp": False,
            "worker": True,
            "bank_config_api": True,
            "bank_llm_health": False,
            "file_upload_api": True,
            "document_export_api": True,
            "document_import_api": True,
            "audit_log": True,
            "llm_trace": False,
            "store_document_text": keeps_text,
        },
        "server": {"name": "lorebank", "version": __version__},
    }


def metrics(call: Call) -> Text:
    """All counters in the Prometheus text format."""
    return Text(call.context.metrics.render(), PROMETHEUS)


OPERATIONS = (
    Operation("health", "", Scope.PUBLIC, health),
    Operation("get_readiness", "", Scope.PUBLIC, get_readiness),
    Operation("get_liveness", "", Scope.PUBLIC, get_liveness),
    Operation("get_version", "", Scope.PUBLIC, get_version),
    Operation("metrics", "iam:server:metrics", Scope.SERVER, metrics),
)
