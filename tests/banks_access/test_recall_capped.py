"""Recall stays within the caller's grant, however it asks."""

from __future__ import annotations

from access_house import ROOT, House, allow
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.policy.values import BUDGETS, Parameters
from lorebank.banks.recall.ask import Ask, Include
from lorebank.banks.recall.capped import capped

SENTENCES = [f"Shelf {n} in the harbour office holds the blue ledger number {n * 7}." for n in range(30)]
ROOM = st.none() | st.integers(0, 10_000)


@given(
    st.sampled_from(BUDGETS),
    st.integers(0, 10_000),
    st.tuples(ROOM, ROOM, ROOM),
    st.none() | st.sampled_from(BUDGETS),
    st.none() | st.integers(1, 10_000),
)
def test_capping_never_widens_and_leaves_what_fits(budget, tokens, room, granted, most) -> None:  # type: ignore[no-untyped-def]
    ask = Ask("q", 0, budget=budget, max_tokens=tokens, include=Include(*room))
    got = capped(ask, Parameters(recall_budget=granted, recall_max_tokens=most))
    assert BUDGETS.index(got.budget) == min(BUDGETS.index(b) for b in (budget, granted or "high"))
    limit = 10**9 if most is None else most
    assert got.max_tokens == min(tokens, limit)
    parts = (got.include.entities, got.include.chunks, got.include.source_facts)
    assert parts == tuple(None if n is None else min(n, limit) for n in room)


def test_a_recall_is_answered_within_the_grant_and_its_trace_says_so(house: House) -> None:
    house.retain("team", *SENTENCES, who=ROOT)
    anna = house.user("anna", allow("bank:recall", recall_budget="low", recall_max_tokens=60))
    wide = {"budget": "high", "max_tokens": 4000, "trace": True, "include": {"chunks": {"max_tokens": 4000}}}
    mine, all_of_it = (house.recall("team", "blue ledger", who=who, **wide) for who in (anna, ROOT))
    asked = mine["trace"]["query"]
    assert (asked["budget"], asked["max_tokens"]) == ("low", 60)
    assert 0 < len(mine["results"]) < len(all_of_it["results"])
    chunk_words = sum(len(chunk["text"].split()) for chunk in mine["chunks"].values())
    assert chunk_words <= 60 < sum(len(chunk["text"].split()) for chunk in all_of_it["chunks"].values())


def test_without_limits_in_the_grant_a_recall_is_as_asked(house: House) -> None:
    house.retain("team", *SENTENCES[:3], who=ROOT)
    anna = house.user("anna", allow("bank:recall"))
    answer = house.recall("team", "blue ledger", who=anna, budget="high", max_tokens=77, trace=True)
    assert answer["trace"]["query"]["budget"] == "high" and answer["trace"]["query"]["max_tokens"] == 77


def test_the_callers_tag_groups_are_added_to_those_of_the_grant(house: House) -> None:
    for tags in (["sales"], ["sales", "red"], ["red"], []):
        house.retain(
            "team", {"content": f"The ledger of {'-'.join(tags) or 'nobody'}.", "tags": tags}, who=ROOT
        )
    only_sales = [{"tags": ["sales"], "match": "any_strict"}]
    anna = house.user("anna", allow("bank:recall", recall_tag_groups=only_sales))
    everything = house.recall("team", "ledger", who=anna, trace=True)
    assert sorted(r["text"] for r in everything["results"]) == [
        "The ledger of sales-red.",
        "The ledger of sales.",
    ]
    assert everything["trace"]["fusion"]["visible"] == 2
    red = [{"tags": ["red"], "match": "any_strict"}]
    narrowed = house.recall("team", "ledger", who=anna, tag_groups=red)
    assert [r["text"] for r in narrowed["results"]] == ["The ledger of sales-red."]
    widened = house.recall("team", "ledger", who=anna, tag_groups=[{"not": {"tags": ["sales"]}}])
    assert widened["results"] == []
