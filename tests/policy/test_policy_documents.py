"""Which documents are accepted, and what is said of the others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_kit import allow, bank_policy, deny, document, sent

from lorebank.access.policy.document import parse_bank_policy, parse_policy
from lorebank.access.policy.values import (
    UNSET,
    VERSION,
    BankPolicy,
    Parameters,
    PublicOverride,
    PublicRule,
    StrategyOverride,
)
from lorebank.errors import InvalidInput

STATEMENT = ("body", "document", "statements", 0)


def refusal(raw: object) -> tuple[tuple[str | int, ...], str]:
    """Where and why an access policy is refused."""
    with pytest.raises(InvalidInput) as caught:
        parse_policy(raw)
    (problem,) = caught.value.fields
    assert caught.value.message == problem.msg
    return problem.loc, problem.msg


def test_every_parameter_is_read() -> None:
    group = {"not": {"tags": ["secret"], "match": "any_strict"}}
    (statement,) = document(
        allow(
            "bank:recall bank:memories:*",
            "a x::*",
            recall_budget="mid",
            recall_max_tokens=1024,
            recall_tag_groups=[group],
            retain_roles=["user", "assistant", "user"],
            retain_tags=["role:staff", "a"],
            retain_every_n_turns=2,
            retain_strategy="fast",
            llm_model="m",
            llm_provider="p",
            exclude_providers=["web", "slack"],
        )
    ).statements
    assert statement.actions == ("bank:recall", "bank:memories:*")
    assert statement.banks == ("a", "x::*")
    assert statement.parameters == Parameters(
        recall_budget="mid",
        recall_max_tokens=1024,
        recall_tag_groups=(group,),
        retain_roles=("assistant", "user"),
        retain_tags=("a", "role:staff"),
        retain_every_n_turns=2,
        retain_strategy="fast",
        llm_model="m",
        llm_provider="p",
        exclude_providers=("slack", "web"),
    )


def test_null_and_empty_lists_are_not_set_but_no_roles_are_no_roles() -> None:
    nothing: dict[str, Any] = dict.fromkeys(Parameters.__slots__)
    empty: dict[str, Any] = {"recall_tag_groups": [], "retain_tags": [], "exclude_providers": []}
    assert document(allow("bank:recall", **nothing)).statements[0].parameters is UNSET
    assert document(allow("bank:recall", **empty)).statements[0].parameters is UNSET
    assert document(allow("bank:recall", retain_roles=[])).statements[0].parameters == Parameters(
        retain_roles=()
    )


def test_what_the_peer_accepts_is_accepted() -> None:
    odd = {**allow("bank:recall", "yoda* a*b :: ::* *"), "comment": "kept by whoever stores it"}
    assert document(odd).statements[0].banks == ("yoda*", "a*b", "::", "::*", "*")
    nothing = {"effect": "deny", "actions": [], "banks": []}
    assert document(nothing).statements[0].actions == ()
    assert document().statements == ()


def test_parameters_of_a_deny_count_for_nothing() -> None:
    assert document({**deny("bank:recall"), "recall_budget": "low"}).statements[0].parameters is UNSET


def test_resources_is_a_synonym_of_banks() -> None:
    raw = {"effect": "allow", "actions": ["bank:recall"], "resources": ["a"]}
    assert document(raw).statements[0].banks == ("a",)
    assert document({**raw, "banks": ["a"]}).statements[0].banks == ("a",)
    loc, message = refusal(sent({**raw, "banks": ["b"]}))
    assert loc == (*STATEMENT, "resources")
    assert "keep one" in message


def test_tag_groups_may_be_a_json_string() -> None:
    groups = [{"tags": ["d:sales"], "match": "any"}]
    made = document(allow("bank:recall", recall_tag_groups=json.dumps(groups))).statements[0]
    assert made.parameters.recall_tag_groups == tuple(groups)
    assert document(allow("bank:recall", recall_tag_groups="null")).statements[0].parameters is UNSET


def test_patterns_and_tags_are_compared_as_bank_ids_and_tags_are() -> None:
    made = document(allow("bank:recall", "cafe\u0301", retain_tags=["cafe\u0301"])).statements[0]
    assert made.banks == ("caf\u00e9",)
    assert made.parameters.retain_tags == ("caf\u00e9",)


@pytest.mark.parametrize(
    ("raw", "loc", "hint"),
    [
        (None, (), "object"),
        ([], (), "object"),
        ({}, ("version",), VERSION),
        ({"version": "2012-10-17", "statements": []}, ("version",), VERSION),
        ({"version": VERSION}, ("statements",), "required"),
        ({"version": VERSION, "statements": {}}, ("statements",), "list"),
        ({"version": VERSION, "statements": [{}] * 1001}, ("statements",), "1000"),
        ({"version": VERSION, "statements": ["x"]}, ("statements", 0), "object"),
    ],
)
def test_a_document_of_another_shape_is_refused(raw: object, loc: tuple[str | int, ...], hint: str) -> None:
    found, message = refusal(raw)
    assert found == ("body", "document", *loc)
    assert hint in message


@pytest.mark.parametrize(
    ("change", "loc", "hint"),
    [
        ({"effect": "Allow"}, ("effect",), "allow, deny"),
        ({"effect": None}, ("effect",), "required"),
        ({"actions": None}, ("actions",), "required"),
        ({"actions": "bank:recall"}, ("actions",), "list"),
        ({"actions": ["bank:recall", 7]}, ("actions", 1), "string"),
        ({"actions": ["bank:recal"]}, ("actions", 0), "'bank:recall'"),
        ({"actions": ["*"]}, ("actions", 0), "'bank:*'"),
        ({"actions": ["bank:recall:*"]}, ("actions", 0), "known action"),
        ({"actions": ["vault:*"]}, ("actions", 0), "known action"),
        ({"actions": ["bank*"]}, ("actions", 0), "known action"),
        ({"banks": None}, ("banks",), "required"),
        ({"banks": ["a", ""]}, ("banks", 1), "empty"),
        ({"banks": ["\ud800"]}, ("banks", 0), "surrogates"),
        ({"banks": ["a" * 4097]}, ("banks", 0), "4096"),
        ({"banks": ["a"] * 1001}, ("banks",), "1000"),
        ({"recall_budget": "huge"}, ("recall_budget",), "low, mid, high"),
        ({"recall_max_tokens": 0}, ("recall_max_tokens",), "from 1"),
        ({"recall_max_tokens": True}, ("recall_max_tokens",), "whole number"),
        ({"recall_max_tokens": 1.0}, ("recall_max_tokens",), "whole number"),
        ({"recall_max_tokens": "1"}, ("recall_max_tokens",), "whole number"),
        ({"recall_max_tokens": 2**31}, ("recall_max_tokens",), "whole number"),
        ({"retain_every_n_turns": -1}, ("retain_every_n_turns",), "from 1"),
        ({"retain_roles": ["user", "owner"]}, ("retain_roles", 1), "assistant"),
        ({"retain_roles": [["user"]]}, ("retain_roles", 0), "assistant"),
        ({"retain_tags": ["ok", "user:bob"]}, ("retain_tags", 1), "server sets"),
        ({"retain_tags": ["agent:x"]}, ("retain_tags", 0), "server sets"),
        ({"retain_tags": [""]}, ("retain_tags", 0), "empty"),
        ({"retain_strategy": ""}, ("retain_strategy",), "empty"),
        ({"llm_model": 4}, ("llm_model",), "string"),
        ({"exclude_providers": "web"}, ("exclude_providers",), "list"),
        ({"recall_tag_groups": "{"}, ("recall_tag_groups",), "JSON string"),
        ({"recall_tag_groups": {"tags": ["a"]}}, ("recall_tag_groups",), "list"),
        ({"recall_tag_groups": [{"tags": "a"}]}, ("recall_tag_groups", 0, "tags"), "list of strings"),
        (
            {"recall_tag_groups": [{"tags": ["a"]}, {"tags": []}]},
            ("recall_tag_groups", 1),
            "restricts nothing",
        ),
        (
            {"recall_tag_groups": [{"not": {"or": [{"tags": []}]}}]},
            ("recall_tag_groups", 0),
            "restricts nothing",
        ),
        ({"recall_tag_groups": [{"and": []}]}, ("recall_tag_groups", 0), "empty 'and'"),
        ({"recall_tag_groups": [{"tags": ["a"], "resolve": "fuzzy"}]}, ("recall_tag_groups", 0), "fuzzy"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], loc: tuple[str | int, ...], hint: str) -> None:
    found, message = refusal(sent({**allow("bank:recall"), **change}))
    assert found == (*STATEMENT, *loc)
    assert hint in message
    assert message.startswith("document.statements.0." + ".".join(map(str, loc)))


def test_an_exact_leaf_without_tags_means_the_untagged() -> None:
    group = {"tags": [], "match": "exact"}
    made = document(allow("bank:recall", recall_tag_groups=[group])).statements[0]
    assert made.parameters.recall_tag_groups == (group,)


def test_a_bank_policy_is_read() -> None:
    made = bank_policy(
        default_strategy="plain",
        strategy_overrides=[{"scope": "topic", "value": "99001", "strategy": "alpha"}],
        public_access={
            "default": {"actions": ["bank:recall"], "recall_budget": "low", "recall_max_tokens": 256},
            "overrides": [{"scope": "provider", "value": "web", "actions": ["bank:reflect"]}],
        },
    )
    assert made == BankPolicy(
        default_strategy="plain",
        strategy_overrides=(StrategyOverride("topic", "99001", "alpha"),),
        public_default=PublicRule(("bank:recall",), "low", 256),
        public_overrides=(PublicOverride("provider", "web", PublicRule(("bank:reflect",))),),
    )


def test_a_bank_policy_may_leave_everything_out() -> None:
    assert bank_policy() == BankPolicy()
    assert bank_policy(default_strategy=None, strategy_overrides=None, public_access=None) == BankPolicy()
    assert bank_policy(public_access={"default": None, "overrides": []}) == BankPolicy()


@pytest.mark.parametrize(
    ("parts", "loc"),
    [
        ({"version": "1"}, ("version",)),
        ({"default_strategy": ""}, ("default_strategy",)),
        (
            {"strategy_overrides": [{"scope": "user", "value": "x", "strategy": "s"}]},
            ("strategy_overrides", 0, "scope"),
        ),
        ({"strategy_overrides": [{"scope": "topic", "strategy": "s"}]}, ("strategy_overrides", 0, "value")),
        ({"strategy_overrides": [{"scope": "topic", "value": "x"}]}, ("strategy_overrides", 0, "strategy")),
        ({"public_access": []}, ("public_access",)),
        ({"public_access": {"default": {}}}, ("public_access", "default", "actions")),
        ({"public_access": {"default": {"actions": ["read"]}}}, ("public_access", "default", "actions", 0)),
        (
            {"public_access": {"default": {"actions": [], "recall_budget": "max"}}},
            ("public_access", "default", "recall_budget"),
        ),
        (
            {"public_access": {"overrides": [{"scope": "topic", "value": 5, "actions": []}]}},
            ("public_access", "overrides", 0, "value"),
        ),
    ],
)
def test_a_wrong_field_of_a_bank_policy_is_named(parts: dict[str, Any], loc: tuple[str | int, ...]) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_bank_policy({"version": VERSION, **parts})
    assert caught.value.fields[0].loc == ("body", "document", *loc)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(("allow", "a")),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ("effect", "actions", "banks", "recall_tag_groups", "retain_roles", "scope", "default")
            ),
            part,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=100)
def test_anything_else_is_refused_and_never_breaks_the_parser(part: object) -> None:
    whole = {"version": VERSION, "statements": [part], "public_access": part, "strategy_overrides": [part]}
    for parse in (parse_policy, parse_bank_policy):
        try:
            parse(whole)
        except InvalidInput as exc:
            assert exc.fields[0].loc[:2] == ("body", "document")


def test_what_is_compared_with_a_tokens_claims_is_in_their_form() -> None:
    """Claims are in NFC; a name in another form would exclude nobody and override nothing."""
    near = {
        "effect": "allow",
        "actions": ["bank:recall"],
        "banks": ["*"],
        "exclude_providers": ["cafe\u0301"],
    }
    document = parse_policy({"version": "2026-03-24", "statements": [near]})
    assert document.statements[0].parameters.exclude_providers == ("caf\u00e9",)
    scope = {"scope": "topic", "value": "cafe\u0301"}
    policy = parse_bank_policy(
        {
            "version": "2026-03-24",
            "strategy_overrides": [{**scope, "strategy": "brief"}],
            "public_access": {"overrides": [{**scope, "actions": []}]},
        }
    )
    assert {one.value for one in (*policy.strategy_overrides, *policy.public_overrides)} == {"caf\u00e9"}
