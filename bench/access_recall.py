"""What policies cost a recall: the same questions from a user with one policy and one with 1,000, in turn.

Each question is asked by both, one right after the other, in an order that alternates, so that both
meet the same machine.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from facts import question

from client import Client

POLICIES = 1_000
_PAIRS = 400
_ADMIN = "/ext/hindclaw"


def prepare(admin: Client, count: int) -> str:
    """A user with `count` policies that all allow recall on every bank; his key."""
    user = f"policies-{count}"
    _made(admin, f"{_ADMIN}/users", {"id": user, "display_name": user})
    for number in range(count):
        policy = f"{user}-{number:04}"
        statement = {"effect": "allow", "actions": ["bank:recall"], "banks": ["*"], "recall_budget": "mid"}
        document = {"version": "2026-03-24", "statements": [statement]}
        _made(admin, f"{_ADMIN}/policies", {"id": policy, "display_name": policy, "document": document})
        attachment = {"policy_id": policy, "principal_type": "user", "principal_id": user}
        _made(admin, f"{_ADMIN}/policy-attachments", attachment, "PUT")
    return str(_made(admin, f"{_ADMIN}/users/{user}/api-keys", {"description": None})["api_key"])


def _made(admin: Client, path: str, body: Any, method: str = "POST") -> Any:
    reply = admin.call(method, path, body)
    if reply.status not in (200, 201):
        raise SystemExit(f"{method} {path} answered {reply.status}: {reply.body[:300]!r}")
    return reply.json()


def compare(connect: Callable[[str], Client], admin_key: str, path: str) -> dict[str, Any]:
    """Medians of both, and the median of the pairs' differences as a share of a recall.

    `connect` makes a connection with a key; `path` is the recall path of a filled bank.
    """
    admin = connect(admin_key)
    few, many = connect(prepare(admin, 1)), connect(prepare(admin, POLICIES))
    pairs = []
    for number in range(_PAIRS + 10):
        both = {}
        for who in ((few, many), (many, few))[number % 2]:
            # Equal length and words but never the same text: no vector comes from the query cache.
            body = {"query": f"{question(number)} ({number}{'a' if who is few else 'b'})", "budget": "mid"}
            reply = who.call("POST", path, body)
            if reply.status != 200:
                raise SystemExit(f"recall answered {reply.status}: {reply.body[:300]!r}")
            both[who is many] = reply.ms
        if number >= 10:
            pairs.append((both[False], both[True]))
    few_ms, many_ms = (statistics.median(column) for column in zip(*pairs, strict=True))
    difference = statistics.median(b - a for a, b in pairs)
    return {
        "pairs": len(pairs),
        "p50_one_policy_ms": round(few_ms, 2),
        "p50_1000_policies_ms": round(many_ms, 2),
        "overhead_percent": round(100 * difference / few_ms, 1),
    }
