"""Rules that change while a request runs."""

from __future__ import annotations

from typing import Any

from fixed_rules import FixedRules
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision
from lorebank.banks.transfer.keys import file_key
from lorebank.ids import BankId
from lorebank.tags import Leaf

FILE = f"/v1/default/files/download/{file_key('team', 'e.zip')}"
GONE = Decision(allowed=False, reason="the key was revoked", credential_gone=True)
DENIED = Decision(allowed=False)
NARROWED = Decision(allowed=True, filter=Leaf(("public",)))


class ChangingRules:
    """Root may do everything until `now` says something else."""

    now: Decision | None = None

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        return self.now or FixedRules().decide(principal, action, bank)

    def shows(self, principal: Principal, bank: BankId) -> bool:
        return self.decide(principal, "bank:list", bank).allowed


def change(stage: Any, decision: Decision) -> None:
    """As a change does it: first it holds, then the epoch moves."""
    stage.rules.now = decision
    stage.epoch.advance()
