"""Questions computed together get the same answers as alone."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from lorebank.search.columns import Floats
from lorebank.search.products import WORTHWHILE_ROWS, Products
from lorebank.search.vector import BLOCK_ROWS, MISSING, Vectors

ROWS = WORTHWHILE_ROWS + 500


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    rows = np.random.default_rng(1).standard_normal((ROWS, 4), dtype=np.float32)
    return Vectors(4).written(np.arange(0, ROWS - 7), rows[: ROWS - 7])


def test_a_few_vectors_take_a_few_rows_and_growing_keeps_what_was_seen() -> None:
    rows = np.random.default_rng(4).standard_normal((BLOCK_ROWS + 300, 8), dtype=np.float32)
    few = Vectors(8).written(np.arange(3), rows[:3])
    assert sum(block.nbytes for block in few.blocks) <= 64 * 8 * 4
    grown = few
    for start in range(3, len(rows), 700):
        part = np.arange(start, min(start + 700, len(rows)))
        grown = grown.written(part, rows[part])
    again = grown.written(np.arange(2), -rows[:2])
    query = rows[5]
    for vectors, expected in ((few, rows[:3]), (grown, rows), (again, np.vstack((-rows[:2], rows[2:])))):
        scores = vectors.cosines(query, len(rows))
        assert np.allclose(scores[: len(expected)], expected @ query, atol=1e-4)
        assert (scores[len(expected) :] == MISSING).all()
        assert np.array_equal(vectors.rows(np.arange(len(expected))), expected)


def test_many_at_once_equal_each_alone(vectors: Vectors) -> None:
    queries = np.random.default_rng(2).standard_normal((5, 4), dtype=np.float32)
    for query, scores in zip(queries, vectors.cosines_of(list(queries), ROWS), strict=True):
        assert np.abs(scores - vectors.cosines(query, ROWS)).max() < 1e-5
        assert (scores[-7:] == MISSING).all()


def test_simultaneous_questions_all_get_their_own_scores(vectors: Vectors) -> None:
    products = Products()
    queries = np.random.default_rng(3).standard_normal((40, 4), dtype=np.float32)
    found: dict[int, Floats] = {}

    def ask(number: int) -> None:
        found[number] = products.cosines(vectors, queries[number], ROWS - number % 3)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(queries))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(found) == list(range(len(queries)))
    for number, scores in found.items():
        expected = vectors.cosines(queries[number], ROWS - number % 3)
        assert scores.shape == expected.shape
        assert np.abs(scores - expected).max() < 1e-5


def test_a_failed_product_reaches_its_question_and_frees_the_lane(vectors: Vectors) -> None:
    products = Products()
    with pytest.raises(ValueError, match="product failed"):
        products.cosines(vectors, np.ones(9, np.float32), ROWS)
    assert len(products.cosines(vectors, np.ones(4, np.float32), ROWS)) == ROWS
