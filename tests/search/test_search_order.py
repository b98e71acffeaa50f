"""Blending a cross-encoder in, and fitting a list into a budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.search import blend, fit

SCORES = st.lists(st.floats(0, 1), max_size=12).map(lambda values: sorted(values, reverse=True))
LOGITS = st.lists(st.floats(-15, 15, allow_nan=False), max_size=15)


@given(st.lists(st.integers(0, 300), max_size=30), st.integers(0, 1_000))
def test_the_budget_is_never_exceeded_and_nothing_that_fits_is_left_out(
    tokens: list[int], limit: int
) -> None:
    kept = fit(tokens, limit)
    used = sum(tokens[place] for place in kept)
    assert used <= limit
    assert kept == sorted(set(kept))
    for place, cost in enumerate(tokens):
        if place not in kept:
            assert sum(tokens[earlier] for earlier in kept if earlier < place) + cost > limit


def test_a_long_item_is_skipped_for_shorter_ones_behind_it() -> None:
    assert fit([10, 500, 20], 40) == [0, 2]


@given(SCORES, LOGITS, st.floats(0, 1))
def test_blending_keeps_every_hit_once_in_falling_order(
    scores: list[float], logits: list[float], weight: float
) -> None:
    blended = blend(scores, logits, weight)
    assert sorted(hit.place for hit in blended) == list(range(len(scores)))
    values = [hit.score for hit in blended]
    assert values == sorted(values, reverse=True)
    pool = min(len(logits), len(scores))
    assert [hit.place for hit in blended[pool:]] == list(range(pool, len(scores)))
    assert all((hit.reranker is not None) == (hit.place < pool) for hit in blended)


def test_weight_one_orders_the_pool_by_the_cross_encoder_alone() -> None:
    assert [hit.place for hit in blend([0.9, 0.8, 0.7, 0.6], [-3.0, 5.0, 1.0], 1.0)] == [1, 2, 0, 3]


def test_weight_nought_keeps_the_order() -> None:
    assert [hit.place for hit in blend([0.9, 0.8, 0.7], [-3.0, 5.0, 1.0], 0.0)] == [0, 1, 2]


def test_reranker_scores_are_probabilities_and_broken_ones_come_last() -> None:
    blended = blend([0.9, 0.8], [float("nan"), 0.0], 1.0)
    assert blended[0].place == 1
    assert blended[0].reranker == pytest.approx(0.5)
    assert blended[1].reranker == pytest.approx(0.0)
