"""An explanation agrees with the decision, names what decided, and says what would have to change."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.directory import (
    AccessData,
    Attachment,
    Group,
    Policy,
    PrincipalType,
    ServiceAccount,
    User,
)
from lorebank.access.explaining import Explained, explained
from lorebank.access.principal import Circumstances
from lorebank.access.rules import PolicyRules
from lorebank.access.subject import check_known, subject
from lorebank.errors import BadRequest, InvalidInput, NotFound
from lorebank.ids import BankId
from small_directory import SmallDirectory

VERSION = "2026-03-24"
NOWHERE = Circumstances()


def statement(effect: str, actions: str, banks: str, **parameters: Any) -> dict[str, Any]:
    return {"effect": effect, "actions": actions.split(), "banks": banks.split(), **parameters}


def policy(policy_id: str, *statements: dict[str, Any]) -> Policy:
    return Policy(policy_id, policy_id, json.dumps({"version": VERSION, "statements": statements}))


def attached(*pairs: tuple[str, PrincipalType, str]) -> dict[Any, tuple[Attachment, ...]]:
    made: dict[Any, tuple[Attachment, ...]] = {}
    for policy_id, kind, id in pairs:
        made[kind, id] = (*made.get((kind, id), ()), Attachment(policy_id, kind, id))
    return made


def office() -> AccessData:
    """Bob in the staff, Eve disabled, a narrowed robot of Bob's, a shop with public access."""
    policies = (
        policy(
            "reads", statement("allow", "bank:recall", "*", recall_budget="low", exclude_providers=["web"])
        ),
        policy("staff", statement("allow", "bank:recall", "*", recall_budget="mid", recall_max_tokens=512)),
        policy("closed", statement("deny", "bank:recall", "hr")),
        policy("writes", statement("allow", "bank:retain", "notes", retain_strategy="brief")),
        policy("robot", statement("allow", "bank:recall", "notes", recall_max_tokens=100)),
        policy("admin", statement("allow", "iam:*", "*")),
        Policy("broken", "broken", '{"version": "1"}'),
    )
    public = {"overrides": [{"scope": "provider", "value": "web", "actions": ["bank:recall"]}]}
    return AccessData(
        1,
        users={"bob": User("bob", "Bob"), "eve": User("eve", "Eve", None, False), "kim": User("kim", "Kim")},
        channels={("telegram", "1"): "bob", ("telegram", "2"): "eve"},
        groups={"staff": Group("staff", "Staff")},
        groups_of={"bob": ("staff",)},
        policies={one.id: one for one in policies},
        attachments=attached(
            ("reads", "user", "bob"),
            ("writes", "user", "bob"),
            ("admin", "user", "bob"),
            ("staff", "group", "staff"),
            ("closed", "group", "staff"),
            ("broken", "user", "kim"),
        ),
        service_accounts={
            "ci": ServiceAccount("ci", "bob", "CI", True, "robot"),
            "lost": ServiceAccount("lost", "bob", "Lost", True, "gone"),
            "off": ServiceAccount("off", "bob", "Off", False),
            "idle": ServiceAccount("idle", "eve", "Idle", True),
        },
        bank_policies={"shop": json.dumps({"version": VERSION, "public_access": public})},
    )


def ask(
    action: str, bank: str, data: AccessData | None = None, where: Circumstances = NOWHERE, **who: str
) -> Explained:
    data = data or office()
    rules = PolicyRules(SmallDirectory(data), root="root")
    principal = subject(data, where, **who)
    check_known(data, principal)
    return explained(rules, principal, action, bank)


def test_a_deny_is_named_with_the_group_that_it_comes_through() -> None:
    told = ask("bank:recall", "hr", user_id="bob").to_json()
    assert (told["decision"], told["reason"]) == ("deny", "a deny statement matches")
    decided = [one for one in told["statements"] if one["decided"]]
    assert [(one["statement"], one["effect"]) for one in decided] == [("closed#0", "deny")]
    assert "staff" in decided[0]["origin"]
    assert {one["statement"] for one in told["statements"] if not one["decided"]} == {"reads#0", "staff#0"}
    assert any("closed#0" in change for change in told["changes"])
    assert told["parameters"] == told["sources"] == {}


def test_each_parameter_names_its_statement() -> None:
    told = ask("bank:recall", "notes", user_id="bob").to_json()
    assert told["allowed"] and told["parameters"]["recall_budget"] == "mid"
    assert told["sources"] == {
        "recall_budget": ["staff#0"],
        "recall_max_tokens": ["staff#0"],
        "exclude_providers": ["reads#0"],
    }
    assert told["auto_tags"] == ["user:bob"]


def test_what_narrows_an_account_is_named() -> None:
    told = ask("bank:recall", "notes", sa_id="ci").to_json()
    assert told["principal"] == {"kind": "service_account", "id": "ci", "name": "sa:ci", "user": "bob"}
    assert told["sources"]["recall_max_tokens"] == ["robot#0"]
    refused = ask("bank:retain", "notes", sa_id="ci")
    assert refused.outcome == "deny"
    assert any("robot" in change for change in refused.changes)


def test_a_refusal_by_the_scope_alone_says_which_policy_refuses() -> None:
    silent = ask("bank:retain", "notes", sa_id="ci")
    assert silent.reason == "the scope of the service account does not allow it: policy 'robot'"
    data = office()
    closed = {**data.attachments, **attached(("closed", "service_account", "ci"))}
    robot = policy("robot", statement("allow", "bank:recall", "hr"))
    data = replace(data, attachments=closed, policies={**data.policies, "robot": robot})
    data = replace(data, groups_of={})
    assert ask("bank:recall", "hr", data, user_id="bob").decision.allowed
    denied = ask("bank:recall", "hr", data, sa_id="ci")
    assert denied.reason == "the scope of the service account denies it: policy 'closed'"
    both = ask("bank:retain", "notes", data, sa_id="ci")
    assert both.reason.endswith("does not allow it: policy 'closed', 'robot'")


def test_a_refusal_by_the_owners_policies_does_not_blame_the_scope() -> None:
    assert ask("bank:delete", "notes", sa_id="ci").reason == "no allow statement matches"
    assert ask("bank:recall", "hr", sa_id="ci").reason == "a deny statement matches"


def test_a_near_miss_that_is_mended_allows() -> None:
    told = ask("bank:retain", "logs", user_id="bob").to_json()
    miss = next(one for one in told["near_misses"] if one["statement"] == "writes#0")
    assert (miss["lacks"], miss["has"]) == ("bank", ["notes"])
    data = office()
    mended = policy("writes", statement("allow", "bank:retain", "notes logs"))
    data = replace(data, policies={**data.policies, "writes": mended})
    assert ask("bank:retain", "logs", data, user_id="bob").outcome == "allow"


def test_an_excluded_provider_is_named_also_where_recall_excludes_it() -> None:
    web = Circumstances(provider="web")
    for action in ("bank:recall", "bank:retain"):
        told = ask(action, "notes", where=web, user_id="bob")
        assert (told.outcome, told.reason) == ("deny", "the caller's provider is excluded")
        assert any("'web'" in change and "reads#0" in change for change in told.changes), told.changes
    assert ask("bank:retain", "notes", where=Circumstances(provider="slack"), user_id="bob").decision.allowed


@pytest.mark.parametrize(
    ("who", "reason", "change"),
    [
        ({"user_id": "eve"}, "the user 'eve' is not active", "Enable the user 'eve'."),
        ({"sender": "telegram:2"}, "the user 'eve' is not active", "Enable the user 'eve'."),
        (
            {"sa_id": "off"},
            "the service account 'off' is not active",
            "Enable the service account 'off'.",
        ),
        ({"sa_id": "idle"}, "the owner 'eve' is not active", "Enable the owner 'eve'."),
    ],
)
def test_whoever_is_disabled_has_no_credential(who: dict[str, str], reason: str, change: str) -> None:
    told = ask("bank:recall", "notes", **who)
    assert (told.outcome, told.to_json()["reason"]) == ("unauthenticated", reason)
    assert told.changes == (change,) and told.explanation is None


def test_an_owner_is_not_named_to_whoever_holds_the_accounts_key() -> None:
    """The decision's own reason is what a refused credential is told."""
    assert ask("bank:recall", "notes", sa_id="idle").decision.reason == (
        "the owner of the service account is not active"
    )


@pytest.mark.parametrize(("who", "named"), [({"user_id": "kim"}, "'broken'"), ({"sa_id": "lost"}, "'gone'")])
def test_a_policy_that_is_missing_or_broken_is_a_failure_that_names_it(
    who: dict[str, str], named: str
) -> None:
    told = ask("bank:recall", "notes", **who)
    assert told.outcome == "failure" and named in told.decision.reason
    assert named in told.sentences[0] and told.changes


def test_a_token_does_not_open_the_control_plane_and_says_so() -> None:
    told = ask("iam:users:read", "notes", sender="telegram:1")
    assert told.outcome == "deny" and told.bank == "*"
    assert "token_admin" in told.changes[0]
    assert ask("iam:users:read", "notes", user_id="bob").outcome == "allow"


def test_a_stranger_is_told_what_public_access_says() -> None:
    allowed = ask("bank:recall", "shop", sender="web:77").to_json()
    assert allowed["allowed"] and allowed["circumstances"] == {"provider": "web", "sender": "web:77"}
    assert [one["statement"] for one in allowed["statements"]] == ["bank-policy:shop#0"]
    refused = ask("bank:retain", "shop", sender="web:77")
    assert refused.decision.reason == "the bank's public access does not list it"
    elsewhere = ask("bank:recall", "shop", sender="telegram:9").to_json()
    assert elsewhere["near_misses"][0]["lacks"] == "context"


def test_what_everybody_may_needs_no_statement() -> None:
    told = ask("bank:access", "hr", user_id="bob")
    assert told.decision.allowed and told.explanation is None and "every caller" in told.sentences[0]
    assert not ask("iam:me:read", "x", sa_id="ci").decision.allowed


def test_what_cannot_be_asked_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="bank:recall") as wrong:
        ask("bank:recal", "notes", user_id="bob")
    assert wrong.value.fields[0].loc == ("query", "action")
    for who in ({"user_id": "zoe"}, {"sa_id": "zoe"}):
        with pytest.raises(NotFound, match="zoe"):
            ask("bank:recall", "notes", **who)
    with pytest.raises(BadRequest, match="provider:id"):
        ask("bank:recall", "notes", sender="telegram")


ACTIONS = st.sampled_from(["bank:recall", "bank:retain", "bank:memories:list", "bank:*", "bank:stats"])
BANKS = st.sampled_from(["a", "b::c", "b::*", "*"])
STATEMENTS = st.builds(
    lambda effect, actions, banks, extra: {"effect": effect, "actions": actions, "banks": banks} | extra,
    st.sampled_from(["allow", "allow", "deny"]),
    st.lists(ACTIONS, max_size=2),
    st.lists(BANKS, max_size=2),
    st.sampled_from(
        [
            {},
            {"recall_budget": "low"},
            {"exclude_providers": ["web"]},
            {"recall_tag_groups": [{"tags": ["t"]}]},
        ]
    ),
)
POLICIES = st.lists(STATEMENTS, max_size=3)


@given(
    own=POLICIES,
    group=POLICIES,
    scope=POLICIES,
    action=st.sampled_from(
        ["bank:recall", "bank:retain", "bank:memories:list", "bank:stats", "iam:users:read"]
    ),
    bank=st.sampled_from(["a", "b::c", "d"]),
    provider=st.sampled_from([None, "web", "chat"]),
    who=st.sampled_from([{"user_id": "bob"}, {"sa_id": "ci"}, {"sender": "web:1"}]),
)
def test_the_statements_tell_the_same_as_the_decision(
    own: list[Any],
    group: list[Any],
    scope: list[Any],
    action: str,
    bank: str,
    provider: str | None,
    who: dict[str, str],
) -> None:
    data = AccessData(
        1,
        users={"bob": User("bob", "Bob")},
        groups_of={"bob": ("staff",)},
        policies={name: policy(name, *given) for name, given in (("p", own), ("g", group), ("s", scope))},
        attachments=attached(("p", "user", "bob"), ("g", "group", "staff"), ("g", "group", "_default")),
        service_accounts={"ci": ServiceAccount("ci", "bob", "CI", True, "s")},
    )
    told = ask(action, bank, data, Circumstances(provider=provider), **who)
    rules = PolicyRules(SmallDirectory(data), root="root")
    place = BankId(bank) if action.startswith("bank:") else None
    assert told.decision == rules.decide(told.principal, action, place)
    if told.explanation is not None:
        assert told.explanation.allowed == told.decision.allowed
        if told.decision.allowed:
            assert told.to_json()["parameters"].keys() == told.to_json()["sources"].keys()
    assert told.sentences and (told.decision.allowed or told.changes)
