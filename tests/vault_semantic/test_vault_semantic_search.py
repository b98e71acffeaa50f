"""Searching by meaning with the real local model: what it adds, and what it leaves as it is."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from semantic_world import OFF, ON, PATIENCE, SemanticWorld
from store_world import KEY, group, put

from lorebank.models.ports import Matrix
from lorebank.models.service import EmbedderSource, EmbedService
from lorebank.models.workers import WorkerPool

FERRY = "The boat to the island departs at nine."
BREAD = "Bread is baked in the cellar."
TREES = "Pine cones lie under the tall tree."
ASKED = "When does the ferry leave?"


def test_a_question_without_a_shared_word_finds_the_claim_only_while_it_is_on(stores: SemanticWorld) -> None:
    stores.configure(OFF)
    ferry, _, _ = (stores.remember(text) for text in (FERRY, BREAD, TREES))
    assert stores.found(ASKED) == [] and stores.vectors() == []
    stores.configure(ON)
    assert stores.found(ASKED) == [], "words only, until the vectors are there"
    stores.settle()
    assert stores.found(ASKED)[0] == ferry
    assert len(stores.vectors()) == 3
    stores.configure(OFF)
    assert stores.found(ASKED) == []
    stores.configure(ON)
    assert stores.found(ASKED)[0] == ferry, "what was made is still there"


def test_vectors_follow_a_save_by_themselves_and_outlive_a_restart(stores: SemanticWorld) -> None:
    ferry = stores.remember(FERRY)
    stores.settle()
    before = stores.vectors()
    assert len(before) == 1 and before[0][1] == stores.model.model_id
    later = stores.again()
    try:
        assert later.found(ASKED) == [ferry], "the first question after a restart has them"
        later.settle()
        assert later.vectors() == before, "nothing is made twice"
    finally:
        later.close()


def test_another_partition_is_never_found_by_its_meaning(stores: SemanticWorld) -> None:
    ferry = stores.remember(FERRY)
    here = stores.remember("The ship to the lighthouse sails at ten.", group())
    stores.settle()
    assert stores.found(ASKED) == [ferry]
    assert stores.found(ASKED, group()) == [here]
    assert stores.found(ASKED, group(session="44444444-4444-4444-8444-444444444444", key=f"{KEY}1")) == []
    assert len(stores.vectors()) == len(stores.vectors(f"conversations/{group().session_id}")) == 1


def test_filters_and_exact_names_come_first_as_before(stores: SemanticWorld) -> None:
    stores.remember(FERRY)
    named = stores.remember("Steel.")
    stores.settle()
    assert stores.found(named)[0] == named, "its own id"


def test_an_edited_record_is_found_by_what_it_says_now(stores: SemanticWorld) -> None:
    record = stores.remember(FERRY)
    other = stores.remember(BREAD)
    stores.settle()
    [path] = [path for path in stores.private().glob("claims/*.md") if FERRY in path.read_text()]
    path.write_text(path.read_text().replace(FERRY, "Violins need new strings each spring."))
    assert record not in stores.found("ship departure harbour sea"), "the old meaning is gone at once"
    stores.settle()
    before = {key: blob for key, _, _, blob in stores.vectors()}
    stores.configure(OFF)
    path.write_text(path.read_text().replace("spring", "winter"))
    assert record in stores.found("violins")
    assert [row[3] in before.values() for row in stores.vectors()] == [True], "nothing of it is kept"
    stores.configure(ON)
    stores.found(ASKED)
    stores.settle()
    assert len(stores.vectors()) == 2
    assert stores.found("music instruments maintenance")[0] == record
    assert stores.found("a loaf from the oven")[0] == other


def test_the_vector_of_a_removed_record_goes_with_it(stores: SemanticWorld) -> None:
    stores.remember(FERRY)
    stores.remember(BREAD)
    stores.settle()
    kept = {key for key, *_ in stores.vectors()}
    next(path for path in stores.private().glob("claims/*.md") if FERRY in path.read_text()).unlink()
    assert len(stores.found(ASKED)) == 1
    [row] = stores.vectors()
    assert row[0] in kept


def test_with_writes_off_nothing_is_written_and_meaning_is_searched_all_the_same(
    stores: SemanticWorld,
) -> None:
    stores.configure(OFF)
    stores.remember(FERRY)
    stores.configure("{semantic: true, writesEnabled: false}")
    added = put(stores.private(), "notes/x.md", b"no record")
    stores.found(ASKED)
    stores.settle()
    assert len(stores.found(ASKED)) == 1 and stores.vectors() == [] and added.exists()
    path = next(iter(stores.private().glob("claims/*.md")))
    path.write_text(path.read_text().replace(FERRY, BREAD))
    stores.found("x")
    stores.settle()
    assert len(stores.found("a loaf from the oven")) == 1 and stores.vectors() == []


def test_vectors_of_another_model_are_made_anew(stores: SemanticWorld) -> None:
    ferry = stores.remember(FERRY)
    stores.settle()
    other = Same("another model", 8)
    later = SemanticWorld(_closed(stores), other.service)
    try:
        later.found("Which words?")
        later.settle()
        assert [(name, len(blob)) for _, name, _, blob in later.vectors()] == [("another model", 16)]
        assert later.found("anything") == [ferry]
    finally:
        later.close()
        other.close()


def test_without_a_model_words_decide(stores: SemanticWorld) -> None:
    ferry = stores.remember(FERRY)
    pool = WorkerPool(1)
    later = SemanticWorld(_closed(stores), EmbedService(None, pool))
    try:
        assert later.found(ASKED) == [] and later.found("boat") == [ferry]
        later.settle()
        assert later.vaults.vectors is not None and not later.vaults.vectors.on
    finally:
        later.close()
        pool.close()


def test_nobody_waits_for_a_model_that_does_not_answer(tmp_path: Path) -> None:
    slow = Same("slow", 8)
    slow.may.clear()
    stores = SemanticWorld(tmp_path, slow.service)
    stores.question = lambda text: None  # type: ignore[method-assign]
    try:
        ferry = stores.remember(FERRY)
        assert stores.found("boat") == [ferry] and stores.found("baked") == []
        bread = stores.remember(BREAD)
        assert stores.found("baked") == [bread] and stores.vectors() == []
        slow.may.set()
        stores.settle()
        assert len(stores.vectors()) == 2
    finally:
        slow.may.set()
        stores.close()
        slow.close()


@pytest.mark.parametrize("text", ["word " * 3_900, "日本語", "x\U0001f600"])
def test_every_text_gets_a_vector(stores: SemanticWorld, text: str) -> None:
    stores.remember(text)
    stores.settle()
    [row] = stores.vectors()
    assert np.linalg.norm(np.frombuffer(row[3], "<f2").astype(np.float32)) == pytest.approx(1, abs=0.01)


def _closed(stores: SemanticWorld) -> Path:
    stores.close()
    return stores.root


class Same:
    """A model for which everything means the same. It answers while `may` is set."""

    def __init__(self, name: str, dimension: int) -> None:
        self.model_id, self.dimension = name, dimension
        self.may = threading.Event()
        self.may.set()
        self.pool = WorkerPool(1)
        self.service = EmbedService(EmbedderSource(name, dimension, lambda: self), self.pool)

    def embed_queries(self, texts: list[str]) -> Matrix:
        return self.embed_documents(texts)

    def embed_documents(self, texts: list[str]) -> Matrix:
        assert self.may.wait(PATIENCE)
        rows: Matrix = np.ones((len(texts), self.dimension), np.float32)
        return rows / np.float32(np.sqrt(self.dimension))

    def close(self) -> None:
        self.service.close()
        self.pool.close()
