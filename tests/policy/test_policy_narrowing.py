"""What is left of an owner's rights inside a scope."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy_kit import ASKED, BANKS, attached, few, refs

from lorebank.access.policy.narrow import narrow
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.values import UNSET, Attached, Parameters, Verdict
from lorebank.access.policy.wider import less_restricted

SALES = {"tags": ["d:sales"], "match": "any"}
SECRET = {"not": {"tags": ["secret"], "match": "any_strict"}}


@pytest.mark.parametrize(
    ("field", "owner", "scope", "result"),
    [
        ("recall_budget", "high", "low", "low"),
        ("recall_budget", "low", "high", "low"),
        ("recall_max_tokens", 2048, 1024, 1024),
        ("recall_tag_groups", (SALES,), (SECRET, SALES), (SALES, SECRET)),
        ("retain_roles", ("assistant", "user"), ("tool", "user"), ("user",)),
        ("retain_roles", ("assistant",), ("user",), ()),
        ("retain_roles", (), ("user",), ()),
        ("retain_tags", ("a",), ("b",), ("a", "b")),
        ("retain_every_n_turns", 1, 3, 3),
        ("retain_strategy", "owners", "scopes", "scopes"),
        ("llm_model", "owners", "scopes", "scopes"),
        ("llm_provider", "owners", "scopes", "scopes"),
        ("exclude_providers", ("web",), ("slack",), ("slack", "web")),
    ],
)
def test_intersection_rules(field: str, owner: Any, scope: Any, result: Any) -> None:
    def side(value: Any) -> Verdict:
        return Verdict(True, parameters=UNSET if value is None else Parameters(**{field: value}))

    assert narrow(side(owner), side(scope)).parameters == Parameters(**{field: result})
    for one in (owner, scope):
        assert narrow(side(one), side(None)).parameters == Parameters(**{field: one})
        assert narrow(side(None), side(one)).parameters == Parameters(**{field: one})
    assert narrow(side(None), side(None)).parameters == UNSET


YES = Verdict(True, determining=refs("yes#1"))
NO = Verdict(False, True, refs("no#0"))
NONE = Verdict(False)


@pytest.mark.parametrize(
    ("owner", "scope", "result"),
    [
        (YES, YES, YES),
        (
            YES,
            Verdict(True, determining=refs("a#0", "yes#1")),
            Verdict(True, determining=refs("a#0", "yes#1")),
        ),
        (YES, NO, NO),
        (NO, YES, NO),
        (NO, NO, NO),
        (NO, NONE, NO),
        (NONE, NO, NO),
        (NO, Verdict(False, True, refs("also#2")), Verdict(False, True, refs("also#2", "no#0"))),
        (YES, NONE, NONE),
        (NONE, YES, NONE),
        (NONE, NONE, NONE),
    ],
)
def test_both_must_allow(owner: Verdict, scope: Verdict, result: Verdict) -> None:
    assert narrow(owner, scope) == result


@few
@given(attached(), attached(), st.sampled_from(ASKED), st.sampled_from(BANKS))
def test_a_scope_is_never_wider_than_its_owner_nor_than_itself(
    owner: list[Attached], scope: list[Attached], action: str, bank: str
) -> None:
    outer, inner = PolicySet(owner).evaluate(action, bank), PolicySet(scope).evaluate(action, bank)
    left = narrow(outer, inner)
    assert left.allowed is (outer.allowed and inner.allowed)
    assert left.denied is (outer.denied or inner.denied)
    if left.allowed:
        assert less_restricted(left.parameters, outer.parameters) is None
        assert less_restricted(left.parameters, inner.parameters) is None
    else:
        assert left.parameters == UNSET


@few
@given(attached(), st.sampled_from(ASKED), st.sampled_from(BANKS))
def test_a_scope_that_says_the_same_changes_nothing(same: list[Attached], action: str, bank: str) -> None:
    verdict = PolicySet(same).evaluate(action, bank)
    assert narrow(verdict, verdict) == verdict
