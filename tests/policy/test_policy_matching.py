"""Which statements speak of which question."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_kit import ACTIONS as GRANTED
from policy_kit import BANKS, PATTERNS, allow, at_group, at_user, deny, document, refs

from lorebank.access.actions import ACTIONS, covers
from lorebank.access.policy.match import (
    action_matches,
    bank_level,
    closest,
    granting,
    patterns_of,
    prefix_sizes,
    statement_level,
)
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.values import Verdict


@pytest.mark.parametrize(
    ("pattern", "bank", "level"),
    [
        ("*", "a", 1),
        ("*", "a::b", 1),
        ("*", "*", 1),
        ("yoda::*", "yoda::group:-100::42", 2),
        ("yoda::*", "yoda::", 2),
        ("yoda::*", "yoda", 0),
        ("yoda::*", "yoda:x", 0),
        ("yoda::*", "yoda::*", 2),
        ("::*", "::a", 2),
        ("::*", "a::a", 0),
        ("yoda*", "yoda1", 0),
        ("yoda*", "yoda*", 3),
        ("a", "a", 3),
        ("a", "A", 0),
        ("a", "*", 0),
        ("*::*", "*", 0),
    ],
)
def test_bank_patterns(pattern: str, bank: str, level: int) -> None:
    assert bank_level(pattern, bank) == level


@pytest.mark.parametrize(
    ("granted", "asked", "directly", "at_all"),
    [
        ("bank:recall", "bank:recall", True, True),
        ("bank:*", "bank:memories:delete", True, True),
        ("bank:memories:*", "bank:memories:get", True, True),
        ("bank:memories:*", "bank:documents:get", False, False),
        ("bank:recall", "bank:memories:list", False, True),
        ("bank:recall", "bank:mental_models:get", False, True),
        ("bank:recall", "bank:memories:delete", False, False),
        ("bank:reflect", "bank:memories:list", False, False),
        ("bank:retain", "bank:operations:get", False, True),
        ("bank:retain", "bank:operations:cancel", False, False),
        ("iam:service_accounts:*", "iam:service_account_keys:write", False, True),
        ("iam:*", "bank:recall", False, False),
        ("*", "bank:recall", False, False),
        ("bank:memories:list", "bank:recall", False, False),
    ],
)
def test_actions(granted: str, asked: str, directly: bool, at_all: bool) -> None:
    assert action_matches(granted, asked, implied=False) is directly
    assert action_matches(granted, asked) is at_all


def test_the_names_that_grant_an_action_are_those_that_cover_it() -> None:
    words = {*ACTIONS, *GRANTED, "*", "bank:tags:*", "template:*", "iam:server:*", "bank:recall:*"}
    for asked in ACTIONS:
        assert {word for word in words if covers(word, asked)} == words & granting(asked, True)
        direct = {word for word in words if action_matches(word, asked, implied=False)}
        assert direct == words & granting(asked, False)


@given(st.text("ab:*", max_size=8), st.text("ab:*", min_size=1, max_size=8))
def test_the_patterns_looked_up_are_those_that_match(pattern: str, bank: str) -> None:
    found = dict(patterns_of(bank, prefix_sizes([pattern])))
    assert found.get(pattern, 0) == bank_level(pattern, bank)
    assert list(found.values()) == sorted(found.values())
    assert dict(patterns_of(bank, range(2, 12))).get(pattern, 0) == bank_level(pattern, bank)
    assert all(bank_level(one, bank) == level for one, level in found.items())


@given(st.lists(st.sampled_from(PATTERNS), max_size=4), st.sampled_from(BANKS))
def test_the_closest_pattern_is_one_that_matches_best(patterns: list[str], bank: str) -> None:
    levels = [bank_level(pattern, bank) for pattern in patterns]
    found = closest(patterns, bank)
    assert (0 if found is None else bank_level(found, bank)) == max(levels, default=0)


def test_a_statement_is_as_close_as_its_closest_pattern() -> None:
    (statement,) = document(allow("bank:recall", "* a::* a::b")).statements
    assert [statement_level(statement, "bank:recall", bank) for bank in ("a::b", "a::c", "a")] == [3, 2, 1]
    assert statement_level(statement, "bank:retain", "a") == 0
    assert statement_level(statement, "bank:graph", "a") == 1
    assert statement_level(statement, "bank:graph", "a", implied=False) == 0


def test_nothing_attached_allows_nothing() -> None:
    assert PolicySet(()).evaluate("bank:recall", "a") == Verdict(False)


def test_a_deny_wins_whatever_the_order_the_way_and_the_priority() -> None:
    yes = at_user("a-yes", allow("bank:*", "hr", recall_budget="high"), priority=100)
    no = at_group("z-no", allow("bank:recall"), deny("bank:recall", "hr"), priority=-100)
    for attached in ([yes, no], [no, yes]):
        policies = PolicySet(attached)
        assert policies.evaluate("bank:recall", "hr") == Verdict(False, True, refs("z-no#1"))
        assert policies.evaluate("bank:retain", "hr").allowed
        assert policies.evaluate("bank:recall", "x").determining == refs("z-no#0")


def test_a_deny_also_denies_what_the_action_implies_and_no_more() -> None:
    policies = PolicySet([at_user("p", allow("bank:*"), deny("bank:recall"))])
    assert policies.evaluate("bank:memories:list", "a").denied
    assert policies.evaluate("bank:mental_models:get", "a").denied
    assert policies.evaluate("bank:memories:delete", "a").allowed
    assert policies.evaluate("bank:reflect", "a").allowed


def test_a_deny_of_what_is_implied_leaves_the_action() -> None:
    policies = PolicySet([at_user("p", allow("bank:recall"), deny("bank:memories:list"))])
    assert policies.evaluate("bank:recall", "a").allowed
    assert policies.evaluate("bank:memories:list", "a").denied
    assert policies.evaluate("bank:memories:get", "a").allowed


def test_without_implication_only_names_and_families_count() -> None:
    policies = PolicySet([at_user("p", allow("bank:retain")), at_user("q", allow("bank:operations:*", "b"))])
    assert policies.evaluate("bank:operations:get", "a").allowed
    assert not policies.evaluate("bank:operations:get", "a", implied=False).allowed
    assert policies.evaluate("bank:operations:get", "b", implied=False).determining == refs("q#0")


def test_the_server_is_matched_by_the_star_alone() -> None:
    policies = PolicySet([at_user("p", allow("iam:*", "a x::* **"))])
    assert not policies.evaluate("iam:users:read", "*").allowed
    assert PolicySet([at_user("p", allow("iam:*"))]).evaluate("iam:users:read", "*").allowed


def test_determining_statements_are_sorted_and_each_told_once() -> None:
    one = (allow("bank:retain"), allow("bank:recall"), allow("bank:*"))
    policies = PolicySet([at_group("q", *one), at_user("p", *one), at_group("q", *one), at_user("q", *one)])
    assert policies.evaluate("bank:recall", "a").determining == refs("p#1", "p#2", "q#1", "q#2")


@given(st.data())
@settings(max_examples=30)
def test_answers_do_not_depend_on_what_was_asked_before(data: st.DataObject) -> None:
    attached = [
        at_user("p", allow("bank:recall", "a a::*"), deny("bank:reflect", "a::b")),
        at_group("q", allow("bank:*", "b")),
    ]
    used = PolicySet(attached)
    for _ in range(6):
        action, bank = data.draw(st.sampled_from(sorted(ACTIONS))), data.draw(st.sampled_from(BANKS))
        assert used.evaluate(action, bank) == PolicySet(attached).evaluate(action, bank)


def test_more_questions_than_are_kept_are_answered_all_the_same() -> None:
    policies = PolicySet([at_user("p", allow("bank:recall", " ".join(f"b{n}" for n in range(1000))))])
    asked = ("bank:recall", "bank:graph", "bank:read", "bank:retain", "bank:stats")
    for action in asked:
        for n in range(1000):
            assert policies.evaluate(action, f"b{n}").allowed is (action in asked[:3])
