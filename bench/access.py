"""How long a decision takes for a user with a thousand policies: cold, uncached and remembered."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from lorebank.access.actions import RECALL
from lorebank.access.directory import AccessData, AccessStore, Attachment, Policy, User
from lorebank.access.principal import Principal
from lorebank.access.rules import PolicyRules
from lorebank.ids import BankId

_POLICIES = 1000
_BANKS = 500
_REPEATS = 15
_HOLDER = Principal("user", "ada")
Note = Callable[[str, Any], None]


@dataclass(slots=True)
class _Held:
    """A directory that only has a snapshot."""

    data: AccessData


def decisions(note: Note) -> None:
    """Every figure, in milliseconds; the mark is 1 ms."""
    for where, bank_of in (("all on *", lambda _: "*"), ("each on its bank", lambda n: f"bank-{n}")):
        _measured(f"decision, {_POLICIES} policies {where}", _directory(bank_of), note)


def _measured(name: str, data: AccessData, note: Note) -> None:
    store = _Held(data)
    rules = PolicyRules(cast(AccessStore, store), root="root")
    note(f"{name}: first after start, ms", round(_decide(rules, 0), 2))
    others, own = [], []
    for number in range(_REPEATS):
        # A change that is not about the holder, then one of his policies: nothing decided before holds.
        store.data = replace(
            store.data, epoch=store.data.epoch + 1, users={**data.users, "eve": _user("eve")}
        )
        others.append(_decide(rules, number))
        changed = _policy(number, "*", tokens=5000 + number)
        store.data = replace(store.data, policies={**store.data.policies, changed.id: changed})
        own.append(_decide(rules, number))
    note(f"{name}: first after another's change, ms", _spread(others))
    note(f"{name}: first after his policy changed, ms", _spread(own))
    note(f"{name}: another bank each time, ms", _spread([_decide(rules, n) for n in range(50, _BANKS)]))
    note(f"{name}: the same again, ms", _spread([_decide(rules, 60) for _ in range(5000)]))


def _decide(rules: PolicyRules, number: int) -> float:
    bank = BankId(f"bank-{number}")
    began = time.perf_counter()
    decision = rules.decide(_HOLDER, RECALL, bank)
    spent = (time.perf_counter() - began) * 1000
    if not decision.allowed:
        raise SystemExit(f"the benchmark's holder was refused: {decision.reason}")
    return spent


def _directory(bank_of: Callable[[int], str]) -> AccessData:
    policies = [_policy(number, bank_of(number)) for number in range(_POLICIES)]
    attached = tuple(
        Attachment(one.id, "user", _HOLDER.id, number % 5) for number, one in enumerate(policies)
    )
    return AccessData(
        epoch=1,
        users={_HOLDER.id: _user(_HOLDER.id)},
        policies={one.id: one for one in policies},
        attachments={("user", _HOLDER.id): attached},
    )


def _user(name: str) -> User:
    return User(name, name.title())


def _policy(number: int, bank: str, tokens: int = 1024) -> Policy:
    statement = {
        "effect": "allow",
        "actions": ["bank:recall", "bank:reflect", "bank:retain"],
        "banks": [bank],
        "recall_budget": ("low", "mid", "high")[number % 3],
        "recall_max_tokens": tokens + number,
        "recall_tag_groups": [{"not": {"tags": [f"secret:{number % 4}"]}}],
        "retain_tags": [f"role:{number % 7}"],
        "llm_model": f"model-{number % 3}",
    }
    text = json.dumps({"version": "2026-03-24", "statements": [statement]})
    return Policy(f"policy-{number:04}", f"Policy {number}", text)


def _spread(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{ordered[len(ordered) // 2]:.4f} / {ordered[int(0.95 * (len(ordered) - 1))]:.4f}"


if __name__ == "__main__":
    decisions(lambda name, value: print(name, value))
