"""Users, the senders that are mapped to them, and their keys."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from iam_server import ROOT, Server, allow, path, strict

from lorebank.access.principal import Principal
from lorebank.errors import Conflict
from lorebank.limits import Limits
from lorebank.service.requests.base import parse
from lorebank.service.requests.iam import CreateUserRequest

USERS = path("users")


def test_a_user_is_made_read_changed_and_deleted(server: Server) -> None:
    made = server.user("alice", email="alice@example.com")
    assert made == {
        "id": "alice",
        "display_name": "Alice",
        "email": "alice@example.com",
        "is_active": True,
    }
    assert strict(server.done("GET", path("users", "alice")), "user") == made
    changed = server.done("PUT", path("users", "alice"), {"display_name": "A.", "is_active": False})
    assert strict(changed, "user") == {**made, "display_name": "A.", "is_active": False}
    server.done("DELETE", path("users", "alice"), status=204)
    assert "not found" in server.refused(404, "GET", path("users", "alice"))


def test_users_are_listed_by_id(server: Server) -> None:
    for id in ("zoe", "Ann", "bob"):
        server.user(id)
    listed = strict(server.done("GET", USERS), "user")
    assert [user["id"] for user in listed] == ["Ann", "bob", "root", "zoe"]


def test_what_is_not_sent_or_null_stays(server: Server) -> None:
    made = server.user("alice", email="a@example.com")
    kept = server.done("PUT", path("users", "alice"), {"display_name": "New", "email": None})
    assert kept == {**made, "display_name": "New"}


@pytest.mark.parametrize("body", [{}, {"email": None}, {"something": 1}])
def test_a_change_of_nothing_is_refused(server: Server, body: dict[str, object]) -> None:
    server.user("alice")
    assert server.refused(400, "PUT", path("users", "alice"), body).startswith("No fields to update")


def test_unknown_fields_are_ignored(server: Server) -> None:
    server.user("alice", shoe_size=43)


def test_ids_and_addresses_are_taken_once(server: Server) -> None:
    server.user("alice", email="a@example.com")
    again = {"id": "alice", "display_name": "x"}
    assert "already exists" in server.refused(409, "POST", USERS, again)
    other = {"id": "bob", "display_name": "x", "email": "a@example.com"}
    assert "e-mail address is another user's" in server.refused(409, "POST", USERS, other)
    server.user("carol")
    told = server.refused(409, "PUT", path("users", "carol"), {"email": "a@example.com"})
    assert "e-mail address is another user's" in told


@pytest.mark.parametrize("email", ["", "  "])
def test_no_address_is_null_and_never_an_empty_one(server: Server, email: str) -> None:
    assert "send null" in server.refused(422, "POST", USERS, {"id": "a", "display_name": "x", "email": email})
    server.user("a", email=None)
    server.user("b", email=None)
    assert "send null" in server.refused(422, "PUT", path("users", "a"), {"email": email})


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_unknown_users_are_not_found(server: Server, method: str) -> None:
    body = {"body": {"display_name": "x"}} if method == "PUT" else {}
    assert "'nobody'" in server.refused(404, method, path("users", "nobody"), **body)


@pytest.mark.parametrize("id", ["a/b", "with space", "100%", "ключ", "::", "a:b", "x" * 1000])
def test_any_printable_text_is_an_id(server: Server, id: str) -> None:
    server.user(id)
    assert server.done("GET", path("users", id))["id"] == id
    key = server.key_of(id)
    assert server.done("GET", path("me"), key=key)["id"] == id
    server.done("DELETE", path("users", id), status=204)


@pytest.mark.parametrize(
    "id", ["", "  ", "a\nb", "_unmapped", "sa:robot", "unmapped:telegram:1", "local:local", "user:bob"]
)
def test_ids_that_name_somebody_else_are_refused(server: Server, id: str) -> None:
    assert '"id"' in server.refused(422, "POST", USERS, {"id": id, "display_name": "x"})


def test_the_root_user_stays(server: Server) -> None:
    told = server.refused(409, "DELETE", path("users", "root"))
    assert "LOREBANK_ROOT_USER" in told
    assert server.done("GET", path("users", "root"))["is_active"] is True


def test_the_root_user_is_the_one_of_the_settings(tmp_path: Path) -> None:
    server = Server(tmp_path / "other", root_user="boss")
    server.refused(409, "DELETE", path("users", "boss"))
    server.close()


def test_nothing_of_a_deleted_user_is_inherited(server: Server) -> None:
    server.user("alice")
    server.group("staff", "alice")
    server.grant("alice", "bank:recall")
    server.done("POST", path("users", "alice", "channels"), {"provider": "t", "sender_id": "1"}, status=201)
    key, robot = server.key_of("alice"), server.account("robot", "alice")
    server.done("DELETE", path("users", "alice"), status=204)
    server.user("alice")
    assert server.done("GET", path("groups", "staff", "members")) == []
    assert server.done("GET", path("users", "alice", "channels")) == []
    assert server.done("GET", path("users", "alice", "api-keys")) == []
    assert server.resolved("team", user_id="alice")["access"]["allowed"] is False
    for gone in (key, robot):
        server.refused(401, "GET", path("me"), key=gone)


def test_a_disabled_user_keeps_everything(server: Server) -> None:
    server.user("alice")
    server.group("staff", "alice")
    server.grant("alice", "bank:recall")
    key, robot = server.key_of("alice"), server.account("robot", "alice")
    listed = path("v1", "default", "banks").removeprefix("/ext/hindclaw")
    server.done("PUT", path("users", "alice"), {"is_active": False})
    for refused in (key, robot):
        server.refused(401, "GET", listed, key=refused)
    assert server.resolved("team", user_id="alice")["access"]["allowed"] is False
    server.done("PUT", path("users", "alice"), {"is_active": True})
    for welcome in (key, robot):
        server.done("GET", listed, key=welcome)
    assert server.resolved("team", user_id="alice")["access"]["allowed"] is True
    assert server.done("GET", path("groups", "staff", "members")) == [{"user_id": "alice"}]


def test_of_many_who_take_an_id_at_once_one_gets_it(server: Server) -> None:
    def take(number: int) -> bool:
        request = parse(CreateUserRequest, {"id": "alice", "display_name": str(number)}, Limits())
        try:
            server.guard.run("create_user", Principal("user", "root"), request=request)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(16))) == 1


# channels


def test_senders_are_mapped_and_unmapped(server: Server) -> None:
    server.user("alice")
    where = path("users", "alice", "channels")
    for provider, sender in (("telegram", "2"), ("slack", "U/1"), ("telegram", "1")):
        sent = {"provider": provider, "sender_id": sender}
        assert strict(server.done("POST", where, sent, status=201), "channel") == sent
    assert strict(server.done("GET", where), "channel") == [
        {"provider": "slack", "sender_id": "U/1"},
        {"provider": "telegram", "sender_id": "1"},
        {"provider": "telegram", "sender_id": "2"},
    ]
    server.done("DELETE", path("users", "alice", "channels", "slack", "U/1"), status=204)
    server.done("DELETE", path("users", "alice", "channels", "slack", "U/1"), status=204)
    assert len(server.done("GET", where)) == 2


def test_a_sender_is_one_user_only(server: Server) -> None:
    server.user("alice")
    server.user("bob")
    sent = {"provider": "telegram", "sender_id": "1"}
    server.done("POST", path("users", "alice", "channels"), sent, status=201)
    for user in ("alice", "bob"):
        assert "already mapped" in server.refused(409, "POST", path("users", user, "channels"), sent)
    server.done("DELETE", path("users", "bob", "channels", "telegram", "1"), status=204)
    assert server.done("GET", path("users", "alice", "channels")) == [sent]


def test_senders_of_unknown_users(server: Server) -> None:
    where = path("users", "nobody", "channels")
    assert server.done("GET", where) == []
    server.refused(404, "POST", where, {"provider": "telegram", "sender_id": "1"})


def test_a_provider_has_no_colon(server: Server) -> None:
    server.user("alice")
    sent = {"provider": "tele:gram", "sender_id": "1"}
    assert "provider" in server.refused(422, "POST", path("users", "alice", "channels"), sent)


# keys


def test_a_key_is_shown_once_and_opens_until_it_is_revoked(server: Server) -> None:
    server.user("alice")
    where = path("users", "alice", "api-keys")
    made = strict(server.done("POST", where, {"description": "laptop"}, status=201), "made_key")
    assert re.fullmatch(r"hc_u_alice_[0-9a-f]{32}", made["api_key"])
    assert re.fullmatch(r"[0-9a-f]{16}", made["id"])
    listed = strict(server.done("GET", where), "listed_key")
    assert listed == [{"id": made["id"], "api_key_prefix": "hc_u_alice_" + made["api_key"][11] + "...",
                       "description": "laptop"}]  # fmt: skip
    assert server.done("GET", path("me"), key=made["api_key"])["id"] == "alice"
    server.done("DELETE", path("users", "alice", "api-keys", made["id"]), status=204)
    server.refused(401, "GET", path("me"), key=made["api_key"])
    server.done("DELETE", path("users", "alice", "api-keys", made["id"]), status=204)


def test_a_key_needs_no_body(server: Server) -> None:
    server.user("alice")
    where = path("users", "alice", "api-keys")
    for body in ({}, {"description": None}):
        assert server.done("POST", where, body, status=201)["description"] is None
    assert strict(server.done("POST", where, status=201), "made_key")["description"] is None
    assert len(server.done("GET", where)) == 3


def test_keys_are_listed_in_the_order_of_making(server: Server) -> None:
    server.user("alice")
    where = path("users", "alice", "api-keys")
    for name in "cab":
        server.done("POST", where, {"description": name}, status=201)
    assert [key["description"] for key in server.done("GET", where)] == ["c", "a", "b"]


def test_a_key_may_end(server: Server) -> None:
    server.user("alice")
    where = path("users", "alice", "api-keys")
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    made = strict(server.done("POST", where, {"expires_at": soon}, status=201), "made_key")
    server.done("GET", path("me"), key=made["api_key"])
    (stored,) = (key for key in server.directory.access.data.keys.values() if key.id == made["id"])
    assert stored.expires_at is not None and stored.expires_at > stored.created_at


@pytest.mark.parametrize("when", ["2020-01-01T00:00:00Z", "tomorrow", 5, ""])
def test_a_key_ends_in_the_future(server: Server, when: object) -> None:
    server.user("alice")
    where = path("users", "alice", "api-keys")
    assert "expires_at" in server.refused(422, "POST", where, {"expires_at": when})
    assert server.done("GET", where) == []


def test_keys_of_unknown_users(server: Server) -> None:
    where = path("users", "nobody", "api-keys")
    assert server.done("GET", where) == []
    server.refused(404, "POST", where, {})
    server.done("DELETE", path("users", "nobody", "api-keys", "x"), status=204)


def test_a_key_of_another_user_is_not_revoked(server: Server) -> None:
    server.user("alice")
    server.user("bob")
    made = server.done("POST", path("users", "alice", "api-keys"), {}, status=201)
    server.done("DELETE", path("users", "bob", "api-keys", made["id"]), status=204)
    server.done("GET", path("me"), key=made["api_key"])


def test_no_secret_is_stored(server: Server) -> None:
    server.user("alice")
    key = server.key_of("alice")
    server.close_files()
    files = [file for file in server.settings.data_dir.rglob("*") if file.is_file()]
    assert files and all(key.encode() not in file.read_bytes() for file in files)
    assert all(ROOT.encode() not in file.read_bytes() for file in files)


def test_the_right_that_is_lacking_is_named(server: Server) -> None:
    server.user("bob")
    server.policy("reader", allow("iam:users:read"))
    server.attach("reader", "user", "bob")
    key = server.key_of("bob")
    server.done("GET", USERS, key=key)
    new = {"id": "eve", "display_name": "x"}
    assert server.refused(403, "POST", USERS, new, key=key) == "iam:users:write denied"
    assert server.refused(403, "GET", path("groups"), key=key) == "iam:groups:read denied"


def test_a_right_on_a_bank_is_none_on_the_server(server: Server) -> None:
    server.user("bob")
    server.grant("bob", "iam:users:read", banks=("team", "team::*"))
    assert server.refused(403, "GET", USERS, key=server.key_of("bob")) == "iam:users:read denied"
