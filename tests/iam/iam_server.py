"""A real server on a real data directory, with nothing behind it that answers questions about memories."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import httpx

from lorebank import clock
from lorebank.access.authenticate import Authenticator
from lorebank.access.resolve import Resolver
from lorebank.access.rules import PolicyRules
from lorebank.config import Settings
from lorebank.http.app import create_app
from lorebank.metrics import Metrics
from lorebank.service.context import Access, Context
from lorebank.service.guard import Guard
from lorebank.service.table import OPERATIONS
from lorebank.storage.sqlite.directory import DataDirectory

ROOT = "hc_u_root_0123456789abcdef0123456789abcdef"
Json = dict[str, Any]
VERSION = "2026-03-24"
UNSENT = object()
"""Stands for: send no body at all."""

SHAPES: Mapping[str, frozenset[str]] = {
    "user": frozenset({"id", "display_name", "email", "is_active"}),
    "channel": frozenset({"provider", "sender_id"}),
    "listed_key": frozenset({"id", "api_key_prefix", "description"}),
    "made_key": frozenset({"id", "api_key", "description"}),
    "group": frozenset({"id", "display_name"}),
    "member": frozenset({"user_id"}),
    "membership": frozenset({"group_id", "user_id"}),
    "policy": frozenset({"id", "display_name", "document", "is_builtin"}),
    "attachment": frozenset({"policy_id", "principal_type", "principal_id", "priority"}),
    "account": frozenset({"id", "owner_user_id", "display_name", "is_active", "scoping_policy_id"}),
    "bank_policy": frozenset({"bank_id", "document"}),
    "profile": frozenset({"id", "display_name", "email", "is_active", "channels"}),
    "resolved": frozenset({"tenant_id", "principal_type", "access", "bank_policy"}),
    "access": frozenset(
        {
            "allowed",
            "resolved_user_id",
            "recall_budget",
            "recall_max_tokens",
            "recall_tag_groups",
            "retain_roles",
            "retain_tags",
            "retain_every_n_turns",
            "retain_strategy",
            "llm_model",
            "llm_provider",
            "exclude_providers",
        }
    ),
}
"""What each answer holds, no more and no less: clients fail on a field too many as on one too few."""


def strict(value: Any, shape: str) -> Any:
    """`value`, an object of that shape or a list of them; anything else fails."""
    for one in value if isinstance(value, list) else [value]:
        assert isinstance(one, dict)
        assert one.keys() == SHAPES[shape], f"{shape}: {sorted(one.keys() ^ SHAPES[shape])}"
    return value


def document(*statements: Json) -> Json:
    """A policy document."""
    return {"version": VERSION, "statements": list(statements)}


def allow(*actions: str, banks: tuple[str, ...] = ("*",), **parameters: Any) -> Json:
    """An allow statement."""
    return {"effect": "allow", "actions": list(actions), "banks": list(banks), **parameters}


def deny(*actions: str, banks: tuple[str, ...] = ("*",)) -> Json:
    """A deny statement."""
    return {"effect": "deny", "actions": list(actions), "banks": list(banks)}


def path(*parts: str) -> str:
    """A path below the admin API; each part is one segment, whatever is in it."""
    return "/ext/hindclaw/" + "/".join(quote(part, safe="") for part in parts)


class Server:
    """The application over one data directory; requests go through its whole HTTP edge."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.directory = DataDirectory.open(folder)
        self.settings = Settings(data_dir=folder, **settings)
        self.directory.ensure_root(self.settings.root_user, ROOT)
        rules = PolicyRules(self.directory.access, root=self.settings.root_user)
        self.resolver = Resolver(rules, self.directory.epoch, self.directory.audit)
        metrics = Metrics()
        unused: Any = None
        self.context = Context(
            settings=self.settings,
            banks=self.directory.banks(self.resolver),
            resolver=self.resolver,
            access=Access(self.directory.access, rules, cast(Any, self.directory.audit)),
            indexes=unused,
            embedders=unused,
            reranker=unused,
            work=unused,
            maintenance=unused,
            metrics=metrics,
            clock=clock.now,
            started_at=clock.now(),
        )
        self.guard = Guard(self.context, self.resolver, OPERATIONS)
        authenticator = Authenticator(self.directory.access)
        self.app = create_app(self.guard, authenticator, self.settings, metrics=metrics)
        self._runner = asyncio.Runner()
        self._closed = False

    def close(self) -> None:
        """Leave the data directory."""
        self._runner.close()
        self.close_files()

    def close_files(self) -> None:
        """Have everything written; nothing can be asked after that."""
        if not self._closed:
            self._closed = True
            self.directory.close()

    def ask(
        self,
        method: str,
        where: str,
        body: Any = UNSENT,
        *,
        key: str | None = ROOT,
        params: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """The answer to one request."""
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        content = None
        if body is not UNSENT:
            content = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8888") as http:
                return await http.request(method, where, content=content, headers=headers, params=params)

        return self._runner.run(send())

    def done(self, method: str, where: str, body: Any = UNSENT, *, status: int = 200, **more: Any) -> Any:
        """The JSON of an answer with exactly that status; None for 204, which must be empty."""
        answer = self.ask(method, where, body, **more)
        assert answer.status_code == status, f"{method} {where}: {answer.status_code} {answer.text}"
        if status == 204:
            assert answer.content == b"" and "content-type" not in answer.headers
            return None
        return answer.json()

    def refused(self, status: int, method: str, where: str, body: Any = UNSENT, **more: Any) -> str:
        """The detail of a refusal, as one text."""
        answer = self.ask(method, where, body, **more)
        assert answer.status_code == status, f"{method} {where}: {answer.status_code} {answer.text}"
        found = answer.json()
        assert found.keys() == {"detail"}
        return found["detail"] if isinstance(found["detail"], str) else json.dumps(found["detail"])

    # what most tests begin with

    def user(self, id: str, **more: Any) -> Json:
        """A new user."""
        sent = {"id": id, "display_name": id.title(), **more}
        return cast(Json, strict(self.done("POST", path("users"), sent, status=201), "user"))

    def key_of(self, user_id: str) -> str:
        """A new key of a user."""
        made = self.done("POST", path("users", user_id, "api-keys"), {"description": None}, status=201)
        return cast(str, strict(made, "made_key")["api_key"])

    def group(self, id: str, *members: str) -> None:
        """A new group with members."""
        self.done("POST", path("groups"), {"id": id, "display_name": id}, status=201)
        for member in members:
            self.done("POST", path("groups", id, "members"), {"user_id": member}, status=201)

    def policy(self, id: str, *statements: Json) -> Json:
        """A new policy."""
        sent = {"id": id, "display_name": id, "document": document(*statements)}
        return cast(Json, strict(self.done("POST", path("policies"), sent, status=201), "policy"))

    def attach(self, policy: str, kind: str, id: str, priority: int = 0) -> None:
        """Attach a policy."""
        sent = {"policy_id": policy, "principal_type": kind, "principal_id": id, "priority": priority}
        self.done("PUT", path("policy-attachments"), sent)

    def grant(self, user: str, *actions: str, **more: Any) -> None:
        """Attach a fresh policy that allows the actions to a user."""
        policy = f"{user}-{'-'.join(actions)}"
        self.policy(policy, allow(*actions, **more))
        self.attach(policy, "user", user)

    def account(self, id: str, owner: str, scope: str | None = None) -> str:
        """A new service account; one of its keys."""
        sent = {"id": id, "owner_user_id": owner, "display_name": id, "scoping_policy_id": scope}
        strict(self.done("POST", path("service-accounts"), sent, status=201), "account")
        made = self.done("POST", path("service-accounts", id, "keys"), {}, status=201)
        return cast(str, made["api_key"])

    def resolved(self, bank: str, action: str = "bank:recall", **who: str) -> Json:
        """The answer of debug/resolve."""
        params = {"bank": bank, "action": action, **who}
        found = strict(self.done("GET", path("debug", "resolve"), params=params), "resolved")
        strict(found["access"], "access")
        return cast(Json, found)
