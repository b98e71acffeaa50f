"""Service accounts and their keys, of all users and of one's own."""

from __future__ import annotations

import re
from typing import Any

import pytest
from iam_server import Server, allow, path, strict

ACCOUNTS, MINE = path("service-accounts"), path("me", "service-accounts")


def test_an_account_is_made_read_changed_and_deleted(server: Server) -> None:
    server.user("alice")
    server.policy("narrow", allow("bank:recall"))
    sent = {"id": "robot", "owner_user_id": "alice", "display_name": "Robot"}
    made = strict(server.done("POST", ACCOUNTS, sent, status=201), "account")
    assert made == {**sent, "is_active": True, "scoping_policy_id": None}
    one = path("service-accounts", "robot")
    assert strict(server.done("GET", one), "account") == made
    scoped = server.done("PUT", one, {"scoping_policy_id": "narrow"})
    assert strict(scoped, "account") == {**made, "scoping_policy_id": "narrow"}
    renamed = server.done("PUT", one, {"display_name": "R2", "is_active": False})
    assert renamed == {**scoped, "display_name": "R2", "is_active": False}
    cleared = server.done("PUT", one, {"display_name": "R2", "scoping_policy_id": None})
    assert cleared == {**renamed, "scoping_policy_id": None}
    server.done("DELETE", one, status=204)
    for method in ("GET", "DELETE"):
        server.refused(404, method, one)
    server.refused(404, "PUT", one, {"display_name": "x"})


def test_accounts_are_listed_by_id(server: Server) -> None:
    server.user("alice")
    for id in ("r2", "r1", "r3"):
        server.account(id, "alice")
    assert [one["id"] for one in strict(server.done("GET", ACCOUNTS), "account")] == ["r1", "r2", "r3"]


@pytest.mark.parametrize(
    ("change", "status"),
    [({"owner_user_id": "nobody"}, 404), ({"scoping_policy_id": "none"}, 404), ({"id": "taken"}, 409)],
)
def test_what_an_account_refers_to_exists(server: Server, change: dict[str, Any], status: int) -> None:
    server.user("alice")
    server.account("taken", "alice")
    sent = {"id": "robot", "owner_user_id": "alice", "display_name": "Robot"} | change
    server.refused(status, "POST", ACCOUNTS, sent)
    server.refused(404, "PUT", path("service-accounts", "taken"), {"scoping_policy_id": "none"})
    assert [one["id"] for one in server.done("GET", ACCOUNTS)] == ["taken"]


@pytest.mark.parametrize("body", [{}, {"display_name": None}, {"is_active": None}])
def test_a_change_of_nothing_is_refused(server: Server, body: dict[str, object]) -> None:
    server.account("robot", "root")
    one = path("service-accounts", "robot")
    assert server.refused(400, "PUT", one, body).startswith("No fields to update")


def test_keys_of_an_account(server: Server) -> None:
    server.user("alice")
    server.grant("alice", "bank:recall")
    server.account("robot", "alice")
    where = path("service-accounts", "robot", "keys")
    made = strict(server.done("POST", where, {"description": "ci"}, status=201), "made_key")
    assert re.fullmatch(r"hc_sa_robot_[0-9a-f]{32}", made["api_key"])
    listed = strict(server.done("GET", where), "listed_key")
    assert listed[1] == {"id": made["id"], "api_key_prefix": "hc_sa_robot_", "description": "ci"}
    strict(server.done("POST", where, status=201), "made_key")
    server.refused(404, "DELETE", path("service-accounts", "robot", "keys", "none"))
    server.done("DELETE", path("service-accounts", "robot", "keys", made["id"]), status=204)
    server.refused(404, "DELETE", path("service-accounts", "robot", "keys", made["id"]))
    server.refused(401, "GET", "/v1/default/banks", key=made["api_key"])
    assert len(server.done("GET", where)) == 2


def test_keys_of_unknown_accounts(server: Server) -> None:
    where = path("service-accounts", "none", "keys")
    assert server.done("GET", where) == []
    server.refused(404, "POST", where, {})


def test_a_disabled_account_opens_nothing_until_it_is_enabled(server: Server) -> None:
    key = server.account("robot", "root")
    server.done("GET", "/v1/default/banks", key=key)
    server.done("PUT", path("service-accounts", "robot"), {"is_active": False})
    server.refused(401, "GET", "/v1/default/banks", key=key)
    server.done("PUT", path("service-accounts", "robot"), {"is_active": True})
    server.done("GET", "/v1/default/banks", key=key)


# me


def self_service(server: Server, *users: str) -> list[str]:
    """Users with the built-in policy for what is their own; a key of each."""
    for user in users:
        server.user(user)
        server.attach("iam:self-service", "user", user)
    return [server.key_of(user) for user in users]


def test_a_profile(server: Server) -> None:
    server.user("alice", email="a@example.com")
    sender = {"provider": "telegram", "sender_id": "1"}
    server.done("POST", path("users", "alice", "channels"), sender, status=201)
    mine = strict(server.done("GET", path("me"), key=server.key_of("alice")), "profile")
    assert mine == {
        "id": "alice",
        "display_name": "Alice",
        "email": "a@example.com",
        "is_active": True,
        "channels": [sender],
    }
    strict(mine["channels"], "channel")
    assert server.done("GET", path("me"))["channels"] == []


def test_a_service_account_has_no_profile_and_no_user_keys(server: Server) -> None:
    server.user("alice")
    server.attach("iam:admin", "user", "alice")
    robot = server.account("robot", "alice")
    server.refused(403, "GET", path("me"), key=robot)
    for method in ("GET", "POST"):
        server.refused(403, method, path("me", "api-keys"), key=robot)
    server.refused(403, "DELETE", path("me", "api-keys", "x"), key=robot)


def test_own_keys(server: Server) -> None:
    (key,) = self_service(server, "alice")
    where = path("me", "api-keys")
    made = strict(server.done("POST", where, {"description": "new"}, key=key, status=201), "made_key")
    assert len(strict(server.done("GET", where, key=key), "listed_key")) == 2
    server.done("DELETE", path("me", "api-keys", made["id"]), key=key, status=204)
    server.done("DELETE", path("me", "api-keys", made["id"]), key=key, status=204)
    server.refused(401, "GET", where, key=made["api_key"])


def test_who_revokes_the_key_he_came_with_is_told_so(server: Server) -> None:
    (key,) = self_service(server, "alice")
    (listed,) = server.done("GET", path("me", "api-keys"), key=key)
    server.done("DELETE", path("me", "api-keys", listed["id"]), key=key, status=204)
    server.refused(401, "GET", path("me"), key=key)


def test_keys_of_others_are_not_mine(server: Server) -> None:
    alice, bob = self_service(server, "alice", "bob")
    (listed,) = server.done("GET", path("me", "api-keys"), key=alice)
    server.done("DELETE", path("me", "api-keys", listed["id"]), key=bob, status=204)
    server.done("GET", path("me"), key=alice)


def test_own_service_accounts(server: Server) -> None:
    (key,) = self_service(server, "alice")
    server.policy("narrow", allow("bank:recall"))
    sent = {"id": "mine", "display_name": "Mine", "scoping_policy_id": "narrow"}
    made = strict(server.done("POST", MINE, sent, key=key, status=201), "account")
    assert made == {**sent, "owner_user_id": "alice", "is_active": True}
    one = path("me", "service-accounts", "mine")
    assert strict(server.done("GET", MINE, key=key), "account") == [made]
    assert strict(server.done("GET", one, key=key), "account") == made
    renamed = strict(server.done("PUT", one, {"display_name": "M"}, key=key), "account")
    assert renamed == {**made, "display_name": "M"}
    minted = strict(server.done("POST", f"{one}/keys", key=key, status=201), "made_key")
    assert len(strict(server.done("GET", f"{one}/keys", key=key), "listed_key")) == 1
    server.done("DELETE", f"{one}/keys/{minted['id']}", key=key, status=204)
    server.refused(404, "DELETE", f"{one}/keys/{minted['id']}", key=key)
    server.done("DELETE", one, key=key, status=204)
    assert server.done("GET", MINE, key=key) == []


@pytest.mark.parametrize(
    "body",
    [
        {"id": "x", "display_name": "x", "owner_user_id": "bob"},
        {"id": "x", "display_name": "x", "is_active": True},
    ],
)
def test_own_accounts_take_no_unknown_field(server: Server, body: dict[str, Any]) -> None:
    (key,) = self_service(server, "alice")
    server.refused(422, "POST", MINE, body, key=key)
    server.done("POST", MINE, {"id": "mine", "display_name": "x"}, key=key, status=201)
    one = path("me", "service-accounts", "mine")
    server.refused(422, "PUT", one, {"display_name": "x", "scoping_policy_id": None}, key=key)
    server.refused(422, "PUT", one, {}, key=key)


def test_accounts_of_others_are_as_if_missing(server: Server) -> None:
    alice, bob = self_service(server, "alice", "bob")
    server.done("POST", MINE, {"id": "hers", "display_name": "x"}, key=alice, status=201)
    for method, tail, body in (
        ("GET", "", None),
        ("PUT", "", {"display_name": "x"}),
        ("DELETE", "", None),
        ("GET", "/keys", None),
        ("POST", "/keys", {}),
        ("DELETE", "/keys/x", None),
    ):
        sent = {} if body is None else {"body": body}
        told = [
            server.refused(404, method, path("me", "service-accounts", id) + tail, key=bob, **sent)
            for id in ("hers", "none")
        ]
        assert told[0].replace("hers", "none") == told[1]
    assert server.done("GET", MINE, key=bob) == []
    server.refused(409, "POST", MINE, {"id": "hers", "display_name": "x"}, key=bob)


def test_a_service_account_acts_for_its_owner(server: Server) -> None:
    self_service(server, "alice")
    robot = server.account("robot", "alice")
    made = server.done("POST", MINE, {"id": "second", "display_name": "x"}, key=robot, status=201)
    assert made["owner_user_id"] == "alice"
    assert [one["id"] for one in server.done("GET", MINE, key=robot)] == ["robot", "second"]


def test_own_things_need_the_rights_to_them(server: Server) -> None:
    server.user("eve")
    key = server.key_of("eve")
    for method, where, action in (
        ("GET", path("me", "api-keys"), "iam:api_keys:read"),
        ("POST", path("me", "api-keys"), "iam:api_keys:write"),
        ("GET", MINE, "iam:service_accounts:read"),
        ("POST", path("me", "service-accounts", "x", "keys"), "iam:service_account_keys:write"),
    ):
        assert server.refused(403, method, where, key=key) == f"{action} denied"
    server.done("GET", path("me"), key=key)
