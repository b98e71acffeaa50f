"""What several allows say together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_kit import ASKED, BANKS, allow, at_group, at_user, attached, deny, few

from lorebank.access.policy.merge import FIELDS, merged
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.values import UNSET, Attached, Parameters
from lorebank.access.policy.wider import less_restricted

SALES = {"tags": ["d:sales"], "match": "any"}
SECRET = {"not": {"tags": ["secret"], "match": "any_strict"}}
SINGLES = ("retain_strategy", "llm_model", "llm_provider")


def together(*values: Any, field: str) -> Any:
    """What statements with these values of a field (None: without it) say together."""
    said = [{} if value is None else {field: value} for value in values]
    policies = PolicySet([at_user("p", *(allow("bank:recall", **one) for one in said))])
    return getattr(policies.evaluate("bank:recall", "a").parameters, field)


@pytest.mark.parametrize(
    ("field", "values", "result"),
    [
        ("recall_budget", ("low", "high", "mid"), "high"),
        ("recall_budget", ("low", None), "low"),
        ("recall_budget", (None, None), None),
        ("recall_max_tokens", (1024, 2048, 512), 2048),
        ("recall_max_tokens", (None, 7), 7),
        ("recall_tag_groups", ([SALES], None, [SECRET]), (SALES, SECRET)),
        (
            "recall_tag_groups",
            ([SALES, SECRET], [SALES], [{"match": "any", "tags": ["d:sales"]}]),
            (SALES, SECRET),
        ),
        ("recall_tag_groups", ([], None), None),
        ("retain_roles", (["user"], ["tool", "user"], None), ("tool", "user")),
        ("retain_roles", ([], ["tool"]), ("tool",)),
        ("retain_roles", ([], None), ()),
        ("retain_roles", (None, None), None),
        ("retain_tags", (["b"], ["a", "b"]), ("a", "b")),
        ("retain_tags", ([], None), None),
        ("retain_every_n_turns", (5, 2, None, 9), 2),
        ("exclude_providers", (["web"], ["slack"]), ("slack", "web")),
        ("exclude_providers", ([], []), None),
    ],
)
def test_merge_rules(field: str, values: tuple[Any, ...], result: Any) -> None:
    assert together(*values, field=field) == result
    if field != "recall_tag_groups":
        assert together(*reversed(values), field=field) == result


def contest(field: str, *attached: Attached, bank: str = "a::b") -> Any:
    """The value that wins a single-value field, the same in any order of attachment."""
    found = {
        getattr(PolicySet(order).evaluate("bank:retain", bank).parameters, field)
        for order in (attached, attached[::-1])
    }
    (value,) = found
    return value


@pytest.mark.parametrize("field", SINGLES)
def test_who_wins_a_single_value(field: str) -> None:
    def says(value: str, banks: str = "*") -> dict[str, Any]:
        return allow("bank:retain", banks, **{field: value})

    user_wild, group_exact = at_user("a", says("user")), at_group("z", says("group", "a::b"), priority=99)
    assert contest(field, user_wild, group_exact) == "user"
    assert (
        contest(field, at_user("a", says("exact", "a::b")), at_user("z", says("wild"), priority=99))
        == "exact"
    )
    assert (
        contest(field, at_user("a", says("exact", "a::b")), at_user("z", says("pre", "a::*"), priority=9))
        == "exact"
    )
    assert contest(field, at_user("a", says("pre", "a::*")), at_user("z", says("wild"), priority=99)) == "pre"
    assert contest(field, at_group("a", says("high"), priority=1), at_group("z", says("low"))) == "high"
    assert contest(field, at_group("a", says("small")), at_group("b", says("large"))) == "large"
    assert contest(field, at_group("a", says("first"), says("second"))) == "first"
    assert contest(field, at_group("a", says("wild"), says("exact", "a::b"))) == "exact"
    assert contest(field, at_group("a", says("both", "* a::b")), at_group("b", says("wild"))) == "both"
    assert contest(field, at_group("a", says("one")), at_user("b", allow("bank:retain", "a::b"))) == "one"


def test_the_same_policy_counts_with_its_best_attachment() -> None:
    statement = allow("bank:retain", retain_strategy="s", recall_tag_groups=[SALES])
    other = at_group("m", allow("bank:retain", retain_strategy="t"), priority=5)
    twice = [at_group("a", statement, priority=1), at_group("a", statement, priority=9), other]
    parameters = PolicySet(twice).evaluate("bank:retain", "x").parameters
    assert parameters.retain_strategy == "s"
    assert parameters.recall_tag_groups == (SALES,)


def test_priority_touches_nothing_but_single_values() -> None:
    weak = at_group(
        "a", allow("bank:recall", recall_budget="high", recall_max_tokens=9, retain_every_n_turns=1)
    )
    strong = at_user(
        "b",
        allow("bank:recall", recall_budget="low", recall_max_tokens=1, retain_every_n_turns=5),
        priority=99,
    )
    found = PolicySet([weak, strong]).evaluate("bank:recall", "a").parameters
    assert (found.recall_budget, found.recall_max_tokens, found.retain_every_n_turns) == ("high", 9, 1)


def test_only_statements_that_match_have_a_say() -> None:
    policies = PolicySet(
        [
            at_user(
                "p",
                allow("bank:recall", "a", recall_budget="low"),
                allow("bank:recall", "b", recall_budget="high"),
                allow("bank:retain", "a", recall_budget="high"),
            )
        ]
    )
    assert policies.evaluate("bank:recall", "a").parameters.recall_budget == "low"
    assert policies.evaluate("bank:memories:get", "a").parameters.recall_budget == "low"


def test_the_seeds_upgrade_adds_to_the_baseline() -> None:
    base = at_group(
        "default-access",
        allow(
            "bank:recall bank:reflect bank:retain",
            recall_budget="mid",
            recall_max_tokens=1024,
            retain_roles=["user", "assistant"],
            retain_every_n_turns=1,
        ),
    )
    upgrade = at_group(
        "executive-upgrade", allow("bank:recall", recall_budget="high", recall_max_tokens=2048), priority=10
    )
    policies = PolicySet([base, upgrade])
    recall = policies.evaluate("bank:recall", "advisor").parameters
    assert (recall.recall_budget, recall.recall_max_tokens) == ("high", 2048)
    assert recall.retain_roles == ("assistant", "user")
    assert policies.evaluate("bank:retain", "advisor").parameters.recall_budget == "mid"


def test_of_nothing_nothing_is_merged() -> None:
    assert merged([], lambda name: ()) is UNSET
    assert merged([UNSET, UNSET], lambda name: (0, 1)) == UNSET


@few
@given(attached(("allow",)), attached(("allow",)), st.sampled_from(ASKED), st.sampled_from(BANKS))
def test_another_allow_never_takes_an_action_away(
    some: list[Attached], more: list[Attached], action: str, bank: str
) -> None:
    if PolicySet(some).evaluate(action, bank).allowed:
        assert PolicySet(some + more).evaluate(action, bank).allowed


@few
@given(attached(), attached(("allow",)), st.sampled_from(ASKED), st.sampled_from(BANKS))
def test_no_allow_lifts_a_deny(some: list[Attached], more: list[Attached], action: str, bank: str) -> None:
    before, after = PolicySet(some).evaluate(action, bank), PolicySet(more + some).evaluate(action, bank)
    assert before.denied is after.denied
    if before.denied:
        assert (after.allowed, after.parameters) == (False, UNSET)


@few
@given(attached(), st.sampled_from(ASKED), st.sampled_from(BANKS))
def test_one_more_deny_denies_exactly_what_it_names(some: list[Attached], action: str, bank: str) -> None:
    stricter = PolicySet([*some, at_group("no", deny(action, "a* a::*"))])
    if bank.startswith("a::") or bank == "a*":
        assert stricter.evaluate(action, bank).denied
    else:
        assert stricter.evaluate(action, bank) == PolicySet(some).evaluate(action, bank)


@few
@given(attached(), st.sampled_from(ASKED), st.sampled_from(BANKS), st.randoms())
def test_the_order_of_attachment_changes_nothing(
    some: list[Attached], action: str, bank: str, random: Any
) -> None:
    shuffled = list(some)
    random.shuffle(shuffled)
    first, second = PolicySet(some).evaluate(action, bank), PolicySet(shuffled).evaluate(action, bank)
    assert first == second


@few
@given(attached(("allow",)), attached(("allow",)), st.sampled_from(ASKED), st.sampled_from(BANKS))
def test_more_allows_only_loosen_limits_and_only_add_filters(
    some: list[Attached], more: list[Attached], action: str, bank: str
) -> None:
    few, many = PolicySet(some).evaluate(action, bank), PolicySet(some + more).evaluate(action, bank)
    if not few.allowed:
        return
    before, after = few.parameters, many.parameters
    for field in ("recall_tag_groups", "retain_tags", "exclude_providers", "retain_roles"):
        assert all(one in (getattr(after, field) or ()) for one in getattr(before, field) or ())
    for field in FIELDS:
        assert getattr(before, field) is None or getattr(after, field) is not None
    for field in ("recall_budget", "recall_max_tokens", "retain_every_n_turns"):
        limit = getattr(before, field)
        if limit is not None:
            loosened = Parameters(**{field: getattr(after, field)})
            assert less_restricted(Parameters(**{field: limit}), loosened) is None
