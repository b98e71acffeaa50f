"""The tunable numbers of a search. The defaults were measured; `docs/recall-quality.md` says what each is
worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Budget = Literal["low", "mid", "high"]
Arm = Literal["semantic", "keyword", "graph", "temporal"]
ARMS: Final[tuple[Arm, ...]] = ("semantic", "keyword", "graph", "temporal")
PER_ARM: Final[dict[Budget, int]] = {"low": 100, "mid": 300, "high": 1_000}


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Weights of the parts of a score, and limits. Every weight is relative to the sum of them all.

    `semantic` and `keyword` weigh a passage's own calibrated scores (each 0..1). `answer` adds that share
    of the score of a question right before it, `following` of the turn right after it, `thread` of the
    three best turns of its conversation. `speaker` is added to what a person said whom the question names,
    `asking` is taken from turns that only ask, `identifier` is added to the few passages that hold an
    identifier (a ticket, a version, a file name, a long number) of the question. `graph` and `temporal`
    weigh those arms (0..1). Then the sum is multiplied by 1 + a * (x - 0.5) with a = `recency`, `proof`:
    x falls from 1 to 0 over `recency_days` for the first, grows with the logarithm of the proof count for
    the second.
    """

    semantic: float = 0.65
    keyword: float = 0.35
    answer: float = 0.15
    following: float = 0.15
    thread: float = 0.3
    speaker: float = 0.2
    asking: float = 0.07
    identifier: float = 0.6
    graph: float = 0.05
    temporal: float = 0.35
    recency: float = 0.02
    recency_days: float = 365.0
    proof: float = 0.1
    bm25_k1: float = 1.2
    bm25_b: float = 0.3
    max_query_terms: int = 16
    relative_weight: float = 0.5
    max_relatives: int = 8
    cosine_span: float = 0.25
    seeds: int = 20
    entity_cap: int = 200
    rerank_pool: int = 30
    rerank_weight: float = 0.5
