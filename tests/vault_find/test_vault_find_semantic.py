"""Searching by meaning is an option that changes no other rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lorebank.search.columns import Floats
from lorebank.vaults.find.question import Question
from lorebank.vaults.find.search import search
from made_vault import MadeVault, MadeView


def unit(*numbers: float) -> Floats:
    vector = np.asarray(numbers, np.float32)
    return vector / np.float32(np.linalg.norm(vector))


@pytest.fixture(name="view")
def made(tmp_path: Path) -> MadeView:
    vault = MadeVault(tmp_path, dimension=3)
    vectors = {
        vault.claim("The ship leaves at nine.", title="ship"): unit(1, 0.1, 0),
        vault.claim("The ferry is blue.", title="ferry"): unit(0.9, 0.3, 0),
        vault.claim("Bread is baked.", title="bread"): unit(0, 0, 1),
        vault.claim("Old boats.", title="old", lifecycle="withdrawn"): unit(1, 0, 0),
    }
    vault.vectors = vectors
    vault.page("Ferry")
    return vault.view()


def titles(view: MadeView, question: Question, vector: Floats | None = None) -> list[str]:
    return [hit["title"] for hit in search(view, question, embed=lambda _: vector)["hits"]]


def test_meaning_adds_what_no_word_matches(view: MadeView) -> None:
    assert set(titles(view, Question("ferry boat"))) == {"ferry", "Ferry"}
    found = titles(view, Question("ferry boat"), unit(1, 0, 0))
    assert set(found) == {"ferry", "Ferry", "ship"}


def test_filters_exactness_and_the_least_score_hold_as_before(view: MadeView) -> None:
    towards = unit(1, 0, 0)
    assert set(titles(view, Question("ferry"), towards)[:2]) == {"Ferry", "ferry"}
    assert "old" not in titles(view, Question("boat"), towards)
    assert titles(view, Question("boat", kinds=("page",)), towards) == []
    assert titles(view, Question("boat", min_score=0.9), towards) == []
    scores = [hit["score"] for hit in search(view, Question("boat"), embed=lambda _: towards)["hits"]]
    assert scores == sorted(scores, reverse=True) and all(0 < score < 1 for score in scores)


def test_paging_goes_on_with_the_same_vector(view: MadeView) -> None:
    question, towards = Question("ferry boat"), unit(1, 0, 0)
    first = search(view, question, limit=1, embed=lambda _: towards)
    rest = search(view, question, limit=9, cursor=first["nextCursor"], embed=lambda _: towards)
    assert len(first["hits"]) + len(rest["hits"]) == first["total"] == 3


@pytest.mark.parametrize("vector", [None, unit(1, 0), unit(0, 0, 1)])
def test_without_a_fitting_vector_words_decide(view: MadeView, vector: Floats | None) -> None:
    found = titles(view, Question("blue ferry"), vector)
    assert found[0] == "ferry"
