"""What debug/resolve says of users, service accounts and senders."""

from __future__ import annotations

import pytest
from iam_server import SHAPES, VERSION, Server, allow, path

RESOLVE = path("debug", "resolve")
PARAMETERS = SHAPES["access"] - {"allowed", "resolved_user_id"}
FULL = {
    "recall_budget": "high",
    "recall_max_tokens": 2048,
    "recall_tag_groups": [{"tags": ["a"], "match": "any"}],
    "retain_roles": ["assistant", "user"],
    "retain_tags": ["role:staff"],
    "retain_every_n_turns": 3,
    "retain_strategy": "alpha",
    "llm_model": "small",
    "llm_provider": "local",
    "exclude_providers": ["web"],
}


def test_a_user_with_all_parameters(server: Server) -> None:
    server.user("alice")
    server.policy("full", allow("bank:recall", "bank:retain", banks=("team",), **FULL))
    server.attach("full", "user", "alice")
    found = server.resolved("team", user_id="alice")
    assert (found["tenant_id"], found["principal_type"], found["bank_policy"]) == ("alice", "user", None)
    assert found["access"] == {"allowed": True, "resolved_user_id": "alice", **FULL}


def test_what_is_denied_has_no_parameters(server: Server) -> None:
    server.user("alice")
    access = server.resolved("team", user_id="alice")["access"]
    assert access == {"allowed": False, "resolved_user_id": "alice", **dict.fromkeys(PARAMETERS)}


def test_an_empty_list_of_roles_is_none_at_all(server: Server) -> None:
    server.user("alice")
    server.grant("alice", "bank:retain", retain_roles=[], retain_tags=[])
    access = server.resolved("team", "bank:retain", user_id="alice")["access"]
    assert (access["retain_roles"], access["retain_tags"]) == ([], None)


def test_an_unknown_user_may_nothing(server: Server) -> None:
    found = server.resolved("team", user_id="nobody")
    assert found["access"] == {"allowed": False, "resolved_user_id": None, **dict.fromkeys(PARAMETERS)}
    assert found["tenant_id"] == "nobody"


def test_an_account_is_resolved_to_its_owner_within_its_scope(server: Server) -> None:
    server.user("alice")
    server.grant("alice", "bank:recall", recall_max_tokens=900)
    server.policy("narrow", allow("bank:recall", banks=("team",), recall_max_tokens=100))
    server.account("robot", "alice", scope="narrow")
    found = server.resolved("team", sa_id="robot")
    assert (found["tenant_id"], found["principal_type"]) == ("sa:robot", "service_account")
    assert found["access"]["resolved_user_id"] == "alice"
    assert (found["access"]["allowed"], found["access"]["recall_max_tokens"]) == (True, 100)
    assert server.resolved("other", sa_id="robot")["access"]["allowed"] is False
    missing = server.resolved("team", sa_id="none")["access"]
    assert (missing["allowed"], missing["resolved_user_id"]) == (False, None)


def test_the_account_comes_before_the_user_and_the_user_before_the_sender(server: Server) -> None:
    server.user("alice")
    server.account("robot", "alice")
    both = server.resolved("team", sa_id="robot", user_id="alice", sender="web:1")
    assert both["principal_type"] == "service_account"
    assert server.resolved("team", user_id="alice", sender="web:1")["principal_type"] == "user"


def test_senders_mapped_and_not(server: Server) -> None:
    server.user("alice")
    server.grant("alice", "bank:recall")
    sender = {"provider": "telegram", "sender_id": "1:2"}
    server.done("POST", path("users", "alice", "channels"), sender, status=201)
    mapped = server.resolved("team", sender="telegram:1:2")
    assert (mapped["tenant_id"], mapped["principal_type"]) == ("alice", "user")
    assert mapped["access"]["allowed"] is True
    stranger = server.resolved("team", sender="telegram:3")
    assert (stranger["tenant_id"], stranger["principal_type"]) == ("_unmapped", "unmapped")
    assert (stranger["access"]["allowed"], stranger["access"]["resolved_user_id"]) == (False, None)


def test_the_conversation_decides_for_the_public(server: Server) -> None:
    override = {"actions": ["bank:recall"], "recall_budget": "low", "recall_max_tokens": 512}
    document = {
        "version": VERSION,
        "public_access": {
            "default": None,
            "overrides": [
                {"scope": "provider", "value": "web", **override},
                {"scope": "channel", "value": "help", "actions": ["bank:reflect"]},
                {"scope": "topic", "value": "7", **override},
            ],
        },
    }
    server.done("PUT", path("banks", "faq", "policy"), {"document": document})

    def allowed(**where: str) -> bool:
        found = server.resolved("faq", sender="x:1", **where)
        assert found["bank_policy"] == document
        return bool(found["access"]["allowed"])

    assert not allowed()
    assert allowed(provider="web")
    assert not allowed(provider="web", channel="help")
    assert allowed(provider="web", channel="help", topic="7")
    assert server.resolved("faq", sender="web:1")["access"]["recall_max_tokens"] == 512


def test_the_conversation_decides_the_strategy(server: Server) -> None:
    server.user("alice")
    server.grant("alice", "bank:retain")
    overrides = [{"scope": "topic", "value": "99001", "strategy": "alpha"}]
    document = {"version": VERSION, "default_strategy": "plain", "strategy_overrides": overrides}
    server.done("PUT", path("banks", "team", "policy"), {"document": document})
    for where, strategy in (({}, "plain"), ({"topic": "99001"}, "alpha"), ({"topic": "1"}, "plain")):
        found = server.resolved("team", "bank:retain", user_id="alice", **where)
        assert found["access"]["retain_strategy"] == strategy


def test_control_plane_actions_are_resolved_too(server: Server) -> None:
    assert server.resolved("*", "iam:users:write", user_id="root")["access"]["allowed"] is True
    assert server.resolved("*", "no:such", user_id="root")["access"]["allowed"] is False


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"bank": "team"}, 400),
        ({"bank": "team", "sender": "telegram"}, 400),
        ({"bank": "team", "sender": ":1"}, 400),
        ({"user_id": "alice"}, 422),
    ],
)
def test_what_is_missing_is_told(server: Server, params: dict[str, str], status: int) -> None:
    assert server.refused(status, "GET", RESOLVE, params=params)


def test_resolving_needs_the_right_to_read_users(server: Server) -> None:
    server.user("bob")
    told = server.refused(
        403, "GET", RESOLVE, params={"bank": "x", "user_id": "bob"}, key=server.key_of("bob")
    )
    assert told == "iam:users:read denied"
