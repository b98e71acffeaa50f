"""What is written down of each decision and each write: a value, a port, and the chain that ties rows.

A row never holds the content of a memory, a question or a policy (issue 3, Audit).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lorebank.access.principal import Principal
from lorebank.clock import Micros

Outcome = Literal["allow", "deny", "failure", "unauthenticated", "done", "error", "note"]
"""allow, deny and failure are decisions; unauthenticated is a refused credential; done and error end a
write that was allowed before; note is what the audit log says of itself."""
Transport = Literal["http", "cli", "mcp", "job", "server"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from: its id (an operation's id for jobs) and its way in."""

    request_id: str = ""
    transport: Transport = "server"


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One row before it is in the chain.

    `principal` is `Principal.name`; `operation` the name in the operations table; `target` an
    object inside the bank, by id; `determining` the statements that decided, as `policy#index`;
    `reason` a short sentence on a refusal; `status` the HTTP status where one is known;
    `duration_us` what the decision took, or the whole request where it ended.
    """

    at: Micros
    principal: str
    action: str
    outcome: Outcome
    client: str | None = None
    operation: str = ""
    bank: str | None = None
    target: str | None = None
    determining: tuple[str, ...] = ()
    reason: str = ""
    request_id: str = ""
    transport: Transport = "server"
    status: int | None = None
    duration_us: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The form that is hashed and stored."""
        made: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        made["determining"] = list(self.determining)
        made["extra"] = dict(self.extra)
        return made


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A stored event with its place in the chain, from 1."""

    seq: int
    event: AuditEvent
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which rows to list; None: no restriction. `start` is inclusive, `end` exclusive. `on_banks` leaves out
    what is about agents: rows name an agent as `agent:<id>`, and a bank may have that name too."""

    bank: str | None = None
    principal: str | None = None
    action: str | None = None
    outcome: str | None = None
    transport: str | None = None
    request_id: str | None = None
    operation: str | None = None
    start: Micros | None = None
    end: Micros | None = None
    on_banks: bool = False


@dataclass(frozen=True, slots=True)
class Verified:
    """What a walk along the audit chain found: rows seen, the newest row, and what does not fit."""

    rows: int
    head_seq: int
    head_hash: str
    problems: tuple[str, ...]


GENESIS = "0" * 64
"""What the first row ever has for its `previous`."""


# Made once: json.dumps would make an encoder for every row.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(event: AuditEvent) -> str:
    """The one JSON text of an event: what is hashed is what is stored."""
    return _CANONICAL.encode(event.to_json())


def link(previous: str, seq: int, text: str) -> str:
    """The hash of the row with this text: SHA-256 over the hash before it, its number and the text."""
    return hashlib.sha256(f"{previous}\n{seq}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


class AuditSink(Protocol):
    """Where events go. Append-only."""

    def record(self, event: AuditEvent, *, durable: bool) -> None:
        """Append; on return the row survives the death of the process, and with `durable` of the
        machine. `Unavailable` when it cannot be written: the caller must then refuse (issue 3)."""


def event_of(
    principal: Principal, action: str, outcome: Outcome, at: Micros, *, origin: Origin, **more: Any
) -> AuditEvent:
    """The event of a principal's request."""
    return AuditEvent(
        at=at,
        principal=principal.name,
        action=action,
        outcome=outcome,
        client=principal.circumstances.client,
        request_id=origin.request_id,
        transport=origin.transport,
        **more,
    )
