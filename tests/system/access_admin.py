"""Users, groups, policies and accounts made over the admin API, for tests of who may see what."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from live_server import Answer, Client

VERSION = "2026-03-24"
PREFIX = "/ext/hindclaw"


def statement(*actions: str, banks: tuple[str, ...] = ("*",), effect: str = "allow", **more: Any) -> Any:
    """One statement of a policy document."""
    return {"effect": effect, "actions": list(actions), "banks": list(banks), **more}


def document(*statements: Any) -> dict[str, Any]:
    """A policy document."""
    return {"version": VERSION, "statements": list(statements)}


class Admin:
    """What an administrator does, over HTTP; every call must succeed."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def send(self, method: str, path: str, body: Any = None) -> Answer:
        """One request to the admin API; it must succeed."""
        answer = self._client.request(method, PREFIX + path, body)
        assert answer.status < 300, (method, path, answer.status, answer.body[:1000])
        return answer

    # users

    def user(self, user_id: str, *statements: Any, **key: Any) -> str:
        """A user with one policy of these statements attached; his key."""
        self.send("POST", "/users", {"id": user_id, "display_name": user_id})
        if statements:
            self.policy(f"of-{user_id}", *statements)
            self.attach(f"of-{user_id}", "user", user_id)
        return str(self.user_key(user_id, **key)["api_key"])

    def user_key(self, user_id: str, **fields: Any) -> Any:
        """A new key: its id and its secret."""
        return self.send("POST", f"/users/{quote(user_id, safe='')}/api-keys", fields).json()

    def delete_user_key(self, user_id: str, key_id: str) -> None:
        """Revoke a key."""
        self.send("DELETE", f"/users/{user_id}/api-keys/{key_id}")

    def set_active(self, user_id: str, active: bool) -> None:
        """Disable or enable a user."""
        self.send("PUT", f"/users/{user_id}", {"is_active": active})

    def channel(self, user_id: str, provider: str, sender_id: str) -> None:
        """Map a sender to a user."""
        self.send("POST", f"/users/{user_id}/channels", {"provider": provider, "sender_id": sender_id})

    # groups

    def group(self, group_id: str, *statements: Any) -> None:
        """A group with one policy of these statements attached."""
        self.send("POST", "/groups", {"id": group_id, "display_name": group_id})
        if statements:
            self.policy(f"of-{group_id}", *statements)
            self.attach(f"of-{group_id}", "group", group_id)

    def add_member(self, group_id: str, user_id: str) -> None:
        """Make a user a member."""
        self.send("POST", f"/groups/{group_id}/members", {"user_id": user_id})

    def remove_member(self, group_id: str, user_id: str) -> None:
        """End a membership."""
        self.send("DELETE", f"/groups/{group_id}/members/{user_id}")

    # policies

    def policy(self, policy_id: str, *statements: Any) -> None:
        """A new policy."""
        body = {"id": policy_id, "display_name": policy_id, "document": document(*statements)}
        self.send("POST", "/policies", body)

    def put_policy(self, policy_id: str, *statements: Any) -> None:
        """Another document for a policy."""
        self.send("PUT", f"/policies/{policy_id}", {"document": document(*statements)})

    def attach(self, policy_id: str, kind: str, principal_id: str, priority: int = 0) -> None:
        """Attach a policy."""
        body = {"policy_id": policy_id, "principal_type": kind, "principal_id": principal_id}
        self.send("PUT", "/policy-attachments", {**body, "priority": priority})

    def detach(self, policy_id: str, kind: str, principal_id: str) -> None:
        """Take a policy away."""
        self.send("DELETE", f"/policy-attachments/{quote(policy_id, safe='')}/{kind}/{principal_id}")

    def bank_policy(self, bank_id: str, **fields: Any) -> None:
        """A bank's own policy."""
        self.send("PUT", f"/banks/{bank_id}/policy", {"document": {"version": VERSION, **fields}})

    # service accounts

    def account(self, account_id: str, owner: str, scope: str | None = None) -> str:
        """A service account; its key."""
        body = {"id": account_id, "owner_user_id": owner, "display_name": account_id}
        self.send("POST", "/service-accounts", {**body, "scoping_policy_id": scope})
        return str(self.send("POST", f"/service-accounts/{account_id}/keys", {}).json()["api_key"])

    def put_account(self, account_id: str, **fields: Any) -> None:
        """Change an account."""
        self.send("PUT", f"/service-accounts/{account_id}", fields)


# tokens, made as a gateway makes them and independently of the server's code


def token(secret: str, sender: str, *, lifetime: float = 300, now: float | None = None, **claims: Any) -> str:
    """A gateway token for `sender`, valid from `now` for `lifetime` seconds."""
    issued = int(time.time() if now is None else now)
    payload = {"client_id": "gateway", "sender": sender, "iat": issued, "exp": issued + int(lifetime)}
    return signed(secret, payload | claims)


def signed(secret: str, payload: Mapping[str, Any], header: Mapping[str, Any] | None = None) -> str:
    """A token with exactly this payload; HS256 unless the header names no algorithm."""
    head = _part(header or {"alg": "HS256", "typ": "JWT"})
    text = f"{head}.{_part(payload)}"
    digest = hmac.new(secret.encode(), text.encode("ascii"), hashlib.sha256).digest()
    return f"{text}.{_encoded(digest)}"


def _part(value: Mapping[str, Any]) -> str:
    return _encoded(json.dumps(value, separators=(",", ":")).encode())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def tampered(made: str) -> dict[str, str]:
    """Wrong tokens made from a right one, by what is wrong with them."""
    head, body, seal = made.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    nobody = _part({"alg": "none", "typ": "JWT"})
    endless = {name: value for name, value in claims.items() if name != "exp"}
    return {
        "another payload": f"{head}.{_part(claims | {'exp': claims['exp'] + 60})}.{seal}",
        "a changed signature": f"{head}.{body}.{_encoded(bytes(32))}",
        "no signature": f"{head}.{body}.",
        "no algorithm": f"{nobody}.{body}.",
        "another algorithm": signed("", claims, {"alg": "HS512", "typ": "JWT"}),
        "another secret": signed("a secret of somebody else's gateway", claims),
        "an empty secret": signed("", claims),
        "no end, another secret": signed("another", endless),
    }
