"""The audit log as it is read: a bank's rows, the whole server's, numbers, and the check of the chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lorebank.access.actions import on_agents
from lorebank.access.audit import AuditEvent, AuditQuery, AuditRow, Outcome
from lorebank.banks.stats import buckets
from lorebank.clock import Micros, parse_iso, to_iso
from lorebank.errors import NotFound
from lorebank.service.context import AuditLog
from lorebank.service.guard import Call
from lorebank.service.handlers.maintenance import task_json
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.service.requests.audit import ExpectedRow
from lorebank.service.tasks import Progress
from lorebank.storage.ports import Page

VERIFY = "audit-verify"
"""The kind of the task that walks the chain."""
_ENDS: tuple[Outcome, ...] = ("done", "error")
_DECISIONS: tuple[Outcome, ...] = ("allow", "deny", "failure", "unauthenticated")
_MAX_SEQ = 2**62


# one bank


def list_audit_logs(call: Call) -> Wire:
    """AuditLogListResponse: the bank's rows, newest first."""
    wanted = replace(call.params["wanted"], bank=call.grant.bank, on_banks=True)
    return {"bank_id": call.grant.bank, **_listing(call, wanted)}


def audit_log_stats(call: Call) -> Wire:
    """AuditLogStatsResponse: requests in each bucket of the period, by action."""
    wanted = replace(call.params["wanted"], bank=call.grant.bank, on_banks=True)
    return {"bank_id": call.grant.bank, **_stats(call, wanted)}


def get_audit_log(call: Call) -> Wire:
    """AuditLogEntry: one row of the bank."""
    row = _row(call)
    if row is None or row.event.bank != call.grant.bank or on_agents(row.event.action):
        raise NotFound(f"Audit log '{call.params['log_id']}' not found")
    return _entry(call, row)


# the whole server


def list_server_audit_logs(call: Call) -> Wire:
    """All rows that match, newest first."""
    return _listing(call, _by_canonical_bank(call))


def server_audit_log_stats(call: Call) -> Wire:
    """Requests in each bucket of the period, by action, of the whole server."""
    return _stats(call, _by_canonical_bank(call))


def get_server_audit_log(call: Call) -> Wire:
    """One row by its number."""
    row = _row(call)
    if row is None:
        raise NotFound(f"Audit log '{call.params['log_id']}' not found")
    return _entry(call, row)


def verify_audit_log(call: Call) -> Wire:
    """Start walking the chain from the oldest row that is kept."""
    audit, expected = call.context.access.audit, call.request.expect

    def work(progress: Progress) -> Mapping[str, Any]:
        found = audit.verify(progress)
        return {
            "rows": found.rows,
            "head_seq": found.head_seq,
            "head_hash": found.head_hash,
            "problems": [*found.problems, *_unexpected(audit, expected)],
        }

    return task_json(call.context.tasks.start(VERIFY, work))


def get_audit_verification(call: Call) -> Wire:
    """The state of a check of the chain and, when it has ended, what it found."""
    task = call.context.tasks.get(call.params["task_id"])
    if task is None or task.kind != VERIFY:
        return {"operation_id": call.params["task_id"], "status": "not_found"}
    return task_json(task)


def _unexpected(audit: AuditLog, expected: ExpectedRow | None) -> list[str]:
    if expected is None:
        return []
    row = audit.row(expected.seq)
    if row is None:
        return [f"row {expected.seq} is not there: it was trimmed, or the log was cut or replaced"]
    if row.hash != expected.hash:
        return [f"row {expected.seq} has another hash than the expected one: the log was written anew"]
    return []


# rows as the wire has them


def _by_canonical_bank(call: Call) -> AuditQuery:
    wanted: AuditQuery = call.params["wanted"]
    return wanted if wanted.bank is None else replace(wanted, bank=call.context.banks.canonical(wanted.bank))


def _listing(call: Call, wanted: AuditQuery) -> Wire:
    page = Page(call.params["limit"], call.params["offset"])
    found = call.context.access.audit.rows(wanted, page)
    items = [_summary(call, row) for row in found.rows]
    return {"total": found.total, "limit": page.limit, "offset": page.offset, "items": items}


def _row(call: Call) -> AuditRow | None:
    text = call.params["log_id"]
    if not (text.isascii() and text.isdigit()) or int(text) > _MAX_SEQ:
        return None
    return call.context.access.audit.row(int(text))


def _entry(call: Call, row: AuditRow) -> Wire:
    """Neither request nor response is ever kept: they hold content (issue 3, Audit)."""
    return _summary(call, row) | {"request": None, "response": None}


def _summary(call: Call, row: AuditRow) -> Wire:
    event = row.event
    started, ended = _span(event)
    return {
        "id": str(row.seq),
        "action": event.action,
        "transport": event.transport,
        "bank_id": event.bank,
        "started_at": to_iso(started),
        "ended_at": to_iso(ended),
        "duration_ms": round(event.duration_us / 1000),
        "metadata": _metadata(call, row),
    }


def _span(event: AuditEvent) -> tuple[Micros, Micros]:
    """When it began and ended: the row that ends a write is written at its end, all others at the start."""
    if event.outcome in _ENDS:
        return event.at - event.duration_us, event.at
    return event.at, event.at + event.duration_us


def _metadata(call: Call, row: AuditRow) -> Wire:
    """The rest of the event as it was hashed, and its place in the chain: so an export can be checked."""
    told = row.event.to_json()
    for name in ("action", "transport", "bank"):
        del told[name]
    if call.grant.filter is not None and row.event.principal != call.grant.principal.name:
        told["target"] = None  # it may name what the filter hides
    return told | {"seq": row.seq, "previous": row.previous, "hash": row.hash}


def _stats(call: Call, wanted: AuditQuery) -> Wire:
    """A request counts once, whatever became of it: by its decision, not by the row that ends a write."""
    audit, period = call.context.access.audit, call.params["period"]
    width, starts = buckets(period, call.context.clock())
    counts: dict[Micros, dict[str, int]] = {start: {} for start in starts}
    for outcome in _DECISIONS:
        for at, action, count in audit.buckets(replace(wanted, outcome=outcome, start=starts[0]), width):
            bucket = counts.get(parse_iso(at, "bucket"))
            if bucket is not None:
                bucket[action] = bucket.get(action, 0) + count
    return {
        "period": period,
        "trunc": width,
        "start": to_iso(starts[0]),
        "buckets": [
            {"time": to_iso(at), "actions": actions, "total": sum(actions.values())}
            for at, actions in counts.items()
        ],
    }


OPERATIONS = (
    Operation("list_audit_logs", "bank:audit:list", Scope.BANK, list_audit_logs),
    Operation("audit_log_stats", "bank:audit:list", Scope.BANK, audit_log_stats),
    Operation("get_audit_log", "bank:audit:get", Scope.BANK, get_audit_log),
    Operation("list_server_audit_logs", "iam:audit:read", Scope.SERVER, list_server_audit_logs),
    Operation("server_audit_log_stats", "iam:audit:read", Scope.SERVER, server_audit_log_stats),
    Operation("get_server_audit_log", "iam:audit:read", Scope.SERVER, get_server_audit_log),
    Operation("verify_audit_log", "iam:audit:read", Scope.SERVER, verify_audit_log),
    Operation("get_audit_verification", "iam:audit:read", Scope.SERVER, get_audit_verification),
)
