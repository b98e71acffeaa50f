"""The services that search and jobs call, with a small embedder of known vectors and with the real models."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from lorebank.errors import Unavailable
from lorebank.models.local import local_embedder, local_reranker
from lorebank.models.ports import Embedder, Matrix
from lorebank.models.service import EmbedderSource, EmbedService, RerankService
from lorebank.models.workers import WorkerPool


class LetterEmbedder:
    """Counts of three letters, scaled to length 1; questions gain an `a`."""

    model_id = "letters@1"
    max_tokens = 100

    def __init__(self, dimension: int = 3) -> None:
        self.dimension = dimension
        self.calls: list[list[str]] = []

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.calls.append(list(texts))
        counts = np.array([[1.0 + text.count(letter) for letter in "abc"] for text in texts])
        rows: Matrix = (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)
        return rows

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        return self.embed_documents([text + "a" for text in texts])


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    one = WorkerPool(2)
    yield one
    one.close()


def letters(load: Callable[[], Embedder] | None = None) -> tuple[LetterEmbedder, EmbedderSource]:
    embedder = LetterEmbedder()
    return embedder, EmbedderSource("letters@1", 3, load or (lambda: embedder), rows=4)


def test_the_model_id_is_known_before_anything_is_loaded(pool: WorkerPool) -> None:
    service = EmbedService(local_embedder(), pool)
    assert service.model_id.startswith("bge-small-en-v1.5-int8@")
    assert service.dimension == 384
    assert service.status.state == "off"


def test_rows_come_back_in_the_order_of_the_texts(pool: WorkerPool) -> None:
    embedder, source = letters()
    texts = ["a" * (n % 7) + "b" * (n % 5) for n in range(50)]
    rows = EmbedService(source, pool).embed_documents(texts, 5)
    np.testing.assert_allclose(rows, LetterEmbedder().embed_documents(texts), rtol=1e-6)
    assert max(map(len, embedder.calls)) == 4


def test_a_repeated_question_costs_no_model_call(pool: WorkerPool) -> None:
    embedder, source = letters()
    service = EmbedService(source, pool)
    first, again = service.embed_query("abc", 5), service.embed_query("abc", 5)
    assert again is first
    assert embedder.calls == [["abca"]]
    assert service.stats.queries == 2
    assert service.stats.query_cache_hits == 1


def test_questions_from_many_threads_each_get_their_own_vector(pool: WorkerPool) -> None:
    _, source = letters()
    service, wrong = EmbedService(source, pool), list[str]()

    def ask(number: int) -> None:
        for turn in range(20):
            text = "b" * number + "c" * turn
            expected = LetterEmbedder().embed_queries([text])[0]
            if not np.allclose(service.embed_query(text, 5), expected):
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_without_an_embedder_calls_say_that_it_is_off(pool: WorkerPool) -> None:
    service = EmbedService(None, pool)
    service.start()
    assert (service.model_id, service.dimension, service.status.state) == ("off", 0, "off")
    with pytest.raises(Unavailable, match="No embedder is configured"):
        service.embed_query("x", 1)
    with pytest.raises(Unavailable, match="No reranker is configured"):
        RerankService(None, pool).score("x", ["y"], 1)


def test_missing_weights_are_a_reason_and_not_a_crash(pool: WorkerPool, tmp_path: Path) -> None:
    service = EmbedService(local_embedder(tmp_path), pool)
    with pytest.raises(Unavailable, match="cannot be read"):
        service.embed_query("x", 5)
    assert service.status.state == "failed"
    assert "make install" in service.status.reason


def test_a_question_does_not_outwait_its_deadline_while_the_model_loads(pool: WorkerPool) -> None:
    allowed = threading.Event()

    def load() -> Embedder:
        allowed.wait(5)
        return LetterEmbedder()

    _, source = letters(load)
    service = EmbedService(source, pool)
    with pytest.raises(Unavailable, match="still loading"):
        service.embed_query("x", 0.01)
    assert service.status.state == "loading"
    allowed.set()
    assert service.embed_query("x", 5).shape == (3,)


def test_vectors_of_the_wrong_width_are_an_error_that_names_both_widths(pool: WorkerPool) -> None:
    source = EmbedderSource("letters@1", 8, LetterEmbedder)
    with pytest.raises(Unavailable, match=r"3 numbers where 1 of 8"):
        EmbedService(source, pool).embed_documents(["x"], 5)


def test_no_documents_need_no_call(pool: WorkerPool) -> None:
    embedder, source = letters()
    assert EmbedService(source, pool).embed_documents([], 5).shape == (0, 3)
    assert embedder.calls == []


def test_statistics_count_documents_and_time(pool: WorkerPool) -> None:
    _, source = letters()
    service = EmbedService(source, pool)
    service.embed_documents(["a", "b", "c"], 5)
    assert service.stats.documents == 3
    assert service.stats.document_ms > 0


def test_the_real_models_find_and_rank_through_the_services(pool: WorkerPool) -> None:
    texts = ["The ferry to the island leaves at nine.", "Nina plays the cello.", "Lunch was soup."]
    embed, rerank = EmbedService(local_embedder(), pool), RerankService(local_reranker(), pool)
    embed.start()
    question = "Which instrument does Nina play?"
    nearest = embed.embed_documents(texts, 30) @ embed.embed_query(question, 30)
    assert int(np.argmax(nearest)) == 1
    assert int(np.argmax(rerank.score(question, texts, 30))) == 1
    assert rerank.status.state == "ready"
