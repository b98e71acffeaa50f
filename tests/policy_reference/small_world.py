"""A small world for tests of the rules: ann with one policy, and her account bot with one scope or none."""

from __future__ import annotations

from typing import Any

from naive_evaluator import World
from raw_world import access_data, rules_over

from lorebank.access.principal import UNMAPPED, Circumstances, Principal
from lorebank.access.rules import PolicyRules
from lorebank.ids import BankId

ANN, BOT = Principal("user", "ann"), Principal("service_account", "bot")
A, B = BankId("a"), BankId("b")


def allow(*actions: str, banks: tuple[str, ...] = ("*",), **parameters: Any) -> dict[str, Any]:
    """An allow statement."""
    return {"effect": "allow", "actions": [*actions], "banks": [*banks], **parameters}


def deny(*actions: str, banks: tuple[str, ...] = ("*",)) -> dict[str, Any]:
    """A deny statement."""
    return {"effect": "deny", "actions": [*actions], "banks": [*banks]}


def world(ann: list[dict[str, Any]], scope: list[dict[str, Any]] | None = None, **more: Any) -> World:
    """ann with one policy, and her account bot with one scope or none."""
    policies = {"ann": ann} | ({} if scope is None else {"scope": scope})
    made: World = {
        "policies": {id: {"version": "2026-03-24", "statements": each} for id, each in policies.items()},
        "attachments": [{"policy_id": "ann", "principal_type": "user", "principal_id": "ann", "priority": 0}],
        "members": [],
        "accounts": {"bot": {"owner": "ann", "scoping_policy_id": None if scope is None else "scope"}},
        "bank_policies": {},
    }
    return made | more


def rules(ann: list[dict[str, Any]], scope: list[dict[str, Any]] | None = None, **more: Any) -> PolicyRules:
    """The real rules over that world."""
    return rules_over(access_data(world(ann, scope, **more)))[0]


def unmapped(**claims: str) -> Principal:
    """A gateway's sender without a user."""
    return Principal("unmapped", UNMAPPED, Circumstances(**claims), by_token=True)
