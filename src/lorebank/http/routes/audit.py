"""The audit log: a bank's own rows as Hindsight has them, and the whole server's."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.requests.audit import (
    AuditLogsQuery,
    AuditStatsQuery,
    ServerAuditLogsQuery,
    ServerAuditStatsQuery,
    VerifyAuditRequest,
)

_SERVER = "/v1/lorebank/audit-logs"

BINDINGS = (
    bind("GET", "~/audit-logs", "list_audit_logs", query=AuditLogsQuery),
    bind("GET", "~/audit-logs/stats", "audit_log_stats", query=AuditStatsQuery),
    bind("GET", "~/audit-logs/{log_id}", "get_audit_log"),
    bind("GET", _SERVER, "list_server_audit_logs", query=ServerAuditLogsQuery),
    bind("GET", f"{_SERVER}/stats", "server_audit_log_stats", query=ServerAuditStatsQuery),
    bind("POST", f"{_SERVER}/verify", "verify_audit_log", body=VerifyAuditRequest, status=202),
    bind("GET", f"{_SERVER}/verify/{{task_id}}", "get_audit_verification"),
    bind("GET", f"{_SERVER}/{{log_id}}", "get_server_audit_log"),
)
