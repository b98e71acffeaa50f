"""Parameters and bodies of the audit log's operations."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from lorebank.access.audit import AuditQuery, Outcome, Transport
from lorebank.clock import to_micros
from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.fields import Offset
from lorebank.service.requests.queries import Between, OptionalId, Query, Text

MAX_ROWS = 500
"""Rows in one page (specs, the audit log's parameters)."""
Rows = Annotated[int, Field(ge=1, le=MAX_ROWS)]
Period = Literal["1h", "12h", "1d", "7d", "30d", "90d"]


def _blank_is_none(value: Any) -> Any:
    return None if value == "" else value


def _whole_name(value: str | None) -> str | None:
    """Clients of the wire contract name operations on a bank without the part: `recall`, `retain`."""
    return value if not value or ":" in value else f"bank:{value}"


class AuditLogsQuery(Between):
    """Which rows of one bank to list, newest first. `principal`, `outcome`, `request_id` and `operation` are
    ours."""

    action: Text = None
    transport: Text = None
    principal: Text = None
    outcome: Annotated[Outcome | None, BeforeValidator(_blank_is_none)] = None
    request_id: Text = None
    operation: Text = None
    limit: Rows = 50
    offset: Offset = 0

    @property
    def wanted(self) -> AuditQuery:
        """The same as a question to the audit log; both ends of the range are included."""
        return AuditQuery(
            principal=self.principal or None,
            action=_whole_name(self.action),
            outcome=self.outcome,
            transport=self.transport or None,
            request_id=self.request_id or None,
            operation=self.operation or None,
            start=None if self.start_date is None else to_micros(self.start_date),
            end=None if self.end_date is None else to_micros(self.end_date) + 1,
        )

    def params(self) -> dict[str, Any]:
        """Wire name -> value, and `wanted`."""
        return super().params() | {"wanted": self.wanted}


class AuditStatsQuery(Query):
    """Which span of time to count, and which action."""

    action: Text = None
    period: Period = "7d"

    @property
    def wanted(self) -> AuditQuery:
        """The same as a question to the audit log, without a range."""
        return AuditQuery(action=_whole_name(self.action))

    def params(self) -> dict[str, Any]:
        """Wire name -> value, and `wanted`."""
        return super().params() | {"wanted": self.wanted}


class ServerAuditLogsQuery(AuditLogsQuery):
    """Which rows of the whole server to list."""

    transport: Annotated[Transport | None, BeforeValidator(_blank_is_none)] = None
    bank: OptionalId = None

    @property
    def wanted(self) -> AuditQuery:
        """The same as a question to the audit log."""
        return replace(super().wanted, bank=self.bank)


class ServerAuditStatsQuery(AuditStatsQuery):
    """Which span of time to count on the whole server, and whose rows."""

    principal: Text = None
    bank: OptionalId = None

    @property
    def wanted(self) -> AuditQuery:
        """The same as a question to the audit log, without a range."""
        return AuditQuery(bank=self.bank, principal=self.principal or None, action=_whole_name(self.action))


class ExpectedRow(RequestModel):
    """A row that was noted down elsewhere: its number and its hash."""

    seq: Annotated[int, Field(ge=1, le=2**62)]
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class VerifyAuditRequest(RequestModel):
    """What the chain must hold besides fitting together; null: nothing."""

    expect: ExpectedRow | None = None
