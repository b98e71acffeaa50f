"""What the rest of lorebank calls to embed and to rerank: deadlines, batches, counts, no waiting at start.

A service knows its model's id and dimension before the weights are loaded, so stored vectors can be
told apart at once. It is safe to call from many threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lorebank.errors import Unavailable
from lorebank.models.batching import by_length
from lorebank.models.loading import LazyModel, ModelStatus
from lorebank.models.ports import Embedder, Matrix, Reranker, Vector
from lorebank.models.query_cache import QueryCache
from lorebank.models.workers import Lane, Work, WorkerPool

_TOGETHER = 8
# About 640 tokens of English; the model itself counts exactly.
_BATCH_CHARACTERS = 3_200


@dataclass(frozen=True, slots=True)
class EmbedderSource:
    """An embedder that is not loaded yet; `load` may take seconds and may raise `Unavailable`.

    `rows` and `characters` bound the documents of one call.
    """

    model_id: str
    dimension: int
    load: Callable[[], Embedder]
    rows: int = _TOGETHER
    characters: int = _BATCH_CHARACTERS


@dataclass(frozen=True, slots=True)
class RerankerSource:
    """A reranker that is not loaded yet."""

    model_id: str
    load: Callable[[], Reranker]


@dataclass(frozen=True, slots=True)
class EmbedStats:
    """Counts since the start; milliseconds are spent inside the model, over all threads."""

    queries: int = 0
    query_cache_hits: int = 0
    query_ms: float = 0.0
    documents: int = 0
    document_ms: float = 0.0


class EmbedService:
    """Questions and documents to unit vectors of one model, chosen for the life of the service."""

    def __init__(self, source: EmbedderSource | None, pool: WorkerPool, *, cache_size: int = 512) -> None:
        self._source = source
        self._pool = pool
        self._lazy = None if source is None else LazyModel(source.model_id, source.load)
        self._cache = QueryCache(cache_size)
        self._query_work = Work(Lane.QUERY, self._run_queries, most=_TOGETHER)
        self._document_work = Work(Lane.DOCUMENTS, self._run_documents)
        self._stats = EmbedStats()
        self._stats_lock = threading.Lock()

    @property
    def model_id(self) -> str:
        """The id to store beside vectors; `off` where no embedder is configured."""
        return "off" if self._source is None else self._source.model_id

    @property
    def dimension(self) -> int:
        """Numbers in a vector; 0 where no embedder is configured."""
        return 0 if self._source is None else self._source.dimension

    @property
    def status(self) -> ModelStatus:
        """`off`, `loading`, `ready`, or `failed` with a public reason; never waits."""
        if self._lazy is None:
            return ModelStatus("off", "No embedder is configured; search uses the other arms.")
        return self._lazy.status

    @property
    def stats(self) -> EmbedStats:
        """Counts since the start."""
        with self._stats_lock:
            return self._stats

    def start(self) -> None:
        """Begin to load the model in the background; tries again after a failure."""
        if self._lazy is not None:
            self._lazy.start()

    def close(self) -> None:
        """Wait for a load that is under way; called once, before the process ends."""
        if self._lazy is not None:
            self._lazy.close()

    def embed_query(self, text: str, deadline_s: float) -> Vector:
        """The read-only unit vector of a question, within `deadline_s` seconds.

        Raises `Unavailable` when the model is off, failed, not loaded in time, or too busy.
        """
        cached = self._cache.get(self.model_id, text)
        if cached is not None:
            self._count(queries=1, query_cache_hits=1)
            return cached
        deadline = time.monotonic() + deadline_s
        self._model(deadline_s)
        vector: Vector = self._pool.call(self._query_work, text, deadline)
        return self._cache.put(self.model_id, text, vector)

    def embed_documents(self, texts: Sequence[str], deadline_s: float) -> Matrix:
        """A unit row for each text, in order; raises `Unavailable` as `embed_query` does.

        Meant for background work: questions overtake it between two batches.
        """
        deadline = time.monotonic() + deadline_s
        self._model(deadline_s)
        assert self._source is not None
        batches = list(by_length([len(text) for text in texts], self._source.rows, self._source.characters))
        payloads = [[texts[i] for i in batch] for batch in batches]
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for batch, part in zip(
            batches, self._pool.call_many(self._document_work, payloads, deadline), strict=True
        ):
            rows[batch] = part
        return rows

    def _model(self, timeout_s: float) -> Embedder:
        if self._lazy is None:
            raise Unavailable(self.status.reason)
        return self._lazy.get(timeout_s)

    def _run_queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        started = time.perf_counter()
        rows = self._checked(self._model(0.0).embed_queries(texts), len(texts))
        self._count(queries=len(texts), query_ms=_ms_since(started))
        return [row.copy() for row in rows]  # a view would keep the whole batch alive in the cache

    def _run_documents(self, payloads: Sequence[Sequence[str]]) -> Sequence[Matrix]:
        started = time.perf_counter()
        rows = [self._checked(self._model(0.0).embed_documents(texts), len(texts)) for texts in payloads]
        self._count(documents=sum(map(len, payloads)), document_ms=_ms_since(started))
        return rows

    def _checked(self, rows: Matrix, count: int) -> Matrix:
        if rows.shape != (count, self.dimension):
            raise Unavailable(
                f"The embedder {self.model_id} returned {rows.shape[0]} vectors of {rows.shape[-1]} numbers "
                f"where {count} of {self.dimension} were expected; correct the configured dimension."
            )
        return rows

    def _count(self, **added: float) -> None:
        with self._stats_lock:
            now = {name: getattr(self._stats, name) + value for name, value in added.items()}
            self._stats = replace(self._stats, **now)


class RerankService:
    """A cross-encoder that loads on first use and shares the embedder's threads."""

    def __init__(self, source: RerankerSource | None, pool: WorkerPool) -> None:
        self._source = source
        self._pool = pool
        self._lazy = None if source is None else LazyModel(source.model_id, source.load)
        self._work = Work(Lane.RERANK, self._run)

    @property
    def model_id(self) -> str:
        """The reranker's id; `off` where none is configured."""
        return "off" if self._source is None else self._source.model_id

    @property
    def status(self) -> ModelStatus:
        """As `EmbedService.status`; `off` also before the first use."""
        if self._lazy is None:
            return ModelStatus("off", "No reranker is configured; results keep their fused order.")
        return self._lazy.status

    def start(self) -> None:
        """Begin to load the model in the background; tries again after a failure."""
        if self._lazy is not None:
            self._lazy.start()

    def close(self) -> None:
        """Wait for a load that is under way; called once, before the process ends."""
        if self._lazy is not None:
            self._lazy.close()

    def score(self, query: str, texts: Sequence[str], deadline_s: float) -> Vector:
        """One logit a text, in order, within `deadline_s` seconds; else raises `Unavailable`."""
        deadline = time.monotonic() + deadline_s
        if self._lazy is None:
            raise Unavailable(self.status.reason)
        self._lazy.get(deadline_s)
        batches = list(by_length([len(text) for text in texts], _TOGETHER, _BATCH_CHARACTERS))
        payloads = [(query, [texts[i] for i in batch]) for batch in batches]
        scores = np.empty(len(texts), dtype=np.float32)
        for batch, part in zip(batches, self._pool.call_many(self._work, payloads, deadline), strict=True):
            scores[batch] = part
        return scores

    def _run(self, payloads: Sequence[tuple[str, Sequence[str]]]) -> Sequence[Vector]:
        assert self._lazy is not None
        model = self._lazy.get(0.0)
        return [model.score(query, texts) for query, texts in payloads]


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000.0
