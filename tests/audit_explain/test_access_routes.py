"""Explanations and the list of keys over the API: who may ask, what is answered, what is written down."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from audited import Audited, allow, refused

from lorebank.cli.api import bank_path
from lorebank.cli.wire import path

EXPLAIN = "/v1/lorebank/access/explain"
KEYS = "/v1/lorebank/access/keys"
USERS = "/v1/lorebank/access/users/"
KEY_FIELDS = {
    "id",
    "kind",
    "owner_id",
    "api_key_prefix",
    "description",
    "created_at",
    "expires_at",
    "expired",
    "last_used_at",
}


def test_an_explanation_is_a_question_and_no_access(server: Audited) -> None:
    server.made("bob", allow("bank:recall", "notes", recall_budget="low"))
    told = server.root.get(EXPLAIN, user_id="bob", bank="notes")
    assert (told["action"], told["decision"]) == ("bank:recall", "allow")
    assert told["sources"] == {"recall_budget": ["of-bob#0"]}
    assert "attached to user 'bob'" in told["statements"][0]["origin"]
    assert server.rows(principal="user:bob") == []


def test_a_bank_is_explained_under_its_other_names(server: Audited) -> None:
    server.retain("notes", "Mara moves to Oslo.")
    server.root.post(bank_path("notes", "aliases"), {"alias": "diary"})
    server.made("bob", allow("bank:recall", "notes"))
    told = server.root.get(EXPLAIN, user_id="bob", bank="diary")
    assert (told["bank"], told["allowed"]) == ("notes", True)


def test_circumstances_count_as_a_tokens(server: Audited) -> None:
    server.made("bob", allow("bank:recall", "notes", exclude_providers=["web"]))
    asked = {"user_id": "bob", "bank": "notes"}
    assert server.root.get(EXPLAIN, **asked, provider="slack", topic="9")["circumstances"] == {
        "provider": "slack",
        "topic": "9",
    }
    assert server.root.get(EXPLAIN, **asked, provider="web")["decision"] == "deny"
    told = server.root.get(EXPLAIN, sender="web:77", bank="notes", agent="scout")
    assert told["principal"]["kind"] == "unmapped" and told["circumstances"]["agent"] == "scout"


def test_wrong_questions_name_the_field(server: Audited) -> None:
    for asked in ({}, {"user_id": "root", "sender": "a:b"}):
        message = refused("invalid_input", lambda asked=asked: server.root.get(EXPLAIN, bank="x", **asked))
        assert "user_id, sa_id and sender" in message
    assert "bank" in refused("invalid_input", lambda: server.root.get(EXPLAIN, user_id="root"))
    wrong = {"user_id": "root", "bank": "x", "action": "bank:*"}
    assert "action" in refused("invalid_input", lambda: server.root.get(EXPLAIN, **wrong))
    assert "zoe" in refused("not_found", lambda: server.root.get(EXPLAIN, user_id="zoe", bank="x"))


def test_only_who_may_read_users_may_ask(server: Audited) -> None:
    bob = server.made("bob", allow("bank:* template:*"))
    for target, asked in ((EXPLAIN, {"user_id": "bob", "bank": "x"}), (KEYS, {})):
        message = refused("forbidden", lambda target=target, asked=asked: bob.get(target, **asked))
        assert message == "iam:users:read denied"
    reader = server.made("reader", allow("iam:users:read"))
    assert reader.get(EXPLAIN, user_id="bob", bank="x")["allowed"]


def test_keys_are_listed_with_use_and_end_and_without_their_secret(server: Audited) -> None:
    bob = server.made("bob", allow("bank:recall", "notes"))
    soon = datetime.now(UTC) + timedelta(hours=1)
    asked = {"description": "for an hour", "expires_at": soon.isoformat()}
    made = server.root.post(path("ext", "hindclaw", "users", "bob", "api-keys"), asked)
    used, unused = server.root.get(KEYS, user="bob")["items"]
    assert used.keys() == KEY_FIELDS
    assert (used["last_used_at"], used["expires_at"], used["expired"]) == (None, None, False)
    assert unused["description"] == "for an hour" and unused["id"] == made["id"]
    assert datetime.fromisoformat(unused["expires_at"]) == soon
    assert made["api_key"] not in str(server.root.get(KEYS))
    bob.get(bank_path("notes", "access"))
    used, unused = server.root.get(KEYS, user="bob")["items"]
    assert used["last_used_at"] is not None and unused["last_used_at"] is None
    everybody = server.root.get(KEYS)
    assert everybody["total"] == len(everybody["items"]) == 3
    assert server.root.get(KEYS, service_account="bob")["items"] == []


def test_all_that_a_user_has_is_one_question(server: Audited) -> None:
    root, iam = server.root, "/ext/hindclaw"
    bob = server.made("bob", allow("bank:recall", "notes"))
    root.post(f"{iam}/users/bob/channels", {"provider": "telegram", "sender_id": "7:8"})
    root.post(f"{iam}/groups", {"id": "staff", "display_name": "Staff"})
    root.post(f"{iam}/groups/staff/members", {"user_id": "bob"})
    for kind, id, priority in (("group", "staff", 3), ("service_account", "ci", 0)):
        if kind == "service_account":
            sent = {"id": "ci", "display_name": "CI", "owner_user_id": "bob", "scoping_policy_id": "of-bob"}
            root.post(f"{iam}/service-accounts", sent)
        at = {"principal_type": kind, "principal_id": id, "priority": priority}
        root.put(f"{iam}/policy-attachments", {"policy_id": "bank:readonly", **at})
    bob.get(bank_path("notes", "access"))
    told = root.get(USERS + "bob")
    (key,) = told.pop("keys")
    assert told == {
        "id": "bob",
        "display_name": "bob",
        "email": None,
        "is_active": True,
        "channels": [{"provider": "telegram", "sender_id": "7:8"}],
        "groups": ["staff"],
        "policies": [
            {"policy_id": "of-bob", "through": "user", "via": "bob", "priority": 0},
            {"policy_id": "bank:readonly", "through": "group", "via": "staff", "priority": 3},
        ],
        "service_accounts": [{"id": "ci", "is_active": True, "scopes": ["bank:readonly", "of-bob"]}],
    }
    (listed,) = root.get(KEYS, user="bob")["items"]
    assert key == {"shown": listed["api_key_prefix"]} | {
        name: listed[name] for name in listed.keys() - {"api_key_prefix", "kind", "owner_id"}
    }
    assert key["last_used_at"] is not None
    assert root.get(USERS + "root")["service_accounts"] == []
    assert "zoe" in refused("not_found", lambda: root.get(USERS + "zoe"))
    assert refused("forbidden", lambda: bob.get(USERS + "bob")) == "iam:users:read denied"
