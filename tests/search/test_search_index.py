"""The passage index: rows come and go, readers keep what they saw, nothing dead is found."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorebank.errors import Bug
from lorebank.search import Link, Passage, PassageIndex, SearchQuery, Snapshot, search, terms
from lorebank.search.lexical import bm25
from lorebank.search.settings import SearchSettings

WORDS = ["boat", "paint", "river", "lamp", "stone", "glass"]


def passage(key: int, text: str = "boat", **changes: object) -> Passage:
    made = Passage(key=key, seq=key, kind="world", terms=" ".join(terms(text)), tokens=3)
    return made._replace(**changes)  # type: ignore[arg-type]


def unit(*numbers: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    row = np.asarray(numbers, np.float32)
    return row / np.float32(np.linalg.norm(row))


def found(snapshot: Snapshot, text: str) -> list[int]:
    return sorted(search(snapshot, SearchQuery(text=text, now=0.0)).keys.tolist())


def keyword_scores(snapshot: Snapshot, words: Sequence[str]) -> dict[int, float]:
    scores = bm25(snapshot, snapshot.live, list(words), SearchSettings())
    keys = snapshot.columns.key[: snapshot.count]
    return {int(keys[slot]): float(scores[slot]) for slot in np.flatnonzero(scores > 0)}


def test_empty_index_answers_with_nothing() -> None:
    snapshot = PassageIndex(4).snapshot()
    result = search(snapshot, SearchQuery(text="boat", now=0.0, vector=unit(1, 0, 0, 0)))
    assert len(result) == 0
    assert result.degraded == []


def test_row_is_found_at_once_and_gone_after_its_deletion() -> None:
    index = PassageIndex()
    index.apply([passage(1, "a red boat"), passage(2, "a lamp")], (), 2)
    before = index.snapshot()
    index.apply([], [1], 3)
    assert found(before, "boat") == [1]
    assert found(index.snapshot(), "boat") == []
    assert index.snapshot().passages == 1
    assert index.watermark == 3


def test_replaced_row_is_found_by_its_new_words_only() -> None:
    index = PassageIndex()
    index.apply([passage(1, "boat")], (), 1)
    index.apply([passage(1, "lamp")], (), 2)
    assert found(index.snapshot(), "boat") == []
    assert found(index.snapshot(), "lamp") == [1]


def test_of_two_rows_with_one_key_in_a_batch_the_last_counts() -> None:
    index = PassageIndex()
    index.apply([passage(1, "boat"), passage(1, "lamp")], (), 1)
    assert index.snapshot().passages == 1
    assert found(index.snapshot(), "lamp") == [1]


def test_watermark_never_goes_back() -> None:
    index = PassageIndex()
    index.apply([passage(1)], (), 9)
    index.apply([passage(2)], (), 4)
    assert index.watermark == 9


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["upsert", "delete", "compact", "update"]),
        st.integers(1, 8),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    ),
    max_size=25,
)


@settings(max_examples=60)
@given(OPERATIONS)
def test_any_history_scores_like_a_fresh_index_of_what_is_left(
    operations: list[tuple[str, int, list[str]]],
) -> None:
    index = PassageIndex(2)
    rows: dict[int, Passage] = {}
    for number, (what, key, words) in enumerate(operations):
        if what == "upsert":
            rows[key] = passage(key, " ".join(words), thread="t", position=key)
            index.apply([rows[key]], (), number)
        elif what == "delete":
            rows.pop(key, None)
            index.apply([], [key], number)
        elif what == "update" and key in rows:
            rows[key] = rows[key]._replace(tags=("new",))
            index.apply([rows[key]], (), number)
        else:
            index.compact()
    fresh = PassageIndex(2)
    fresh.apply(list(rows.values()), (), 0)
    view, expected = index.snapshot(), fresh.snapshot()
    assert keyword_scores(view, WORDS) == pytest.approx(keyword_scores(expected, WORDS), rel=1e-5)
    assert neighbour_keys(view) == neighbour_keys(expected)


def neighbour_keys(view: Snapshot) -> dict[int, tuple[int | None, int | None]]:
    slots = np.flatnonzero(view.live)
    keys = view.columns.key
    before, after = view.neighbours(slots, view.live)

    def key_of(slot: int) -> int | None:
        return int(keys[slot]) if slot >= 0 else None

    return {
        int(keys[slot]): (key_of(left), key_of(right))
        for slot, left, right in zip(slots, before, after, strict=True)
    }


def test_a_reader_sees_its_view_unchanged_while_a_writer_goes_on() -> None:
    index = PassageIndex(2)
    index.apply([passage(key, "boat") for key in range(1, 200)], (), 1)
    index.apply_vectors(list(range(1, 200)), np.tile(unit(1, 0), (199, 1)))
    view = index.snapshot()
    query = SearchQuery(text="boat", now=0.0, vector=unit(1, 0))
    expected = search(view, query).scores.tolist()
    failures: list[str] = []

    def write() -> None:
        for key in range(200, 500):
            index.apply([passage(key, "boat lamp")], [key - 150], key)
            index.apply_vectors([key], unit(0, 1)[None])

    def read() -> None:
        for _ in range(60):
            if search(view, query).scores.tolist() != expected:
                failures.append("changed")

    threads = [threading.Thread(target=work) for work in (write, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert index.snapshot().passages == 199


def test_compaction_forgets_dead_words_tags_vectors_and_speakers() -> None:
    index = PassageIndex(2)
    index.apply(
        [passage(1, "canaryword", tags=("secret",), speaker="Zed"), passage(2, "lamp", tags=("open",))], (), 1
    )
    index.apply_vectors([1, 2], np.stack([unit(1, 0), unit(0, 1)]))
    index.apply([], [1], 2)
    index.compact()
    view = index.snapshot()
    assert view.count == 1
    assert view.vocabulary.get("canaryword") is None
    assert view.vectors is not None
    assert view.vectors.rows(np.array([0])).tolist() == [[0.0, 1.0]]
    assert view.speakers.named_by(["zed"]) == set()
    assert found(view, "lamp") == [2]


def test_many_deletions_compact_by_themselves() -> None:
    index = PassageIndex()
    index.apply([passage(key) for key in range(3_000)], (), 1)
    index.apply([], range(2_000), 2)
    assert index.snapshot().count == 1_000
    assert min(found(index.snapshot(), "boat")) >= 2_000


def test_vectors_follow_their_rows() -> None:
    index = PassageIndex(2)
    index.apply([passage(1, "boat"), passage(2, "lamp")], (), 1)
    index.apply_vectors([1, 99, 2], np.stack([unit(1, 0), unit(1, 1), unit(0, 1)]))
    result = search(index.snapshot(), SearchQuery(text="zzz", now=0.0, vector=unit(1, 0)))
    assert result.keys.tolist() == [1, 2]
    assert result.semantic.tolist() == pytest.approx([1.0, 0.0])


def test_changed_text_drops_the_vector_and_changed_tags_keep_it() -> None:
    index = PassageIndex(2)
    index.apply([passage(1)], (), 1)
    index.apply_vectors([1], unit(1, 0)[None])
    index.apply([passage(1, tags=("new",))], (), 2)
    assert index.snapshot().embedded == 1
    index.apply([passage(1, "lamp")], (), 3)
    assert index.snapshot().embedded == 0


def test_a_second_vector_of_a_row_is_not_seen_by_older_readers() -> None:
    index = PassageIndex(2)
    index.apply([passage(1)], (), 1)
    index.apply_vectors([1], unit(1, 0)[None])
    old = index.snapshot()
    index.apply_vectors([1], unit(0, 1)[None])
    assert old.vectors is not None
    assert old.vectors.rows(np.array([0])).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("rows", [np.ones((1, 3), np.float32), np.full((1, 2), np.nan, np.float32)])
def test_wrong_vectors_are_refused(rows: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> None:
    index = PassageIndex(2)
    index.apply([passage(1)], (), 1)
    with pytest.raises(Bug):
        index.apply_vectors([1], rows)
    with pytest.raises(Bug):
        PassageIndex().apply_vectors([1], unit(1, 0)[None])


def test_neighbours_are_found_across_batches_and_after_edits() -> None:
    index = PassageIndex()
    index.apply([passage(1, thread="t", position=0), passage(3, thread="t", position=2)], (), 1)
    index.apply([passage(2, thread="t", position=1), passage(9, thread="u", position=3)], (), 2)
    index.apply([passage(1, thread="t", position=0, tags=("x",))], (), 3)
    assert neighbour_keys(index.snapshot()) == {1: (None, 2), 2: (1, 3), 3: (2, None), 9: (None, None)}
    index.apply([], [2], 4)
    assert neighbour_keys(index.snapshot()) == {1: (None, None), 3: (None, None), 9: (None, None)}


def test_links_go_with_their_passages() -> None:
    index = PassageIndex()
    index.apply([passage(1), passage(2), passage(3)], (), 1)
    index.apply_links([Link(1, 2, "causal", 0.5), Link(1, 3, "semantic"), Link(1, 2, "causal", 0.9)])
    assert index.snapshot().links.of(1) == ((3, 1.0, "semantic"), (2, 0.9, "causal"))
    index.apply([], [2], 2)
    assert index.snapshot().links.of(1) == ((3, 1.0, "semantic"),)
