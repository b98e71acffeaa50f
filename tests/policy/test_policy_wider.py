"""Whether somebody may more than somebody else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_kit import BANKS, PATTERNS, allow, at_user, attached, deny, document

from lorebank.access.actions import ACTIONS
from lorebank.access.policy.match import bank_level
from lorebank.access.policy.narrow import narrow
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.values import Attached, Parameters, Verdict
from lorebank.access.policy.wider import Rights, less_restricted, representatives, wider

SALES = {"tags": ["d:sales"], "match": "any"}
SECRET = {"not": {"tags": ["secret"], "match": "any_strict"}}


def rights(*attached: Attached) -> Rights:
    """What these policies give."""
    return PolicySet(attached).evaluate


def test_who_may_the_same_is_not_wider() -> None:
    mine = rights(at_user("p", allow("bank:*", "a", recall_budget="low"), deny("bank:delete")))
    assert wider(mine, mine, ("a", "b", "*")) is None


def test_the_first_right_that_is_missing_is_told() -> None:
    mine = rights(at_user("p", allow("bank:recall", "a b")))
    assert wider(mine, rights(at_user("p", allow("bank:recall", "a"))), ("a", "b")) == ("bank:recall", "b")
    assert wider(mine, rights(at_user("p", allow("bank:*"))), ("a", "b")) is None
    assert wider(mine, rights(at_user("p", allow("bank:*"), deny("bank:graph"))), ("a",)) == (
        "bank:graph",
        "a",
    )


@pytest.mark.parametrize(
    ("field", "loose", "tight"),
    [
        ("recall_budget", "high", "mid"),
        ("recall_budget", None, "high"),
        ("recall_max_tokens", 2, 1),
        ("recall_max_tokens", None, 9),
        ("recall_tag_groups", None, (SALES,)),
        ("recall_tag_groups", (SALES,), (SALES, SECRET)),
        ("recall_tag_groups", (SECRET,), (SALES,)),
        ("retain_roles", None, ("user",)),
        ("retain_roles", ("tool", "user"), ("user",)),
        ("retain_roles", ("user",), ()),
        ("retain_tags", None, ("t",)),
        ("retain_tags", ("t",), ("t", "u")),
        ("retain_every_n_turns", 1, 2),
        ("retain_every_n_turns", None, 2),
        ("exclude_providers", None, ("web",)),
        ("exclude_providers", ("slack",), ("web",)),
    ],
)
def test_looser_parameters_are_wider(field: str, loose: Any, tight: Any) -> None:
    first, second = Parameters(**{field: loose}), Parameters(**{field: tight})
    assert less_restricted(first, second) == field
    assert less_restricted(first, first) is None
    assert less_restricted(second, second) is None
    both = (Verdict(True, parameters=first), Verdict(True, parameters=second))
    assert wider(lambda *_: both[0], lambda *_: both[1], ("a",)) == (next(iter(ACTIONS)), "a")


@pytest.mark.parametrize("field", ["retain_strategy", "llm_model", "llm_provider"])
def test_another_choice_is_not_wider(field: str) -> None:
    here: dict[str, Any] = {field: "x"}
    there: dict[str, Any] = {field: "y"}
    assert less_restricted(Parameters(**here), Parameters(**there)) is None
    assert less_restricted(Parameters(), Parameters(**there)) is None


def test_representatives_are_the_names_and_one_of_each_kind() -> None:
    documents = [document(allow("bank:recall", "a x::*"), deny("bank:recall", "x::y::* any-other"))]
    assert representatives(documents, ["mine"]) == (
        "*",
        "a",
        "any-other",
        "any-other-bank",
        "mine",
        "x::any-other-bank",
        "x::y::any-other-bank",
    )


_SPOKEN_OF = st.lists(st.sampled_from(PATTERNS) | st.text("ab:*", min_size=1, max_size=7), max_size=5)


@given(
    st.lists(_SPOKEN_OF, max_size=4),
    st.sampled_from(BANKS) | st.text("ab:*", min_size=1, max_size=8),
)
@settings(max_examples=150)
def test_every_bank_has_a_representative_of_which_the_same_statements_speak(
    statements: list[list[str]], bank: str
) -> None:
    raw = [{"effect": "allow", "actions": ["bank:recall"], "banks": patterns} for patterns in statements]
    documents = [document(one) for one in raw]

    def heard(name: str) -> list[int]:
        return [max((bank_level(one, name) for one in patterns), default=0) for patterns in statements]

    assert any(heard(bank) == heard(one) for one in representatives(documents))


def test_banks_of_which_the_same_statements_speak_have_one_representative() -> None:
    """Else a document of a thousand lists of names would keep whoever checks it busy for minutes."""
    many = " ".join(f"bank-{number}" for number in range(1000))
    documents = [document(allow("bank:recall", many), deny("bank:graph", "bank-7 x::*"))]
    assert representatives(documents) == ("*", "any-other", "bank-0", "bank-7", "x::any-other")


@given(attached(), attached(), st.sampled_from(BANKS))
@settings(max_examples=30)
def test_who_is_not_wider_on_representatives_is_wider_nowhere(
    mine: list[Attached], bound: list[Attached], bank: str
) -> None:
    banks = representatives(one.document for one in mine + bound)
    found = wider(rights(*mine), rights(*bound), banks)
    anywhere = wider(rights(*mine), rights(*bound), (bank,))
    assert found is not None or anywhere is None


@given(attached(), attached())
@settings(max_examples=25)
def test_a_scoped_account_is_nowhere_wider_than_its_owner(
    owner: list[Attached], scope: list[Attached]
) -> None:
    outer, inner = PolicySet(owner), PolicySet(scope)
    banks = representatives(one.document for one in owner + scope)
    assert (
        wider(lambda a, b: narrow(outer.evaluate(a, b), inner.evaluate(a, b)), outer.evaluate, banks) is None
    )
