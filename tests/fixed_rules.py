"""Rules for tests that are not about rules: `root` and the local owner may do everything, others nothing."""

from __future__ import annotations

from dataclasses import dataclass

from lorebank.access.audit import AuditEvent
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision
from lorebank.ids import BankId


@dataclass(frozen=True, slots=True)
class FixedRules:
    """Decides by name only."""

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        """Allowed, unfiltered, exactly for root."""
        root = principal.kind == "local" or principal.id == "root"
        return Decision(allowed=root, may_reserve=root, may_replace=root)

    def shows(self, principal: Principal, bank: BankId) -> bool:
        """What root may do, root sees."""
        return self.decide(principal, "bank:list", bank).allowed


class Unrecorded:
    """An audit log that drops everything."""

    def record(self, event: AuditEvent, *, durable: bool) -> None:
        """Nothing."""
