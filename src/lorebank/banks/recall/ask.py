"""What recall is asked and what it answers, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lorebank.clock import Micros
from lorebank.search import Hit
from lorebank.search.settings import Budget
from lorebank.storage.rows import Chunk, Entity, FactType, Memory
from lorebank.tags import TagFilter


@dataclass(frozen=True, slots=True)
class MinScores:
    """Least scores of a result, each None for no bound: cosine, BM25, cross-encoder 0..1, final 0..1."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None


@dataclass(frozen=True, slots=True)
class Include:
    """Token budgets of the parts beside the results; None leaves a part out.

    `per_observation` caps the source facts of one observation, -1 for no cap.
    """

    entities: int | None = None
    chunks: int | None = None
    source_facts: int | None = None
    per_observation: int = -1


@dataclass(frozen=True, slots=True)
class Ask:
    """One recall. `kinds` None means all; `now` anchors relative dates (specs, query_timestamp)."""

    query: str
    now: Micros
    kinds: frozenset[FactType] | None = None
    filter: TagFilter | None = None
    budget: Budget = "mid"
    max_tokens: int = 4096
    window: tuple[Micros, Micros] | None = None
    min_scores: MinScores = MinScores()
    prefer_observations: bool = False
    include: Include = Include()
    trace: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that made it into the answer, with its scores; `hit` tells them apart where a trace is asked.

    `final` and `reranker` are 0..1, `semantic` is a cosine, `keyword` a BM25 score.
    """

    memory: Memory
    final: float
    reranker: float | None = None
    semantic: float | None = None
    keyword: float | None = None
    hit: Hit | None = None


@dataclass(frozen=True, slots=True)
class ChunkPart:
    """A source chunk in the answer, its text cut where the budget ended."""

    chunk: Chunk
    text: str
    truncated: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The results in order, and the parts that were asked for.

    `degraded` maps each arm or stage that could not work to a plain reason; it is empty when
    everything worked. `trace` is None unless asked for.
    """

    found: Sequence[Found]
    entities: Sequence[tuple[Entity, Sequence[Memory]]] = ()
    chunks: Sequence[ChunkPart] = ()
    source_facts: Sequence[Memory] = ()
    source_facts_truncated: bool = False
    degraded: Mapping[str, str] = field(default_factory=dict)
    trace: Mapping[str, Any] | None = None
