"""A whole search: what is found, in which order, why, and what must never be felt."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorebank.search import (
    Kind,
    Link,
    Passage,
    PassageIndex,
    SearchQuery,
    SearchResult,
    SearchSettings,
    search,
    terms,
)
from lorebank.tags import Leaf

Vector = np.ndarray[tuple[int], np.dtype[np.float32]]
NOW = datetime(2024, 6, 1, tzinfo=UTC).timestamp()
WORDS = ["boat", "paint", "river", "lamp", "stone", "glass"]


def at(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


def passage(key: int, text: str, **changes: object) -> Passage:
    made = Passage(key=key, seq=key, kind="world", terms=" ".join(terms(text)), tokens=5)
    return made._replace(**changes)  # type: ignore[arg-type]


def unit(*numbers: float) -> Vector:
    row = np.asarray(numbers, np.float32)
    return row / np.float32(np.linalg.norm(row))


def indexed(*passages: Passage) -> PassageIndex:
    index = PassageIndex(3)
    index.apply(passages, (), len(passages))
    return index


def ask(index: PassageIndex, text: str, **changes: object) -> SearchResult:
    return search(index.snapshot(), replace(SearchQuery(text=text, now=NOW), **changes))  # type: ignore[arg-type]


def test_the_score_is_the_sum_of_its_parts_times_its_factors() -> None:
    index = indexed(
        passage(1, "Ann: I painted the boat", speaker="Ann", thread="t", position=1, proof_count=3),
        passage(
            2, "Bo: what did you paint?", asks=True, speaker="Bo", thread="t", position=0, mentioned_at=NOW
        ),
        passage(3, "The lamp is red", entities=(7,)),
    )
    index.apply_vectors([1, 2, 3], np.stack([unit(1, 0, 0), unit(1, 1, 0), unit(0, 0, 1)]))
    result = ask(index, "What did Ann paint?", vector=unit(1, 0.2, 0))
    assert result.keys[0] == 1
    for hit in result.hits():
        product = np.prod(list(hit.multipliers.values()))
        assert hit.score == pytest.approx(min(max(sum(hit.parts.values()) * product, 0), 1), abs=1e-5)
    first = next(result.hits())
    assert first.parts["speaker"] > 0
    assert first.parts["answer"] > 0
    assert first.arms["semantic"].rank == 1
    assert first.semantic == pytest.approx(first.arms["semantic"].score)


def test_an_answer_is_found_through_the_question_before_it() -> None:
    index = indexed(
        passage(1, "Which colour did you choose for the boat?", asks=True, thread="t", position=0),
        passage(2, "Green, in the end", thread="t", position=1),
        passage(3, "Nothing happened on the way", thread="u", position=0),
    )
    result = ask(index, "colour of the boat")
    assert result.keys.tolist()[:2] == [1, 2]
    assert result.previous.tolist()[:2] == [-1, 1]


def test_what_a_named_person_said_comes_first() -> None:
    index = indexed(
        passage(1, "we went sailing", speaker="Bo"),
        passage(2, "we went sailing", speaker="Ann Lee"),
        passage(3, "we went sailing"),
    )
    assert ask(index, "When did Ann go sailing?").keys[0] == 2


def test_dates_in_the_question_bring_what_was_said_then() -> None:
    index = indexed(
        passage(1, "a walk by the river", mentioned_at=at(2023, 3, 5)),
        passage(2, "a walk by the river", mentioned_at=at(2023, 5, 7)),
        passage(3, "a walk by the river", mentioned_at=at(2023, 9, 9)),
    )
    result = ask(index, "What happened at the river in May 2023?")
    assert result.keys[0] == 2
    assert result.period is not None
    assert result.period[0] == at(2023, 5, 1)
    assert result.period[1] == pytest.approx(at(2023, 6, 1), abs=1)
    assert next(result.hits()).arms["temporal"].score == 1.0


def test_an_explicit_window_is_used_and_filters_nothing() -> None:
    index = indexed(
        passage(1, "river", mentioned_at=at(2023, 3, 5)), passage(2, "river", mentioned_at=at(2023, 9, 9))
    )
    result = ask(index, "river in May 2020", window=(at(2023, 9, 1), at(2023, 9, 30)))
    assert result.keys.tolist() == [2, 1]


def test_a_year_only_fact_is_as_near_as_a_dated_one_inside_its_year() -> None:
    index = indexed(
        passage(1, "river", occurred_start=at(2023, 1, 1), precision="year"),
        passage(2, "river", occurred_start=at(2023, 11, 3), precision="day"),
    )
    result = ask(index, "river", window=(at(2023, 11, 1), at(2023, 11, 30)))
    assert {hit.key: hit.arms["temporal"].score for hit in result.hits()} == {1: 1.0, 2: 1.0}


def test_shared_entities_links_and_neighbours_lead_to_passages_that_share_no_word() -> None:
    index = indexed(
        passage(1, "the boat sank", entities=(1,), thread="t", position=0),
        passage(2, "insurance paid", entities=(1,)),
        passage(3, "a storm came"),
        passage(4, "everyone got home", thread="t", position=1),
        passage(5, "unrelated remark"),
    )
    index.apply_links([Link(1, 3, "causal")])
    result = ask(index, "boat")
    assert set(result.keys.tolist()) == {1, 2, 3, 4}
    assert set(result.arm_keys["graph"].tolist()) == {1, 2, 3, 4}


def test_an_arm_without_what_it_needs_is_named_and_the_others_answer() -> None:
    index = indexed(passage(1, "boat"))
    result = ask(index, "boat")
    assert result.degraded == ["semantic"]
    assert result.reasons["semantic"]
    assert result.keys.tolist() == [1]


@pytest.mark.parametrize("vector", [unit(1, 0), np.full(3, np.nan, np.float32)])
def test_a_wrong_question_vector_degrades_the_semantic_arm(vector: Vector) -> None:
    index = indexed(passage(1, "boat"))
    index.apply_vectors([1], unit(1, 0, 0)[None])
    result = ask(index, "boat", vector=vector)
    assert result.degraded == ["semantic"]
    assert result.keys.tolist() == [1]


def test_arms_that_are_switched_off_do_nothing() -> None:
    index = indexed(passage(1, "boat"), passage(2, "lamp"))
    index.apply_vectors([1, 2], np.stack([unit(1, 0, 0), unit(0, 1, 0)]))
    result = ask(index, "boat", vector=unit(0, 1, 0), arms=frozenset({"semantic"}))
    assert result.keys[0] == 2
    assert set(result.arm_keys) == {"semantic"}
    assert result.degraded == []


def test_minimum_scores_keep_weak_matches_out() -> None:
    index = indexed(passage(1, "boat"), passage(2, "lamp"))
    index.apply_vectors([1, 2], np.stack([unit(1, 0, 0), unit(0, 1, 0)]))
    query = {"vector": unit(1, 0.1, 0)}
    assert ask(index, "zzz", min_semantic=0.5, **query).keys.tolist() == [1]
    assert ask(index, "boat", arms=frozenset({"keyword"}), min_keyword=50.0).keys.tolist() == []
    strict = ask(index, "boat", min_final=0.2, **query)
    assert strict.keys.tolist() == [1]


def test_a_passage_without_a_vector_yet_competes_by_its_words() -> None:
    index = indexed(passage(1, "boat"), passage(2, "lamp"))
    index.apply_vectors([2], unit(0, 1, 0)[None])
    assert ask(index, "boat", vector=unit(1, 0, 0)).keys.tolist() == [1, 2]


def test_observations_can_stand_for_the_facts_they_rest_on() -> None:
    rows = [passage(1, "boat one"), passage(2, "boat two"), passage(3, "boat three")]
    index = indexed(*rows, passage(4, "boat summary", kind="observation", sources=(1, 2)))
    assert set(ask(index, "boat").keys.tolist()) == {1, 2, 3, 4}
    assert set(ask(index, "boat", prefer_observations=True).keys.tolist()) == {3, 4}


def test_kinds_and_limits_are_kept() -> None:
    rows = [passage(1, "boat", kind="world"), passage(2, "boat", kind="experience"), passage(3, "boat")]
    index = indexed(*rows)
    assert ask(index, "boat", kinds=frozenset({"experience"})).keys.tolist() == [2]
    assert ask(index, "boat", kinds=frozenset()).keys.tolist() == []
    assert len(ask(index, "boat", limit=2)) == 2


@pytest.mark.parametrize(
    ("stored", "question"),
    [
        ("Krankenversicherung gekündigt", "Versicherung"),
        ("Versicherung gekündigt", "Krankenversicherung"),
        ("Donaudampfschifffahrt gebucht", "schiff"),
        ("kitaplarımı okudum", "kitap"),
        ("kitap okudum", "kitaplarımız"),
        ("İzmir'de bir ev", "izmir"),
        ("ذهبت الى المدرسة", "مدرسة"),
        ("ฉันชอบกินปลาทู", "ปลาทู"),
        ("北京烤鸭很好吃", "烤鸭"),
        ("昨日東京タワーへ行った", "東京"),
        ("한국어를 공부했다", "한국어"),
        ("see GOALS.md before 9router", "9router"),
        ("看GOALS.md", "goals"),
        ("parseHttpRequest fails", "http request"),
    ],
)
def test_known_items_are_found_in_many_languages(stored: str, question: str) -> None:
    index = indexed(passage(1, stored), passage(2, "quite another remark"))
    assert ask(index, question).keys.tolist()[:1] == [1]


ROWS = st.lists(
    st.builds(
        lambda words, kind, tagged, person, asking, day, entity, vector: (
            words,
            kind,
            tagged,
            person,
            asking,
            day,
            entity,
            vector,
        ),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
        st.sampled_from(["world", "experience"]),
        st.booleans(),
        st.sampled_from([None, "Ann", "Bo"]),
        st.booleans(),
        st.integers(1, 28),
        st.integers(1, 3),
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3)),
    ),
    min_size=1,
    max_size=10,
)
Row = tuple[list[str], Kind, bool, str | None, bool, int, int, tuple[int, int, int]]


@settings(max_examples=60)
@given(ROWS, st.booleans())
def test_hidden_passages_cannot_be_felt(rows: list[Row], by_tag: bool) -> None:
    """The same query on a store without the hidden rows gives the same keys and scores."""
    made = [
        passage(
            key,
            " ".join(words),
            kind=kind,
            tags=("open",) if tagged else ("secret",),
            speaker=person,
            asks=asking,
            mentioned_at=at(2024, 5, day),
            entities=(entity,),
            thread="t",
            position=key,
        )
        for key, (words, kind, tagged, person, asking, day, entity, _) in enumerate(rows, 1)
    ]
    vectors = {key: unit(*row[7]) for key, row in enumerate(rows, 1)}
    shown = [row for row in made if (row.tags == ("open",) if by_tag else row.kind == "world")]
    allowed: dict[str, object] = (
        {"tag_filter": Leaf(("open",))} if by_tag else {"kinds": frozenset({"world"})}
    )
    full, bare = loaded(made, vectors), loaded(shown, vectors)
    question = "What did Ann paint by the river lam on 7 May 2024?"
    seen = ask(full, question, vector=unit(1, 2, 1), **allowed)
    expected = ask(bare, question, vector=unit(1, 2, 1), **allowed)
    assert dict(zip(seen.keys.tolist(), seen.scores.tolist(), strict=True)) == pytest.approx(
        dict(zip(expected.keys.tolist(), expected.scores.tolist(), strict=True)), abs=1e-5
    )


def loaded(rows: list[Passage], vectors: dict[int, Vector]) -> PassageIndex:
    index = PassageIndex(3)
    index.apply(rows, (), 1)
    index.apply_links([Link(row.key, row.key + 1, "causal") for row in rows])
    if rows:
        index.apply_vectors([row.key for row in rows], np.stack([vectors[row.key] for row in rows]))
    return index


def test_weights_can_be_set() -> None:
    index = indexed(passage(1, "boat", mentioned_at=at(2020, 1, 1)), passage(2, "boat", mentioned_at=NOW))
    result = search(index.snapshot(), SearchQuery(text="boat", now=NOW), SearchSettings(recency=0.4))
    factors = {hit.key: hit.multipliers["recency"] for hit in result.hits()}
    assert factors == {1: pytest.approx(0.8), 2: pytest.approx(1.2)}
