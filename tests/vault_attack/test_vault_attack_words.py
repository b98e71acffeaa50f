"""A file full of words that nothing else has does not keep its store busy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lorebank.search.tokenize import terms
from lorebank.vaults.record.indexing import MAX_DIFFERENT_WORDS, indexable


@given(st.text(max_size=2_000))
def test_what_people_write_is_indexed_whole(text: str) -> None:
    assert indexable(text) == text


def test_a_long_text_that_repeats_its_words_is_indexed_whole() -> None:
    text = "the heron stands in the shallow water\n" * 20_000
    assert indexable(text) is text


def test_a_log_is_indexed_up_to_its_last_word_that_counts() -> None:
    text = ".".join(f"word{number}" for number in range(MAX_DIFFERENT_WORDS + 10))
    kept = indexable(text)
    assert text.startswith(kept)
    assert kept.endswith(f".word{MAX_DIFFERENT_WORDS - 1}")
    assert "word0" in terms(kept)
