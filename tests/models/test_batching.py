"""Batches cover every text once and stay within their bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lorebank.models.batching import by_length

LENGTHS = st.lists(st.integers(min_value=0, max_value=50), max_size=40)


@given(LENGTHS, st.integers(1, 8), st.integers(1, 100))
def test_every_position_occurs_exactly_once(lengths: list[int], rows: int, padded: int) -> None:
    batches = list(by_length(lengths, rows, padded))
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))


@given(LENGTHS, st.integers(1, 8), st.integers(1, 100))
def test_only_a_single_long_row_may_exceed_the_bounds(lengths: list[int], rows: int, padded: int) -> None:
    for batch in by_length(lengths, rows, padded):
        assert 1 <= len(batch) <= rows
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= padded


def test_texts_of_like_length_share_a_batch() -> None:
    assert list(by_length([9, 1, 8, 2], 2, 100)) == [[1, 3], [2, 0]]
