"""Random worlds of users, groups, policies and banks, skewed so that statements meet often."""

from __future__ import annotations

import json
import random
from typing import Any

from naive_evaluator import Request, World

BANKS = ("a", "team", "team::", "team::x", "team::x::y", "*")
PATTERNS = ("*", "*", "*", "a", "team", "team::*", "team::x", "team::x::*", "team*", "::*", "team::x::y")
ACTIONS = (
    "bank:recall",
    "bank:recall",
    "bank:reflect",
    "bank:retain",
    "bank:retain",
    "bank:memories:list",
    "bank:documents:get",
    "bank:operations:list",
    "bank:operations:cancel",
    "bank:stats",
    "bank:list",
    "bank:tags:reserved",
    "bank:mental_models:get",
    "iam:users:read",
    "iam:service_accounts:manage",
    "iam:service_accounts:read",
    "iam:service_account_keys:write",
)
FAMILIES = ("bank:*", "bank:*", "bank:memories:*", "bank:operations:*", "iam:*", "iam:service_accounts:*")
POLICY_IDS = ("p", "P", "p2", "p10", "q", "é")
USERS, GROUPS, ACCOUNTS = ("ann", "ben"), ("g", "h", "_default"), ("bot", "robot")
PROVIDERS, CHANNELS, TOPICS = ("web", "telegram", "slack"), ("telegram", "c1"), ("1", "2")
TAG_GROUPS: tuple[dict[str, Any], ...] = (
    {"tags": ["team:red"], "match": "any"},
    {"not": {"tags": ["secret"], "match": "any_strict"}},
    {"or": [{"tags": ["x"]}, {"tags": ["y"]}]},
)


def world(seed: int) -> World:
    """The world of that seed."""
    rng = random.Random(seed)
    policies = {name: _document(rng) for name in rng.sample(POLICY_IDS, rng.randint(2, len(POLICY_IDS)))}
    ids = list(policies)
    accounts = {
        name: {"owner": rng.choice(USERS), "scoping_policy_id": rng.choice([None, *ids, *ids])}
        for name in ACCOUNTS
    }
    return {
        "policies": policies,
        "attachments": _attachments(rng, ids),
        "members": [{"group_id": g, "user_id": u} for g in GROUPS for u in USERS if rng.random() < 0.6],
        "accounts": accounts,
        "bank_policies": {bank: _bank_policy(rng) for bank in BANKS if rng.random() < 0.6},
    }


def request(rng: random.Random) -> Request:
    """A question to any world."""
    kind = rng.choice(("user", "user", "service_account", "service_account", "unmapped"))
    names = {"user": USERS, "service_account": ACCOUNTS, "unmapped": ("_unmapped",)}[kind]
    action = rng.choice(ACTIONS)
    server = action.startswith("iam:") or rng.random() < 0.05
    talking = kind == "unmapped" or rng.random() < 0.6
    return {
        "kind": kind,
        "id": rng.choice(names),
        "action": action,
        "bank": None if server else rng.choice(BANKS),
        "provider": rng.choice((None, *PROVIDERS)) if talking else None,
        "channel": rng.choice((None, *CHANNELS)) if talking else None,
        "topic": rng.choice((None, *TOPICS)) if talking else None,
        "sender": f"{rng.choice(PROVIDERS)}:7:{rng.randint(0, 1)}" if talking else None,
    }


def _attachments(rng: random.Random, ids: list[str]) -> list[dict[str, Any]]:
    holders = [("user", one) for one in USERS] + [("group", one) for one in GROUPS]
    return [
        {
            "policy_id": policy,
            "principal_type": kind,
            "principal_id": holder,
            "priority": rng.choice((0, 0, 0, 1, 10, -1)),
        }
        for kind, holder in [*holders, *(("service_account", one) for one in ACCOUNTS)]
        for policy in ids
        if rng.random() < (0.15 if kind == "service_account" else 0.4)
    ]


def _document(rng: random.Random) -> dict[str, Any]:
    return {"version": "2026-03-24", "statements": [_statement(rng) for _ in range(rng.randint(0, 4))]}


def _statement(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {
        "effect": "deny" if rng.random() < 0.12 else "allow",
        "actions": [
            rng.choice(ACTIONS if rng.random() < 0.65 else FAMILIES) for _ in range(rng.randint(1, 4))
        ],
        "banks" if rng.random() < 0.9 else "resources": [
            rng.choice(PATTERNS) for _ in range(rng.randint(1, 3))
        ],
    }
    if rng.random() < 0.02:
        made[rng.choice(("actions", "banks"))] = []
        made.pop("resources", None)
        made.setdefault("banks", [])
    for name, value in _parameters(rng).items():
        if rng.random() < 0.3:
            made[name] = value
    return made


def _parameters(rng: random.Random) -> dict[str, Any]:
    groups: Any = rng.sample(TAG_GROUPS, rng.randint(0, 2))
    return {
        "recall_budget": rng.choice(("low", "mid", "high", None)),
        "recall_max_tokens": rng.choice((1, 256, 1024, None)),
        "recall_tag_groups": json.dumps(groups) if rng.random() < 0.2 else groups,
        "retain_roles": rng.sample(("user", "assistant", "system", "tool"), rng.randint(0, 3)),
        "retain_tags": rng.sample(("role:x", "role:y", "Ä"), rng.randint(0, 2)),
        "retain_every_n_turns": rng.choice((1, 2, 5, None)),
        "retain_strategy": rng.choice(("s1", "s2", "s3", None)),
        "llm_model": rng.choice(("m1", "m2", None)),
        "llm_provider": rng.choice(("v1", "v2", None)),
        "exclude_providers": rng.sample(PROVIDERS, 1) if rng.random() < 0.4 else [],
    }


def _bank_policy(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"version": "2026-03-24"}
    if rng.random() < 0.5:
        made["default_strategy"] = rng.choice(("d1", "d2", None))
    if rng.random() < 0.7:
        made["strategy_overrides"] = [
            {**_scope(rng), "strategy": rng.choice(("o1", "o2", "o3"))} for _ in range(rng.randint(0, 4))
        ]
    if rng.random() < 0.8:
        made["public_access"] = {
            "default": _rule(rng) if rng.random() < 0.5 else None,
            "overrides": [{**_scope(rng), **_rule(rng)} for _ in range(rng.randint(0, 4))],
        }
    return made


def _scope(rng: random.Random) -> dict[str, Any]:
    scope = rng.choice(("provider", "channel", "topic"))
    values = {"provider": PROVIDERS, "channel": CHANNELS, "topic": TOPICS}[scope]
    return {"scope": scope, "value": rng.choice(values)}


def _rule(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {"actions": rng.sample(ACTIONS[:10], rng.randint(0, 6))}
    if rng.random() < 0.5:
        made["recall_budget"] = rng.choice(("low", "mid", "high"))
    if rng.random() < 0.5:
        made["recall_max_tokens"] = rng.choice((64, 512, 2048))
    return made
