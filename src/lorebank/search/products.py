"""Vector products of simultaneous questions, computed together.

A product with a large matrix costs what reading the matrix from memory costs, so eight questions at once cost
little more than one. Nobody waits for company: a question that comes alone is computed alone, and those that
come while a product runs are the next one.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Final

from lorebank.search.columns import Floats
from lorebank.search.vector import Vectors

MOST_TOGETHER: Final = 8
WORTHWHILE_ROWS: Final = 20_000
# Below this many questions the matrix product is slower than one vector product for each (measured).
WORTHWHILE_TOGETHER: Final = 3


@dataclass(eq=False, slots=True)
class _Job:
    vectors: Vectors
    query: Floats
    count: int
    woken: threading.Event = field(default_factory=threading.Event)
    scores: Floats | None = None
    error: BaseException | None = None


class Products:
    """The lane through which searches of one index ask for cosines. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[_Job] = []
        self._busy = False

    def cosines(self, vectors: Vectors, query: Floats, count: int) -> Floats:
        """As `Vectors.cosines`; the last digit may differ with the number of questions computed together."""
        if count < WORTHWHILE_ROWS:
            return vectors.cosines(query, count)
        job = _Job(vectors, query, count)
        with self._lock:
            self._waiting.append(job)
            leads = not self._busy
            self._busy = True
        if not leads:
            job.woken.wait()
        if job.scores is None and job.error is None:
            self._compute_with(job)
        if job.scores is None:
            raise ValueError("the vector product failed") from job.error
        return job.scores

    def _compute_with(self, leader: _Job) -> None:
        """Compute the leader's product and those that fit to it, then wake one of the others to lead."""
        with self._lock:
            alike = [
                job for job in self._waiting if job.vectors is leader.vectors and job.count == leader.count
            ]
            batch = [leader, *(job for job in alike if job is not leader)][:MOST_TOGETHER]
            self._waiting = [job for job in self._waiting if job not in batch]
        try:
            for job, scores in zip(batch, _scores(batch), strict=True):
                job.scores = scores
        except (ValueError, MemoryError) as error:
            for job in batch:
                job.error = error
        finally:
            self._hand_over(batch)

    def _hand_over(self, batch: list[_Job]) -> None:
        with self._lock:
            following = self._waiting[0] if self._waiting else None
            self._busy = following is not None
        for job in (*batch, following):
            if job is not None:
                job.woken.set()


def _scores(batch: list[_Job]) -> list[Floats]:
    first = batch[0]
    if len(batch) < WORTHWHILE_TOGETHER:
        return [job.vectors.cosines(job.query, job.count) for job in batch]
    return first.vectors.cosines_of([job.query for job in batch], first.count)
