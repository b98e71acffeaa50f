"""Many quotes looked for in one pass say what each says when it is looked for alone."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.vaults.evidence import scan as scanning
from lorebank.vaults.evidence.scan import Passage, Scan
from lorebank.vaults.evidence.sieve import Sieve

BYTES = st.binary(min_size=1, max_size=90) | st.text(st.sampled_from("ab\n"), min_size=1, max_size=30).map(
    str.encode
)


@given(
    text=st.binary(max_size=400) | BYTES,
    others=st.lists(BYTES, max_size=8),
    cuts=st.lists(st.integers(0, 400)),
)
def test_no_quote_that_stands_in_a_text_is_held_back(
    text: bytes, others: list[bytes], cuts: list[int]
) -> None:
    inside = {part for cut in cuts for part in (text[cut : cut + 1 + cut % 60],) if part}
    quotes = sorted(inside.union(others))
    likely = Sieve(quotes).likely(text)
    assert {quote for quote in quotes if quote in text} <= likely <= set(quotes)


def test_a_quote_that_ends_otherwise_is_held_back() -> None:
    text = b"line of text number x\n" * 1_000
    quotes = [b"line of text number x\n" * 20 + b"nope%d" % place for place in range(100)]
    assert Sieve(quotes).likely(text) == set()


@pytest.mark.parametrize("block", [7, 64, 1 << 20])
@pytest.mark.parametrize("many", [0, 1_000])
def test_many_quotes_are_found_where_each_stands_first(
    block: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "BLOCK", block)
    monkeypatch.setattr(scanning, "_MANY", many)
    text = "".join(f"entry {place % 40}\nsame\n" for place in range(60)).encode()
    lines = text.decode().split("\n")
    passages = [Passage(None, b"entry %d\nsame" % place) for place in range(50)]
    passages += [Passage((place + 1, place + 30), b"same\nentry") for place in range(90)]
    with Scan(passages, whole=False) as scan:
        scan.run(io.BytesIO(text))
    for place, passage in enumerate(passages[:50]):
        assert passage.found == ((2 * place + 1, 2 * place + 2) if place < 40 else None)
    for place, passage in enumerate(passages[50:]):
        first = next(at for at in range(place, len(lines)) if lines[at] == "same")
        assert passage.found == (first + 1, first + 2)


def test_a_range_is_searched_where_the_quote_stands_before_and_behind_it() -> None:
    passages = [Passage((2, 2), b"x"), Passage((2, 3), b"x"), Passage((4, 9), b"x"), Passage((1, 1), b"x")]
    with Scan(passages, whole=False) as scan:
        scan.run(io.BytesIO(b"x\n-\nx\n-\n"))
    assert [one.found for one in passages] == [None, (3, 3), None, (1, 1)]
