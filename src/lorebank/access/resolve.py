"""The only maker of grants: (principal, action, target) -> Grant, or a refusal; and each is written down.

The rules themselves are a port (`access.rules` is the policy engine behind it).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from lorebank import clock
from lorebank.access.actions import LIST_BANKS, OWN_RIGHTS, writes
from lorebank.access.audit import AuditEvent, AuditSink, Origin, event_of
from lorebank.access.grant import _SEAL, Grant, Ticket
from lorebank.access.policy.values import UNSET, Parameters
from lorebank.access.principal import Principal
from lorebank.errors import Forbidden, LorebankError, Unauthenticated, Unavailable
from lorebank.ids import BankId
from lorebank.tags import TagFilter


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say, with all that an allowed action carries (see `Grant`).

    `reason` says why not, for the audit log and for explanations; `denied` that a statement denies it,
    where otherwise none allows it. `failure` tells that no decision
    could be made (a broken policy, an unknown action): that denies too, as 503. `credential_gone`
    tells that the key or account with which the caller came is not valid any more.
    """

    allowed: bool
    filter: TagFilter | None = None
    parameters: Parameters = UNSET
    own_operations: bool = False
    user: str | None = None
    auto_tags: tuple[str, ...] = ()
    may_reserve: bool = False
    may_replace: bool = False
    determining: tuple[str, ...] = ()
    reason: str = ""
    denied: bool = False
    failure: bool = False
    credential_gone: bool = False


class Rules(Protocol):
    """The rule set. Neither method raises: what cannot be decided is denied."""

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        """The decision for this principal, action and bank (None: the server itself)."""

    def shows(self, principal: Principal, bank: BankId) -> bool:
        """Whether the bank is in the principal's list of banks."""


class Epoch:
    """The access epoch: raised by every change of users, keys, policies or assignments."""

    def __init__(self, start: int = 0) -> None:
        self._lock = threading.Lock()
        self._value = start

    @property
    def value(self) -> int:
        """The current epoch."""
        return self._value

    def advance(self) -> int:
        """Raise the epoch by one; grants decided before are re-resolved by their handles."""
        with self._lock:
            self._value += 1
            return self._value


_NOWHERE = Origin()
_ORIGIN: ContextVar[Origin] = ContextVar("lorebank_origin", default=_NOWHERE)
"""Only for audit rows: whence the request came. It never takes part in a decision."""


@contextmanager
def coming_from(origin: Origin) -> Iterator[None]:
    """Decisions inside the block are audited as of this request."""
    token = _ORIGIN.set(origin)
    try:
        yield
    finally:
        _ORIGIN.reset(token)


def origin_now() -> Origin:
    """The request that is being decided on, for its audit rows."""
    return _ORIGIN.get()


@dataclass(frozen=True, slots=True)
class Resolver:
    """Turns principals into grants with one rule set and one epoch, and has each decision recorded."""

    rules: Rules
    epoch: Epoch
    audit: AuditSink

    def resolve(
        self,
        principal: Principal,
        action: str,
        bank: BankId | None = None,
        *,
        operation: str = "",
        target: str | None = None,
    ) -> Grant:
        """The grant, recorded. `Forbidden` with the same sentence whether or not the bank exists;
        `Unavailable` when no decision could be made or recorded."""
        grant, event = self.ask(principal, action, bank, operation=operation, target=target)
        self.audit.record(event, durable=writes(action))
        return grant

    def ask(
        self,
        principal: Principal,
        action: str,
        bank: BankId | None = None,
        *,
        operation: str = "",
        target: str | None = None,
    ) -> tuple[Grant, AuditEvent]:
        """The same, with the row of an allowed request left to the caller, who must record it before
        anything is answered or changed. Only `service.guard` uses it; refusals are recorded here."""
        epoch = self.epoch.value
        decision, event = self.decided(principal, action, bank, operation=operation, target=target)
        return _grant(principal, action, bank, epoch, decision), event

    def decided(
        self,
        principal: Principal,
        action: str,
        bank: BankId | None = None,
        *,
        operation: str = "",
        target: str | None = None,
    ) -> tuple[Decision, AuditEvent]:
        """What the rules say, and its row, for makers of grants. A refusal is recorded and raised."""
        began = time.perf_counter_ns()
        decision = self.rules.decide(principal, action, bank)
        event = event_of(
            principal,
            action,
            "failure" if decision.failure else "allow" if decision.allowed else "deny",
            clock.now(),
            origin=origin_now(),
            operation=operation,
            bank=bank,
            target=target,
            determining=decision.determining,
            reason=decision.reason,
            duration_us=(time.perf_counter_ns() - began) // 1000,
        )
        if not decision.allowed:
            self.audit.record(event, durable=False)
            raise refusal(action, decision)
        return decision, event

    def ask_listing(self, principal: Principal, *, operation: str = "") -> tuple[Grant, AuditEvent]:
        """`ask` for the list of banks: open to every caller with a valid credential, because each bank
        of the list is decided by itself (`shows`)."""
        epoch = self.epoch.value
        own = self.rules.decide(principal, OWN_RIGHTS, None)
        event = event_of(
            principal,
            LIST_BANKS,
            "allow" if own.allowed else "deny",
            clock.now(),
            origin=origin_now(),
            operation=operation,
            reason=own.reason,
        )
        if not own.allowed:
            self.audit.record(event, durable=False)
            raise refusal(LIST_BANKS, own)
        return _grant(principal, LIST_BANKS, None, epoch, Decision(allowed=True, user=own.user)), event

    def shows(self, grant: Grant, bank: BankId) -> bool:
        """Whether the holder of a listing grant sees the bank."""
        return grant.ticket is not None or self.rules.shows(grant.principal, bank)

    def allowed(self, principal: Principal, action: str, bank: BankId | None) -> bool:
        """Whether it would be granted. A question, not an access: nothing is recorded."""
        return self.rules.decide(principal, action, bank).allowed

    def refuse_denied(self, principal: Principal, action: str, bank: BankId) -> None:
        """`Forbidden`, recorded, where a statement denies it; for what another right includes otherwise."""
        if self.rules.decide(principal, action, bank).denied:
            self.resolve(principal, action, bank)

    def within_list(self, listing: Grant, action: str, bank: BankId) -> Grant | None:
        """The holder's grant on one bank of a list, None when it is denied. Not recorded: the list's own
        row stands for all its banks."""
        epoch = self.epoch.value
        decision = self.rules.decide(listing.principal, action, bank)
        return _grant(listing.principal, action, bank, epoch, decision) if decision.allowed else None

    def current(self, grant: Grant) -> Grant:
        """`grant` itself while its epoch holds, otherwise the grant decided anew; raises as `resolve`."""
        if grant.ticket is not None or grant.epoch == self.epoch.value:
            return grant
        if grant.action == LIST_BANKS and grant.bank is None:
            again, event = self.ask_listing(grant.principal)
            self.audit.record(event, durable=False)
            return again
        again, event = self.ask(grant.principal, grant.action, grant.bank)
        self.audit.record(event, durable=False)
        return again

    def ticket(self, purpose: Ticket, bank: BankId | None = None) -> Grant:
        """A narrow grant for work that has no caller; `purpose` names the one thing it is for."""
        return Grant(
            principal=Principal(kind="local", id=f"ticket:{purpose.value}"),
            action=f"ticket:{purpose.value}",
            bank=bank,
            filter=None,
            epoch=self.epoch.value,
            ticket=purpose,
            seal=_SEAL,
        )


def _grant(principal: Principal, action: str, bank: BankId | None, epoch: int, decision: Decision) -> Grant:
    return Grant(
        principal=principal,
        action=action,
        bank=bank,
        filter=decision.filter,
        epoch=epoch,
        parameters=decision.parameters,
        own_operations=decision.own_operations,
        user=decision.user,
        auto_tags=decision.auto_tags,
        may_reserve=decision.may_reserve,
        may_replace=decision.may_replace,
        seal=_SEAL,
    )


def refusal(action: str, decision: Decision) -> LorebankError:
    """What a refused caller is told: the same whether or not the target exists."""
    if decision.failure:
        return Unavailable(f"{action} could not be decided and is denied; the audit log says why")
    if decision.credential_gone:
        return Unauthenticated("the credential is not valid any more")
    return Forbidden(f"{action} denied")
