"""The server of the matrix: planted banks, and one caller for each way of being let in or kept out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from access_admin import Admin, statement, tampered, token
from canary import canary
from changes import SECRET
from live_server import Client, Gone, Server, until
from planted import Planted, plant
from wire_admin import ADMIN_ASKS
from wire_knowledge import AUDIENCE_SECRET, KNOWLEDGE_ASKS, audience
from wire_walk import ASKS, Ask, Names, path_of, send

from lorebank.banks.chunk_ids import chunk_id
from lorebank.banks.transfer.keys import file_key
from lorebank.http.binding import Binding

SETTINGS = {
    "LOREBANK_JOB_BACKOFF": "0",
    "LOREBANK_TOKEN_SECRETS": SECRET,
    "LOREBANK_TOKEN_LIFETIME": "3600",
    "LOREBANK_AUDIENCE_SECRETS": AUDIENCE_SECRET,
}
BANK, SPARE, ELSEWHERE = "vault", "spare", "attic"
MISSING = "no-such-bank"
ATTIC = canary("attic")
EVERYTHING = statement("bank:*", "iam:*", "template:*", "knowledge:*")


@dataclass
class Caller:
    """Somebody who asks. `holds` are the words of `matrix_rows` that let him in; `valid` tells whether his
    credential is one; `sees` whether he may be shown the text of the planted bank by some operation. With
    `fresh` each request has a credential of its own, as an agent's has."""

    credential: str
    holds: frozenset[str]
    valid: bool = True
    sees: bool = False
    fresh: Callable[[], str] | None = None
    client: Client | None = field(default=None, repr=False)


class World:
    """Everything planted, and everybody who asks."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.root = server.client()
        self.admin = Admin(self.root)
        self.planted: Planted = plant(self.root, BANK)
        self.spare: Planted = plant(self.root, SPARE, visible=False)
        self.root.retain(ELSEWHERE, {"content": f"The attic holds {' '.join(ATTIC)}.", "document_id": "a"})
        self.root.settled()
        self.callers: Mapping[str, Caller] = {
            **self._with_rights(),
            **_agents(),
            **self._without_a_credential(),
        }
        for caller in self.callers.values():
            caller.client = server.client(caller.credential)

    def _with_rights(self) -> dict[str, Caller]:
        admin, here = self.admin, (BANK, SPARE)
        keys = {
            right: admin.user(f"only-{right}", statement(f"bank:{right}", banks=here))
            for right in ("recall", "retain", "reflect")
        }
        admin.channel("only-recall", "web", "reader")
        admin.user("boss", EVERYTHING)
        admin.channel("boss", "web", "boss")
        admin.policy("robot-scope", statement("bank:recall", banks=(BANK,)))
        admin.bank_policy(
            BANK,
            public_access={
                "overrides": [{"scope": "topic", "value": "lobby", "actions": ["bank:recall"]}],
            },
        )
        user, machine = {"everybody", "users"}, {"everybody"}
        return {
            "no rights": Caller(admin.user("no-rights"), frozenset(user)),
            "recall only": Caller(keys["recall"], frozenset(user | {"recall"}), sees=True),
            "recall only, by token": Caller(
                token(SECRET, "web:reader", lifetime=3000), frozenset(machine | {"recall"}), sees=True
            ),
            "retain only": Caller(keys["retain"], frozenset(user | {"retain"})),
            "reflect only": Caller(keys["reflect"], frozenset(user | {"reflect"})),
            "other bank": Caller(
                admin.user("elsewhere", statement("bank:*", banks=(ELSEWHERE,))), frozenset(user)
            ),
            "robot that may recall": Caller(
                admin.account("robot", "boss", "robot-scope"), frozenset(machine | {"recall"}), sees=True
            ),
            "unmapped sender": Caller(token(SECRET, "web:stranger", lifetime=3000), frozenset(machine)),
            "visitor": Caller(
                token(SECRET, "web:visitor", lifetime=3000, topic="lobby"),
                frozenset(machine | {"visitor"}),
                sees=True,
            ),
        }

    def _without_a_credential(self) -> dict[str, Caller]:
        """All of these would be the boss, or somebody like him, if they were let in."""
        admin = self.admin
        good = token(SECRET, "web:boss")
        soon = datetime.now(UTC) + timedelta(seconds=2)
        wrong = {
            "expired key": admin.user("late", EVERYTHING, expires_at=soon.isoformat()),
            "expired token": token(SECRET, "web:boss", now=time.time() - 3600, lifetime=60),
            "token for too long": token(SECRET, "web:boss", lifetime=10 * 365 * 86400),
            "disabled user": admin.user("gone", EVERYTHING),
            "robot of a disabled user": admin.account("gone-robot", "gone"),
            "disabled robot": admin.account("off-robot", "boss"),
            "revoked key": self._revoked_key(),
            "unknown key": "hc_u_boss_00000000000000000000000000000000",
        }
        admin.channel("gone", "web", "gone")
        wrong["disabled user, by token"] = token(SECRET, "web:gone")
        admin.set_active("gone", False)
        admin.put_account("off-robot", is_active=False)
        wrong |= {f"tampered token: {how}": made for how, made in tampered(good).items()}
        until(lambda: datetime.now(UTC) > soon, "the end of a key")
        return {name: Caller(credential, frozenset(), valid=False) for name, credential in wrong.items()}

    def _revoked_key(self) -> str:
        made = self.admin.user_key("boss")
        self.admin.delete_user_key("boss", made["id"])
        return str(made["api_key"])

    def ask(self, caller: Caller, binding: Binding, names: Names, ask: Ask) -> tuple[int, bytes]:
        """Status and everything told: body, headers, and what came of a job."""
        assert caller.client is not None
        if caller.fresh is not None:
            caller.client.use(caller.fresh())
        path = path_of(binding, names)
        try:
            return send(caller.client, binding, path, ask)
        except Gone:
            # An idle connection may have been closed by the server.
            return send(caller.client, binding, path, ask)


def _agents() -> dict[str, Caller]:
    """An agent for its owner, and one in a conversation. The name of a user or a bank gives nothing."""

    def agent(valid: bool = True, **claims: Any) -> Caller:
        def fresh() -> str:
            return audience(**claims)

        return Caller(fresh(), frozenset({"agent"} if valid else ()), valid=valid, fresh=fresh)

    talk = {"visibility": "conversation", "session_key": "agent:walk-agent:group:2", "session_id": "2"}
    return {
        "agent": agent(),
        "agent in a conversation": agent(**talk),
        "agent called as an administrator": agent(agent="boss"),
        "agent called as a bank": agent(agent=BANK),
        "stale audience": agent(valid=False, now=time.time() - 3600),
        "audience of another secret": agent(valid=False, secret=SECRET),
    }


def ask_of(operation: str, names: Names) -> Ask:
    """One valid request of an operation."""
    if operation in ASKS:
        return next(iter(ASKS[operation](names)))
    return {**ADMIN_ASKS, **SERVER_ASKS, **KNOWLEDGE_ASKS}.get(operation, Ask())


SERVER_ASKS: Mapping[str, Ask] = {
    "run_doctor": Ask(body={}),
    "run_backup": Ask(body={"target": "not/absolute"}),
    "run_reembed": Ask(body={"to": "hosted"}),
}
"""Requests about the server that begin no work that others would have to wait for."""


def named(names: Names, bank: str) -> Names:
    """The same names in a bank that has none of them."""
    return replace(
        names,
        bank=bank,
        chunk_id=chunk_id(bank, names.document_id, 0),
        file_key=file_key(bank, names.file_key.rsplit("/", 1)[-1]),
    )
