"""The calls of the Terraform provider in its order, resource by resource: apply, refresh, import, destroy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from iam_server import VERSION, Server, allow, document, path, strict

Json = dict[str, Any]


class Provider:
    """What the provider does with one server. A missing object is removed from the state when it is read,
    and deleted when it is deleted; every other refusal is an error."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def create(self, shape: str, where: str, sent: Json, method: str = "POST") -> Json:
        made: Json = strict(
            self.server.done(method, where, sent, status=201 if method == "POST" else 200), shape
        )
        return made

    def read(self, shape: str, where: str) -> Json | None:
        answer = self.server.ask("GET", where)
        if answer.status_code == 404:
            return None
        assert answer.status_code == 200, answer.text
        found: Json = strict(answer.json(), shape)
        return found

    def find(self, shape: str, where: str, **wanted: str) -> Json | None:
        """Resources without a route of their own are looked for in a list."""
        listed: list[Json] = strict(self.server.done("GET", where), shape)
        return next((one for one in listed if wanted.items() <= one.items()), None)

    def update(self, shape: str, where: str, sent: Json) -> Json:
        made: Json = strict(self.server.done("PUT", where, sent), shape)
        return made

    def delete(self, where: str) -> None:
        answer = self.server.ask("DELETE", where)
        assert answer.status_code in (204, 404), answer.text
        assert answer.status_code == 404 or answer.content == b""

    def attachments(self, policy_id: str) -> list[Json]:
        params = {"policy_id": policy_id}
        found: list[Json] = strict(
            self.server.done("GET", path("policy-attachments"), params=params), "attachment"
        )
        return found

    def detach_everywhere(self, kind: str, id: str) -> None:
        """Before a user or group goes, its attachments are searched for through all policies."""
        for policy in strict(self.server.done("GET", path("policies")), "policy"):
            for one in self.attachments(policy["id"]):
                if (one["principal_type"], one["principal_id"]) == (kind, id):
                    self.delete(path("policy-attachments", policy["id"], kind, id))

    def destroy_user(self, id: str, *, force: bool) -> None:
        self.detach_everywhere("user", id)
        if force:
            self._empty_user(id)
        self.delete(path("users", id))

    def _empty_user(self, id: str) -> None:
        server = self.server
        for account in strict(server.done("GET", path("service-accounts")), "account"):
            if account["owner_user_id"] == id:
                where = path("service-accounts", account["id"])
                for key in strict(server.done("GET", f"{where}/keys"), "listed_key"):
                    self.delete(f"{where}/keys/{key['id']}")
                self.delete(where)
        for key in strict(server.done("GET", path("users", id, "api-keys")), "listed_key"):
            self.delete(path("users", id, "api-keys", key["id"]))
        for group in strict(server.done("GET", path("groups")), "group"):
            members = strict(server.done("GET", path("groups", group["id"], "members")), "member")
            if {"user_id": id} in members:
                self.delete(path("groups", group["id"], "members", id))
        for one in strict(server.done("GET", path("users", id, "channels")), "channel"):
            self.delete(path("users", id, "channels", one["provider"], one["sender_id"]))

    def destroy_group(self, id: str, *, force: bool) -> None:
        self.detach_everywhere("group", id)
        if force:
            for one in strict(self.server.done("GET", path("groups", id, "members")), "member"):
                self.delete(path("groups", id, "members", one["user_id"]))
        self.delete(path("groups", id))


@pytest.fixture
def provider(server: Server) -> Provider:
    return Provider(server)


def lifecycle(
    provider: Provider, shape: str, where: str, sent: Json, one: Callable[[Json], str], changes: list[Json]
) -> None:
    """Create, refresh, update, import, destroy, and what a second destroy and refresh make of it."""
    made = provider.create(shape, where, sent)
    assert sent.items() <= made.items()
    place = one(made)
    assert provider.read(shape, place) == made
    for change in changes:
        made = provider.update(shape, place, change)
        assert {name: made[name] for name in change} == change
        assert provider.read(shape, place) == made
    provider.delete(place)
    provider.delete(place)
    assert provider.read(shape, place) is None


def test_user(provider: Provider) -> None:
    sent = {"id": "alice", "display_name": "Alice", "email": "a@example.com", "is_active": True}
    changes: list[Json] = [
        {"display_name": "A", "email": "b@example.com", "is_active": False},
        {"display_name": "A", "email": "b@example.com", "is_active": True},
    ]
    lifecycle(provider, "user", path("users"), sent, lambda made: path("users", made["id"]), changes)


def test_group(provider: Provider) -> None:
    sent = {"id": "staff", "display_name": "Staff"}
    changes: list[Json] = [{"display_name": "All"}]
    lifecycle(provider, "group", path("groups"), sent, lambda made: path("groups", made["id"]), changes)


def test_policy(provider: Provider) -> None:
    sent = {"id": "reader", "display_name": "Reader", "document": document(allow("bank:recall"))}
    changes: list[Json] = [
        {"display_name": "Reader", "document": document(allow("bank:recall", recall_max_tokens=512))},
        {"display_name": "R", "document": document()},
    ]
    lifecycle(provider, "policy", path("policies"), sent, lambda made: path("policies", made["id"]), changes)


def test_service_account_with_a_scope_that_is_cleared(provider: Provider) -> None:
    server = provider.server
    server.user("alice")
    server.policy("narrow", allow("bank:recall"))
    sent = {"id": "robot", "owner_user_id": "alice", "display_name": "R", "scoping_policy_id": "narrow"}
    changes: list[Json] = [
        {"display_name": "R2", "scoping_policy_id": "narrow"},
        {"display_name": "R2", "scoping_policy_id": None},
    ]
    place = path("service-accounts", "robot")
    lifecycle(provider, "account", path("service-accounts"), sent, lambda made: place, changes)


def test_channel_membership_and_attachment(provider: Provider) -> None:
    provider.server.user("alice")
    provider.server.group("staff")
    channels, members = path("users", "alice", "channels"), path("groups", "staff", "members")
    channel = {"provider": "telegram", "sender_id": "1"}
    assert provider.create("channel", channels, channel) == channel
    assert provider.find("channel", channels, **channel) == channel
    provider.create("membership", members, {"user_id": "alice"})
    assert provider.find("member", members, user_id="alice") == {"user_id": "alice"}
    attached = {"policy_id": "bank:readonly", "principal_type": "group", "principal_id": "staff"}
    made = provider.create("attachment", path("policy-attachments"), attached, "PUT")
    assert made == {**attached, "priority": 0}
    changed = provider.create("attachment", path("policy-attachments"), {**attached, "priority": 5}, "PUT")
    assert provider.attachments("bank:readonly") == [changed] and changed["priority"] == 5
    for place in (
        f"{channels}/telegram/1",
        f"{members}/alice",
        path("policy-attachments", "bank:readonly", "group", "staff"),
    ):
        provider.delete(place)
        provider.delete(place)
    assert provider.find("channel", channels, **channel) is None
    assert provider.find("member", members, user_id="alice") is None
    assert provider.attachments("bank:readonly") == []


def test_keys_keep_their_secret_from_the_making(provider: Provider) -> None:
    provider.server.user("alice")
    provider.server.account("robot", "alice")
    for where in (path("users", "alice", "api-keys"), path("service-accounts", "robot", "keys")):
        made = provider.create("made_key", where, {"description": "terraform"})
        found = provider.find("listed_key", where, id=made["id"])
        assert found is not None and found["description"] == "terraform"
        assert made["api_key"].startswith(found["api_key_prefix"].removesuffix("..."))
        provider.delete(f"{where}/{made['id']}")
        provider.delete(f"{where}/{made['id']}")
        assert provider.find("listed_key", where, id=made["id"]) is None


def test_bank_policy_is_imported_by_bank(provider: Provider) -> None:
    where = path("banks", "yoda::group", "policy")
    assert provider.read("bank_policy", where) is None
    for sent in ({"version": VERSION}, {"version": VERSION, "default_strategy": "x"}):
        made = provider.create("bank_policy", where, {"document": sent}, "PUT")
        assert made == {"bank_id": "yoda::group", "document": sent} == provider.read("bank_policy", where)
    provider.delete(where)
    provider.delete(where)
    assert provider.read("bank_policy", where) is None


@pytest.mark.parametrize("force", [False, True])
def test_a_whole_stack_is_applied_and_destroyed(provider: Provider, force: bool) -> None:
    server = provider.server
    server.user("alice")
    server.group("staff", "alice")
    server.policy("reader", allow("bank:recall"))
    server.policy("narrow", allow("bank:recall", banks=("team",)))
    server.attach("reader", "group", "staff")
    server.attach("reader", "user", "alice")
    server.account("robot", "alice", scope="narrow")
    server.key_of("alice")
    server.done("POST", path("users", "alice", "channels"), {"provider": "t", "sender_id": "1"}, status=201)
    assert server.resolved("team", sa_id="robot")["access"]["allowed"] is True
    provider.destroy_group("staff", force=force)
    provider.destroy_user("alice", force=force)
    for policy in ("reader", "narrow"):
        provider.delete(path("policies", policy))
        assert provider.read("policy", path("policies", policy)) is None
    assert [one["id"] for one in server.done("GET", path("users"))] == ["root"]
    assert server.done("GET", path("groups")) == server.done("GET", path("service-accounts")) == []
