"""Policies, where they are attached, and the policies of banks."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iam_server import VERSION, Server, allow, document, path, strict

POLICIES, ATTACHMENTS = path("policies"), path("policy-attachments")
BUILT_IN = {
    "bank:readwrite": ["bank:recall", "bank:reflect", "bank:retain"],
    "bank:readonly": ["bank:recall", "bank:reflect"],
    "bank:retain-only": ["bank:retain"],
    "bank:admin": ["bank:*"],
    "iam:admin": ["iam:*"],
    "knowledge:admin": ["knowledge:*"],
    "knowledge:host": ["knowledge:host"],
    "template:admin": ["template:*", "bank:create"],
    "template:user": [
        "template:list",
        "template:create",
        "template:install",
        "template:manage",
        "template:source",
        "bank:create",
    ],
    "iam:self-service": [
        "iam:api_keys:read",
        "iam:api_keys:write",
        "iam:service_accounts:read",
        "iam:service_accounts:write",
        "iam:service_account_keys:write",
    ],
}
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)
ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
UNKNOWN = st.dictionaries(TEXT.map(lambda name: f"x-{name}"), ANY_JSON, max_size=3)
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "recall_budget": st.sampled_from(["low", "mid", "high", None]),
        "recall_max_tokens": st.integers(1, 10**9) | st.none(),
        "recall_tag_groups": st.sampled_from(
            [None, [], [{"tags": ["a"], "match": "any"}], [{"not": {"tags": ["s"], "match": "any_strict"}}]]
        ),
        "retain_roles": st.sampled_from([None, [], ["user"], ["user", "assistant"]]),
        "retain_tags": st.sampled_from([None, [], ["role:staff"]]),
        "retain_every_n_turns": st.integers(1, 100) | st.none(),
        "llm_model": st.sampled_from([None, "small"]),
        "exclude_providers": st.sampled_from([None, [], ["web"]]),
    },
)
STATEMENT = st.builds(
    lambda effect, actions, banks, parameters, unknown: {
        **unknown,
        "banks": banks,
        **parameters,
        "effect": effect,
        "actions": actions,
    },
    st.sampled_from(["allow", "deny"]),
    st.lists(st.sampled_from(["bank:recall", "bank:*", "iam:users:read"]), max_size=3),
    st.lists(TEXT.filter(lambda text: text.strip() != "") | st.just("*"), max_size=3),
    PARAMETERS,
    UNKNOWN,
)
DOCUMENT = st.builds(
    lambda statements, unknown: {"statements": statements, **unknown, "version": VERSION},
    st.lists(STATEMENT, max_size=4),
    UNKNOWN,
)
PUBLIC = st.fixed_dictionaries(
    {"actions": st.lists(st.sampled_from(["bank:recall", "bank:reflect"]), max_size=2)},
    optional={"recall_budget": st.sampled_from(["low", None]), "recall_max_tokens": st.integers(1, 10**6)},
)
BANK_DOCUMENT = st.builds(
    lambda known, unknown: {"version": VERSION, **known, **unknown},
    st.fixed_dictionaries(
        {},
        optional={
            "default_strategy": st.sampled_from([None, "advisor-default"]),
            "strategy_overrides": st.just([{"scope": "topic", "value": "99001", "strategy": "alpha"}]),
            "public_access": st.none()
            | st.fixed_dictionaries({}, optional={"default": st.none() | PUBLIC, "overrides": st.just([])}),
        },
    ),
    UNKNOWN,
)
SHARED = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def same(first: Any, second: Any) -> bool:
    """Equal as JSON texts but for the order of keys: 1, 1.0 and true are three values."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def test_a_policy_is_made_read_changed_and_deleted(server: Server) -> None:
    made = server.policy("reader", allow("bank:recall", recall_max_tokens=1024))
    assert made["is_builtin"] is False and made["display_name"] == "reader"
    assert strict(server.done("GET", path("policies", "reader")), "policy") == made
    changed = server.done("PUT", path("policies", "reader"), {"display_name": "Reader"})
    assert strict(changed, "policy") == {**made, "display_name": "Reader"}
    other = document(allow("bank:reflect"))
    changed = server.done("PUT", path("policies", "reader"), {"document": other})
    assert changed == {**made, "display_name": "Reader", "document": other}
    server.done("DELETE", path("policies", "reader"), status=204)
    for method in ("GET", "DELETE"):
        server.refused(404, method, path("policies", "reader"))
    server.refused(404, "PUT", path("policies", "reader"), {"display_name": "x"})


@SHARED
@given(sent=DOCUMENT)
def test_a_policy_is_echoed_as_it_was_sent(server: Server, sent: dict[str, Any]) -> None:
    where = path("policies", "echo")
    if server.ask("GET", where).status_code == 404:
        server.policy("echo")
    for answer in (server.done("PUT", where, {"document": sent}), server.done("GET", where)):
        assert same(strict(answer, "policy")["document"], sent)


@SHARED
@given(sent=BANK_DOCUMENT)
def test_a_bank_policy_is_echoed_as_it_was_sent(server: Server, sent: dict[str, Any]) -> None:
    where = path("banks", "team::a b", "policy")
    for answer in (server.done("PUT", where, {"document": sent}), server.done("GET", where)):
        assert answer["bank_id"] == "team::a b"
        assert same(strict(answer, "bank_policy")["document"], sent)


def test_policies_are_listed_by_id_with_the_built_in_ones(server: Server) -> None:
    server.policy("zz")
    server.policy("aa")
    listed = strict(server.done("GET", POLICIES), "policy")
    assert [one["id"] for one in listed] == sorted([*BUILT_IN, "aa", "zz"])
    for one in listed:
        assert one["is_builtin"] is (one["id"] in BUILT_IN)


@pytest.mark.parametrize("id", BUILT_IN)
def test_built_in_policies_are_there_and_stay(server: Server, id: str) -> None:
    shown = strict(server.done("GET", path("policies", id)), "policy")
    (statement,) = shown["document"]["statements"]
    assert statement == {"effect": "allow", "actions": BUILT_IN[id], "banks": ["*"]}
    assert "built in" in server.refused(409, "PUT", path("policies", id), {"display_name": "x"})
    assert "built in" in server.refused(409, "DELETE", path("policies", id))
    again = {"id": id, "display_name": "x", "document": document()}
    server.refused(409, "POST", POLICIES, again)
    assert server.done("GET", path("policies", id)) == shown


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({}, "version"),
        ({"version": "2024-01-01", "statements": []}, "version"),
        ({"version": VERSION}, "statements"),
        (document({"effect": "maybe", "actions": [], "banks": []}), "effect"),
        (document(allow("bank:recal")), "actions"),
        (document(allow("*")), "actions"),
        (document(allow("bank:recall", recall_budget="huge")), "recall_budget"),
        (document({"effect": "allow", "actions": ["bank:recall"]}), "banks"),
    ],
)
def test_wrong_documents_are_refused_by_field(server: Server, wrong: Any, where: str) -> None:
    sent = {"id": "x", "display_name": "x", "document": wrong}
    detail = server.ask("POST", POLICIES, sent)
    assert detail.status_code == 422
    (problem,) = detail.json()["detail"]
    assert problem["loc"][:2] == ["body", "document"] and where in problem["loc"]
    server.policy("mine")
    server.refused(422, "PUT", path("policies", "mine"), {"document": wrong})
    assert server.done("GET", path("policies", "mine"))["document"] == document()


@pytest.mark.parametrize("wrong", [None, "text", [], 5])
def test_a_document_is_an_object(server: Server, wrong: object) -> None:
    server.refused(422, "POST", POLICIES, {"id": "x", "display_name": "x", "document": wrong})


def test_the_other_name_of_banks_is_taken_and_echoed(server: Server) -> None:
    statement = {"effect": "allow", "actions": ["bank:recall"], "resources": ["team"]}
    made = server.policy("old", statement)
    assert made["document"]["statements"] == [statement]
    server.user("alice")
    server.attach("old", "user", "alice")
    assert server.resolved("team", user_id="alice")["access"]["allowed"] is True


def test_a_document_has_a_size(server: Server) -> None:
    sent = {"id": "x", "display_name": "x", "document": {**document(), "note": "n" * 1_100_000}}
    assert "1048576" in server.refused(422, "POST", POLICIES, sent)


@pytest.mark.parametrize("body", [{}, {"display_name": None, "document": None}])
def test_a_change_of_nothing_is_refused(server: Server, body: dict[str, object]) -> None:
    server.policy("mine")
    assert server.refused(400, "PUT", path("policies", "mine"), body).startswith("No fields to update")


def test_a_policy_in_use_stays_and_says_who_uses_it(server: Server) -> None:
    server.policy("shared", allow("bank:recall"))
    server.user("alice")
    server.group("staff")
    server.account("robot", "alice", scope="shared")
    server.attach("shared", "user", "alice")
    server.attach("shared", "group", "staff")
    told = server.refused(409, "DELETE", path("policies", "shared"))
    for user in ("user 'alice'", "group 'staff'", "service account 'robot'"):
        assert user in told
    server.done("DELETE", path("policy-attachments", "shared", "user", "alice"), status=204)
    server.done("DELETE", path("policy-attachments", "shared", "group", "staff"), status=204)
    assert "scopes service account 'robot'" in server.refused(409, "DELETE", path("policies", "shared"))
    server.done("PUT", path("service-accounts", "robot"), {"scoping_policy_id": None})
    server.done("DELETE", path("policies", "shared"), status=204)


# attachments


def test_a_policy_is_attached_once_to_each(server: Server) -> None:
    server.user("alice")
    server.group("staff")
    server.account("robot", "alice")
    for kind, id in (("user", "alice"), ("service_account", "robot"), ("group", "staff")):
        sent = {"policy_id": "bank:readonly", "principal_type": kind, "principal_id": id, "priority": 3}
        assert strict(server.done("PUT", ATTACHMENTS, sent), "attachment") == sent
        again = {**sent, "priority": -7}
        assert server.done("PUT", ATTACHMENTS, again) == again
    listed = server.done("GET", ATTACHMENTS, params={"policy_id": "bank:readonly"})
    assert [(one["principal_type"], one["principal_id"], one["priority"]) for one in listed] == [
        ("group", "staff", -7),
        ("service_account", "robot", -7),
        ("user", "alice", -7),
    ]
    strict(listed, "attachment")
    for _, kind, id in (tuple(one.values())[:3] for one in listed):
        server.done("DELETE", path("policy-attachments", "bank:readonly", kind, id), status=204)
        server.refused(404, "DELETE", path("policy-attachments", "bank:readonly", kind, id))
    assert server.done("GET", ATTACHMENTS, params={"policy_id": "bank:readonly"}) == []


def test_the_older_names_of_the_principal_are_taken(server: Server) -> None:
    server.group("staff")
    sent = {"policy_id": "bank:readonly", "target_type": "group", "target_id": "staff"}
    made = strict(server.done("PUT", ATTACHMENTS, sent), "attachment")
    assert made == {
        "policy_id": "bank:readonly",
        "principal_type": "group",
        "principal_id": "staff",
        "priority": 0,
    }
    both = {**sent, "principal_type": "group", "principal_id": "staff"}
    assert server.done("PUT", ATTACHMENTS, both) == made
    assert "contradict" in server.refused(422, "PUT", ATTACHMENTS, {**both, "target_id": "other"})


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"policy_id": "none"}, 404),
        ({"principal_id": "none"}, 404),
        ({"principal_type": "group"}, 404),
        ({"principal_type": "service_account"}, 404),
        ({"principal_type": "robot"}, 422),
        ({"principal_type": None}, 422),
        ({"principal_id": None}, 422),
        ({"principal_id": ""}, 422),
        ({"priority": "high"}, 422),
        ({"priority": True}, 422),
        ({"priority": 1.5}, 422),
        ({"priority": 2**31}, 422),
    ],
)
def test_both_ends_of_an_attachment_exist(server: Server, change: dict[str, Any], status: int) -> None:
    server.user("alice")
    sent = {"policy_id": "bank:readonly", "principal_type": "user", "principal_id": "alice"} | change
    server.refused(status, "PUT", ATTACHMENTS, sent)
    assert server.done("GET", ATTACHMENTS, params={"policy_id": "bank:readonly"}) == []


def test_attachments_are_listed_by_principal(server: Server) -> None:
    server.done("POST", path("groups"), {"id": "staff", "display_name": "Staff"}, status=201)
    for policy_id in ("bank:readonly", "bank:retain-only"):
        server.attach(policy_id, "group", "staff")
    at_staff = {"principal_type": "group", "principal_id": "staff"}
    found = server.done("GET", ATTACHMENTS, params=at_staff)
    assert [one["policy_id"] for one in found] == ["bank:readonly", "bank:retain-only"]
    both = at_staff | {"policy_id": "bank:readonly"}
    assert server.done("GET", ATTACHMENTS, params=both) == [found[0]]
    assert server.done("GET", ATTACHMENTS, params=at_staff | {"principal_id": "none"}) == []
    for half in ({"principal_type": "group"}, {"principal_id": "staff", "policy_id": "bank:readonly"}):
        assert "together" in server.refused(422, "GET", ATTACHMENTS, params=half)


def test_attachments_are_listed_by_policy(server: Server) -> None:
    assert "policy_id" in server.refused(422, "GET", ATTACHMENTS)
    assert server.done("GET", ATTACHMENTS, params={"policy_id": "none"}) == []
    roots = server.done("GET", ATTACHMENTS, params={"policy_id": "iam:admin"})
    assert roots == [
        {"policy_id": "iam:admin", "principal_type": "user", "principal_id": "root", "priority": 0}
    ]


def test_attaching_is_an_action_of_its_own(server: Server) -> None:
    server.user("bob")
    server.grant("bob", "iam:policies:read", "iam:policies:write")
    sent = {"policy_id": "bank:admin", "principal_type": "user", "principal_id": "bob"}
    told = server.refused(403, "PUT", ATTACHMENTS, sent, key=server.key_of("bob"))
    assert told == "iam:attachments:write denied"


# policies of banks


def test_a_bank_policy_is_put_read_and_deleted(server: Server) -> None:
    where = path("banks", "advisor", "policy")
    for method in ("GET", "DELETE"):
        assert "advisor" in server.refused(404, method, where)
    first, second = {"version": VERSION}, {"version": VERSION, "default_strategy": "x"}
    for sent in (first, second):
        put = strict(server.done("PUT", where, {"document": sent}), "bank_policy")
        assert put == {"bank_id": "advisor", "document": sent} == server.done("GET", where)
    server.done("DELETE", where, status=204)
    server.refused(404, "GET", where)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"version": "1"},
        {"version": VERSION, "strategy_overrides": [{"scope": "moon", "value": "x", "strategy": "y"}]},
        {"version": VERSION, "public_access": {"default": {"actions": ["bank:fly"]}}},
    ],
)
def test_wrong_bank_policies_are_refused(server: Server, wrong: dict[str, Any]) -> None:
    where = path("banks", "advisor", "policy")
    assert "document" in server.refused(422, "PUT", where, {"document": wrong})
    server.refused(404, "GET", where)


def test_a_bank_policy_under_another_name_of_the_bank_holds_for_the_bank(server: Server) -> None:
    server.done("PUT", "/v1/default/banks/advisor", {})
    server.done("POST", "/v1/default/banks/advisor/aliases", {"alias": "adv"}, status=201)
    public = {"version": VERSION, "public_access": {"default": {"actions": ["bank:recall"]}}}
    put = server.done("PUT", path("banks", "adv", "policy"), {"document": public})
    assert put["bank_id"] == "adv"
    assert server.done("GET", path("banks", "advisor", "policy"))["document"] == public
    assert server.resolved("advisor", sender="web:1")["access"]["allowed"] is True


def test_policies_of_banks_are_actions_of_their_own(server: Server) -> None:
    server.user("bob")
    server.grant("bob", "iam:banks:read")
    key, where = server.key_of("bob"), path("banks", "x", "policy")
    server.refused(404, "GET", where, key=key)
    sent = {"document": {"version": VERSION}}
    assert server.refused(403, "PUT", where, sent, key=key) == "iam:banks:write denied"


def test_stored_documents_that_cannot_be_read_are_named_everywhere(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    for name in ("torn", "strange", "whole"):
        server.policy(name, allow("bank:recall"))
    server.done("PUT", path("banks", "advisor", "policy"), {"document": {"version": VERSION}})
    server.user("alice")
    server.attach("whole", "user", "alice")
    server.account("robot", "alice", "whole")
    assert server.directory.check() == []
    server.close()
    with sqlite3.connect(tmp_path / "data" / "registry.sqlite") as registry:
        registry.execute("UPDATE policies SET document = '{' WHERE id = 'torn'")
        registry.execute("UPDATE policies SET document = '{}' WHERE id = 'strange'")
        registry.execute("DELETE FROM policies WHERE id = 'whole'")
        registry.execute("UPDATE bank_policies SET document = '{'")
    registry.close()
    server = Server(tmp_path / "data")
    assert [text for text in server.directory.check() if text.startswith("access: ")] == [
        "access: the policy 'strange' cannot be read",
        "access: the policy 'torn' cannot be read",
        "access: the policy 'whole' is missing",
        "access: the policy of bank 'advisor' cannot be read",
    ]
    for where in (path("policies"), path("policies", "torn")):
        assert "policy 'torn' cannot be read" in server.refused(500, "GET", where)
    for where, more in (
        (path("banks", "advisor", "policy"), {}),
        (path("debug", "resolve"), {"bank": "advisor"}),
    ):
        told = server.refused(500, "GET", where, params={"user_id": "alice", **more})
        assert "policy of bank 'advisor' cannot be read" in told
    server.done("PUT", path("policies", "torn"), {"document": document()})
    server.done("DELETE", path("policies", "strange"), status=204)
    server.done("DELETE", path("banks", "advisor", "policy"), status=204)
    assert server.directory.check() == ["access: the policy 'whole' is missing"]
    server.close()
