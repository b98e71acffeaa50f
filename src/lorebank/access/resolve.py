"""The only maker of grants: (principal, action, target) -> Grant, or a refusal.

The rules themselves are a port. Today's rule set is fixed (`FixedRules`: root may do everything,
nobody else anything); the policy engine replaces it behind the same port.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lorebank.access.grant import _SEAL, Grant, Ticket
from lorebank.access.principal import Principal
from lorebank.errors import Forbidden
from lorebank.ids import BankId
from lorebank.tags import TagFilter


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say: allowed or not, with the filter and parameters of an allowed action."""

    allowed: bool
    filter: TagFilter | None
    parameters: Mapping[str, Any]


class Rules(Protocol):
    """The rule set. `decide` never raises: what it cannot decide it denies."""

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        """The decision for this principal, action and bank (None: the server itself)."""


@dataclass(frozen=True, slots=True)
class FixedRules:
    """Root may do everything; nobody else may do anything."""

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        """Allowed, unfiltered, exactly for root."""
        return Decision(allowed=principal.root, filter=None, parameters={})


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


class Resolver:
    """Turns principals into grants with one rule set and one epoch."""

    def __init__(self, rules: Rules, epoch: Epoch) -> None:
        self._rules = rules
        self._epoch = epoch

    def resolve(self, principal: Principal, action: str, bank: BankId | None = None) -> Grant:
        """The grant, or `Forbidden` with the same sentence whether or not the bank exists."""
        epoch = self._epoch.value
        decision = self._rules.decide(principal, action, bank)
        if not decision.allowed:
            raise Forbidden(f"{action} denied")
        return Grant(
            principal=principal,
            action=action,
            bank=bank,
            filter=decision.filter,
            parameters=decision.parameters,
            epoch=epoch,
            seal=_SEAL,
        )

    def current(self, grant: Grant) -> Grant:
        """`grant` itself while its epoch holds, otherwise the grant decided anew; may raise `Forbidden`."""
        if grant.ticket is not None or grant.epoch == self._epoch.value:
            return grant
        return self.resolve(grant.principal, grant.action, grant.bank)

    def ticket(self, purpose: Ticket, bank: BankId | None = None) -> Grant:
        """A narrow grant for work that has no caller; `purpose` names the one thing it is for."""
        return Grant(
            principal=Principal(kind="local", id=f"ticket:{purpose.value}"),
            action=f"ticket:{purpose.value}",
            bank=bank,
            filter=None,
            epoch=self._epoch.value,
            ticket=purpose,
            seal=_SEAL,
        )
