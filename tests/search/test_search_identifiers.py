"""An identifier in a question means the few passages that hold it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.search import Passage, PassageIndex, SearchQuery, search, terms
from lorebank.search.lexical import identified

NOW = 1_760_000_000.0


def bank(texts: list[str], dimension: int = 8) -> PassageIndex:
    """Passages whose vectors are nearly alike, as those of near-identical memories are."""
    index = PassageIndex(dimension)
    index.apply(
        [Passage(n + 1, n, "world", " ".join(terms(t)), tokens=10) for n, t in enumerate(texts)], (), 1
    )
    rows = np.ones((len(texts), dimension), np.float32)
    rows[:, 0] += np.linspace(0, 1, len(texts), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index.apply_vectors(list(range(1, len(texts) + 1)), rows)
    return index


@pytest.mark.parametrize(
    ("form", "question"),
    [
        ("the token of this entry is tok{:08d}", "tok00000431"),
        ("ticket ABC-{} was closed by the night shift", "Who closed ABC-431?"),
        ("order {} was shipped to the shop", "What about order 1431?"),
        ("the file notes_{}.md was moved", "notes_431.md"),
    ],
)
def test_one_of_many_alike_is_found_by_its_identifier(form: str, question: str) -> None:
    first = 1000 if "1431" in question else 0
    index = bank([form.format(first + n) for n in range(1000)])
    vector = np.full(8, 8**-0.5, np.float32)
    vector[0] += 0.5
    vector /= np.linalg.norm(vector)
    result = search(index.snapshot(), SearchQuery(text=question, now=NOW, vector=vector))
    assert result.keys[0] == 432
    assert result.parts["identifier"][0] > 0


def test_a_year_is_no_identifier() -> None:
    index = bank(["we met in 2023"] + [f"we met on day {n}" for n in range(200)])
    snapshot = index.snapshot()
    assert len(identified(snapshot, snapshot.live, terms("What happened in 2023?"))) == 0


def test_an_identifier_that_many_passages_hold_singles_out_none() -> None:
    index = bank(["release v1.2.3 is out"] * 50)
    snapshot = index.snapshot()
    assert len(identified(snapshot, snapshot.live, terms("v1.2.3"))) == 0


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_hidden_passages_are_never_singled_out(shown: list[bool]) -> None:
    snapshot = bank(["ticket ABC-7" for _ in shown]).snapshot()
    mask = np.asarray(shown)
    assert set(identified(snapshot, mask, terms("ABC-7"))) <= set(np.flatnonzero(mask))
