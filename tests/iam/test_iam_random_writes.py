"""Whatever a narrowed account writes: nobody may afterwards what neither he nor the account might before.

The check asks the rules in force for single decisions; it shares nothing with the comparison of policies
that refuses the writes.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from iam_server import VERSION, Server, allow, deny, document, path

from lorebank.access.principal import NOWHERE, Circumstances, Principal
from lorebank.ids import BankId

ACTIONS = (
    "bank:recall",
    "bank:retain",
    "bank:memories:list",
    "bank:delete",
    "iam:users:write",
    "iam:service_accounts:manage",
)
BANKS = ("team", "team::x", "hr", "other", None)
PATTERNS = ("*", "team", "team::*", "hr")
USERS, GROUPS, ROBOTS = ("u0", "u1", "u2"), ("g0", "g1", "_default"), ("s0", "s1")
POLICIES = tuple(f"p{number}" for number in range(5))
Rights = dict[tuple[str, str | None], float]


class Walk:
    """A server with random policies, and random writes by the account `robot`."""

    def __init__(self, server: Server, seed: int) -> None:
        self.server, self.random = server, Random(seed)
        server.user("boss")
        for policy in ("bank:admin", "iam:admin"):
            server.attach(policy, "user", "boss")
        for policy in POLICIES:
            server.policy(policy, *self.statements())
        for user in USERS:
            server.user(user)
        for group in GROUPS:
            server.group(group)
        server.policy("scope", allow("iam:*"), *self.statements())
        for robot in ROBOTS:
            server.account(robot, self.random.choice([*USERS, "boss"]))
        for _ in range(6):
            server.ask(*self.attach())
        self.key = server.account("robot", "boss", scope="scope")

    # what may be written

    def statements(self) -> list[dict[str, Any]]:
        made = []
        for _ in range(self.random.randint(0, 3)):
            actions = self.random.sample(("bank:recall", "bank:retain", "bank:*", "iam:users:write"), 2)
            banks = tuple(self.random.sample(PATTERNS, self.random.randint(1, 2)))
            if self.random.random() < 0.25:
                made.append(deny(*actions, banks=banks))
            else:
                tokens = self.random.choice([None, None, 100, 500])
                made.append(allow(*actions, banks=banks, recall_max_tokens=tokens))
        return made

    def target(self) -> tuple[str, str]:
        kinds = {"user": USERS, "group": GROUPS, "service_account": (*ROBOTS, "robot")}
        kind = self.random.choice(list(kinds))
        return kind, self.random.choice(kinds[kind])

    def attach(self) -> tuple[str, str, Any]:
        kind, id = self.target()
        sent = {"policy_id": self.random.choice(POLICIES), "principal_type": kind, "principal_id": id}
        return "PUT", path("policy-attachments"), sent

    def public(self) -> dict[str, Any]:
        rules = [
            {
                "scope": self.random.choice(("provider", "channel", "topic")),
                "value": "v",
                "actions": self.random.sample(ACTIONS[:3], self.random.randint(0, 2)),
                "recall_max_tokens": self.random.choice([None, 100, 1000]),
            }
            for _ in range(self.random.randint(0, 3))
        ]
        return {"version": VERSION, "public_access": {"overrides": rules}}

    def write(self) -> tuple[str, str, Any]:
        choice = self.random.choice
        user, group, robot, policy = choice(USERS), choice(GROUPS), choice(ROBOTS), choice(POLICIES)
        kind, id = self.target()
        bank = path("banks", choice(("team", "hr")), "policy")
        scope = choice([None, "scope", policy])
        account = {"id": robot, "owner_user_id": choice([user, "boss"]), "display_name": "x"}
        return choice(
            [
                self.attach(),
                ("DELETE", path("policy-attachments", policy, kind, id), None),
                ("PUT", path("policies", choice([policy, "scope"])), {"document": self.text()}),
                ("POST", path("groups", group, "members"), {"user_id": user}),
                ("DELETE", path("groups", group, "members", user), None),
                ("DELETE", path("groups", group), None),
                ("POST", path("groups"), {"id": group, "display_name": "x"}),
                ("PUT", path("users", user), {"is_active": choice([True, False])}),
                ("DELETE", path("users", user), None),
                ("POST", path("users"), {"id": user, "display_name": "x"}),
                ("POST", path("users", user, "channels"), {"provider": "t", "sender_id": "1"}),
                ("DELETE", path("users", user, "channels", "t", "1"), None),
                ("POST", path("users", choice([user, "boss"]), "api-keys"), {}),
                ("POST", path("service-accounts"), {**account, "scoping_policy_id": scope}),
                ("PUT", path("service-accounts", robot), {"scoping_policy_id": scope}),
                ("PUT", path("service-accounts", robot), {"is_active": choice([True, False])}),
                ("DELETE", path("service-accounts", robot), None),
                ("POST", path("service-accounts", robot, "keys"), {}),
                ("PUT", bank, {"document": self.public()}),
                ("DELETE", bank, None),
            ]
        )

    def text(self) -> dict[str, Any]:
        """A policy's new text; it keeps the right to administrate, so that the walk goes on."""
        return document(allow("iam:*"), *self.statements())

    def mend(self) -> None:
        """Have root give the account its work back when it has taken that from itself."""
        robot = Principal("service_account", "robot")
        decide = self.server.context.access.rules.decide
        if all(decide(robot, action, None).allowed for action in ("iam:users:write", "iam:groups:write")):
            return
        for policy in POLICIES:
            self.server.ask("DELETE", path("policy-attachments", policy, "service_account", "robot"))
        kept = [one for one in self.statements() if one["effect"] == "allow"]
        text = document(allow("iam:*"), *kept)
        self.server.done("PUT", path("policies", "scope"), {"document": text})

    # what anybody may

    def rights(self, principal: Principal) -> Rights:
        """(action, bank) -> tokens, for what is allowed."""
        rules = self.server.context.access.rules
        found: Rights = {}
        for action in ACTIONS:
            for bank in BANKS:
                decided = rules.decide(principal, action, None if bank is None else BankId(bank))
                if decided.allowed:
                    found[action, bank] = decided.parameters.recall_max_tokens or float("inf")
        return found

    def everybody(self) -> dict[str, Rights]:
        data = self.server.directory.access.data
        found = {f"user {id}": self.rights(Principal("user", id)) for id in data.users}
        found |= {f"sa {id}": self.rights(Principal("service_account", id)) for id in data.service_accounts}
        places = [NOWHERE, Circumstances(provider="v"), Circumstances(provider="v", channel="v")]
        places += [
            Circumstances(topic="v"),
            Circumstances(provider="v", topic="v"),
            Circumstances(channel="v"),
        ]
        for place in places:
            found[f"public {place}"] = self.rights(Principal("unmapped", "_unmapped", place, by_token=True))
        mapped = data.channels.get(("t", "1"))
        where = Circumstances(provider="t", sender="t:1")
        sender = (
            Principal("unmapped", "_unmapped", where, by_token=True)
            if mapped is None
            else Principal("user", mapped, where, by_token=True)
        )
        found["sender t:1"] = self.rights(sender)
        return found


def beyond(later: Rights, *before: Rights) -> list[tuple[str, str | None]]:
    """Where `later` gives more than each of the others."""
    return [place for place, tokens in later.items() if all(tokens > known.get(place, 0) for known in before)]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nobody_gains_by_what_a_narrowed_account_writes(server: Server, seed: int) -> None:
    follow(server, Walk(server, seed), steps=80)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 112))
def test_nobody_gains_in_long_walks_either(server: Server, seed: int) -> None:
    follow(server, Walk(server, seed), steps=300)


def follow(server: Server, walk: Walk, steps: int) -> None:
    """Write at random and look at everybody after each write; some writes are refused, some are not."""
    seen: dict[int, int] = {}
    for _ in range(steps):
        walk.mend()
        before = walk.everybody()
        own = before["sa robot"]
        keys = set(server.directory.access.data.keys_by_id)
        method, where, body = walk.write()
        answer = server.ask(method, where, key=walk.key, **({} if body is None else {"body": body}))
        seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, answer.text
        after = walk.everybody()
        for who, later in after.items():
            gained = beyond(later, before.get(who, {}), own)
            assert not gained, f"{method} {where} {body}: {who} gained {gained}"
        for id in set(server.directory.access.data.keys_by_id) - keys:
            key = server.directory.access.data.keys_by_id[id]
            owner = after[f"{'user' if key.kind == 'user' else 'sa'} {key.owner_id}"]
            assert not beyond(owner, own), f"a key of {key.owner_id} was minted"
    assert seen.get(403, 0) >= 5 and seen.get(200, 0) + seen.get(201, 0) + seen.get(204, 0) >= 20, seen
