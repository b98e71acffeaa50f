"""Token counts: known values, untrusted text, cuts that keep their promise."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank import tokens

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)
# Taken once from bpe-openai 0.1.4, a second implementation of the same table.
KNOWN_COUNTS = [
    ("", 0),
    ("hello world", 2),
    ("a" * 1000, 125),
    ("Anna moved to Lisbon in March 2023.", 10),
    ("def f(x: int) -> int:\n    return x ** 2\n", 16),
    ("2026-11-29T12:00:00Z", 13),
    ("日本語のテキスト", 6),
    ("Türkçe karakterler: ğüşıöç", 12),
    ("สวัสดีชาวโลก", 7),
    ("مرحبا بالعالم", 4),
    ("\U0001f469\u200d\U0001f469\u200d\U0001f467", 8),
]


@pytest.mark.parametrize(("text", "expected"), KNOWN_COUNTS)
def test_counts_agree_with_the_published_table(text: str, expected: int) -> None:
    assert tokens.count(text) == expected


def test_a_special_marker_in_untrusted_text_counts_as_plain_characters() -> None:
    assert tokens.count("<|endoftext|>") == 7


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert tokens.count("x\ud800y") == tokens.count("x\ufffdy")


def test_count_many_keeps_the_order() -> None:
    assert tokens.count_many(["hello world", "", "hello"]) == [2, 0, 1]


@given(ANY_TEXT)
def test_every_string_has_a_count_no_larger_than_its_bytes(text: str) -> None:
    counted = tokens.count(text)
    assert bool(text) <= counted <= len(text.encode("utf-8", "surrogatepass"))


@given(ANY_TEXT, st.integers(min_value=-1, max_value=12))
def test_a_truncated_text_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    cut = tokens.truncate(text, limit)
    assert tokens.count(cut) <= max(limit, 0)
    assert cut == text or text.encode("utf-8", "replace").startswith(cut.encode("utf-8", "replace")[:1])


@given(st.text(max_size=60), st.integers(min_value=0, max_value=12))
def test_truncating_cuts_only_at_the_end(text: str, limit: int) -> None:
    assert text.startswith(tokens.truncate(text, limit))


def test_a_text_that_fits_comes_back_unchanged() -> None:
    text = "Anna moved to Lisbon in March 2023."
    assert tokens.truncate(text, tokens.count(text)) is text


def test_truncating_keeps_as_much_as_fits() -> None:
    assert tokens.truncate("one two three four", 2) == "one two"


def test_a_cut_never_splits_a_character() -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467" * 3
    for limit in range(tokens.count(family) + 1):
        assert "\ufffd" not in tokens.truncate(family, limit)


def test_importing_the_module_does_not_load_the_table() -> None:
    code = "import sys, lorebank.tokens; sys.exit('rs_bpe' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_warming_loads_the_table_once() -> None:
    tokens.warm()
    before = tokens._table()
    tokens.warm()
    assert tokens._table() is before
