"""One search: the arms, their fusion, and the order of the result."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from lorebank.errors import Bug, LorebankError, Unavailable
from lorebank.search import fusion
from lorebank.search.arms import graph as graph_arm
from lorebank.search.arms import temporal as temporal_arm
from lorebank.search.arms.base import ArmResult, Slots, best, ranked
from lorebank.search.columns import Bools, Doubles, Floats, Longs
from lorebank.search.lexical import bm25, identified
from lorebank.search.query import SearchQuery, SearchResult
from lorebank.search.settings import Arm, SearchSettings
from lorebank.search.snapshot import Snapshot
from lorebank.search.temporal import question_range
from lorebank.search.tokenize import query_terms, terms
from lorebank.search.vector import MISSING

ARM_ERRORS: Final = (LorebankError, ArithmeticError, LookupError, ValueError)


def search(snapshot: Snapshot, query: SearchQuery, settings: SearchSettings | None = None) -> SearchResult:
    """The passages of `snapshot` that answer `query`, best first.

    An arm that fails is named in `degraded` of the result and the others answer. Deterministic: the same
    snapshot and query give the same result, and what the query may not see changes nothing in it.
    """
    return _Search(snapshot, query, settings or SearchSettings()).run()


@dataclass(slots=True)
class _Search:
    """The working state of one search."""

    snapshot: Snapshot
    query: SearchQuery
    settings: SearchSettings
    timings: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    found: dict[Arm, ArmResult] = field(default_factory=dict)
    cosines: Floats | None = None
    keywords: Floats | None = None
    period: tuple[float, float] | None = None
    identified: Slots = field(default_factory=lambda: np.zeros(0, np.intp))
    near: Floats | None = None

    def run(self) -> SearchResult:
        started = time.perf_counter()
        mask = self.snapshot.visible(self.query.kinds, self.query.tag_filter)
        self._clock("filter", started)
        self._arm("semantic", lambda: self._semantic(mask))
        self._arm("keyword", lambda: self._keyword(mask))
        relevance = fusion.Relevance.calibrated(self.cosines, self.keywords, self.settings)
        self._arm("temporal", lambda: self._temporal(mask, relevance))
        self._arm("graph", lambda: self._graph(mask, relevance))
        started = time.perf_counter()
        slots, parts, factors = self._fused(mask, relevance)
        self._clock("fusion", started)
        return self._result(mask, slots, parts, factors)

    def _clock(self, stage: str, started: float) -> None:
        self.timings[stage] = (time.perf_counter() - started) * 1000

    def _arm(self, arm: Arm, work: Callable[[], ArmResult]) -> None:
        """Run an arm; a failure of it is noted, not raised."""
        if arm not in self.query.arms:
            return
        started = time.perf_counter()
        try:
            self.found[arm] = work()
        except ARM_ERRORS as error:
            self.reasons[arm] = error.message if isinstance(error, LorebankError) else type(error).__name__
        self._clock(arm, started)

    def _semantic(self, mask: Bools) -> ArmResult:
        vector, vectors = self.query.vector, self.snapshot.vectors
        if vectors is None or vector is None:
            raise Unavailable(
                "this store has no vectors" if vectors is None else "the question has no vector"
            )
        if vector.shape != (vectors.dimension,) or not np.isfinite(vector).all():
            raise Bug(f"a question vector of shape {vector.shape} does not fit width {vectors.dimension}")
        scores = self.snapshot.products.cosines(vectors, np.asarray(vector, np.float32), self.snapshot.count)
        scores[~mask] = MISSING
        self.cosines = scores
        return best(
            scores, self.query.per_arm, -1.5 if self.query.min_semantic is None else self.query.min_semantic
        )

    def _keyword(self, mask: Bools) -> ArmResult:
        scores = bm25(self.snapshot, mask, query_terms(self.query.text), self.settings)
        self.keywords = scores
        self.identified = identified(self.snapshot, mask, terms(self.query.text))
        return best(scores, self.query.per_arm, max(self.query.min_keyword or 0.0, 1e-9))

    def _temporal(self, mask: Bools, relevance: fusion.Relevance) -> ArmResult:
        self.period = self.query.window or question_range(self.query.text, self.query.now)
        if self.period is None:
            return ArmResult.nothing()
        near = temporal_arm.proximity(self.snapshot, mask, *self.period)
        self.near = near
        close: Slots = np.flatnonzero(near >= temporal_arm.CLOSE)
        return ranked(close, near[close], relevance.own(close), self.query.per_arm)

    def _graph(self, mask: Bools, relevance: fusion.Relevance) -> ArmResult:
        seeds = self._union("semantic", "keyword")
        if len(seeds) == 0:
            return ArmResult.nothing()
        chosen = ranked(seeds, relevance.own(seeds), np.zeros(len(seeds), np.float32), self.settings.seeds)
        return graph_arm.expand(
            self.snapshot, mask, chosen.slots, chosen.scores, self.query.per_arm, self.settings
        )

    def _union(self, *arms: Arm) -> Slots:
        parts = [self.found[arm].slots for arm in arms if arm in self.found]
        return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.intp)

    def _fused(
        self, mask: Bools, relevance: fusion.Relevance
    ) -> tuple[Slots, dict[str, Floats], dict[str, Floats]]:
        """The candidates of all arms, the summands of their scores and the factors."""
        settings, snapshot = self.settings, self.snapshot
        slots = self._union("semantic", "keyword", "graph", "temporal")
        if len(slots) == 0:
            return slots, {}, {}
        sense, words = relevance.parts(slots)
        parts = {"semantic": sense, "keyword": words}
        parts |= fusion.conversation_parts(snapshot, mask, slots, relevance, settings)
        parts["thread"] = fusion.thread_part(snapshot, slots, fusion.summed(parts), settings.thread)
        named = snapshot.speakers.named_by(terms(self.query.text))
        parts |= fusion.speaker_parts(snapshot, slots, named, settings)
        parts["graph"] = self._reached(slots)
        if len(self.identified):
            held = np.isin(slots, self.identified)
            parts["identifier"] = held.astype(np.float32) * np.float32(settings.identifier)
        if self.near is not None:
            parts["temporal"] = np.float32(settings.temporal) * self.near[slots]
        whole = np.float32(fusion.total_weight(settings))
        scaled = {name: values / whole for name, values in parts.items()}
        return slots, scaled, fusion.multipliers(snapshot, slots, self.query.now, settings)

    def _reached(self, slots: Slots) -> Floats:
        """The graph arm's scores, scaled to its weight."""
        found = self.found.get("graph")
        added = np.zeros(len(slots), np.float32)
        if found is not None and len(found.slots):
            places = np.searchsorted(slots, found.slots)
            added[places] = np.float32(self.settings.graph) * found.scores / found.scores[0]
        return added

    def _result(
        self, mask: Bools, slots: Slots, parts: dict[str, Floats], factors: dict[str, Floats]
    ) -> SearchResult:
        scores = fusion.summed(parts).astype(np.float64) if parts else np.zeros(0)
        for factor in factors.values():
            scores *= factor
        scores = np.clip(scores, 0.0, 1.0)
        order = self._order(slots, scores)
        kept = slots[order]
        columns = self.snapshot.columns
        return SearchResult(
            keys=columns.key[kept],
            scores=scores[order],
            tokens=columns.tokens[kept].astype(np.int64),
            previous=self._previous(mask, kept),
            semantic=_measured(self.cosines, kept, -1.5),
            keyword=_measured(self.keywords, kept, 0.0),
            parts={name: values[order] for name, values in parts.items()},
            multipliers={name: values[order] for name, values in factors.items()},
            arm_keys={arm: columns.key[found.slots] for arm, found in self.found.items()},
            arm_scores={arm: found.scores for arm, found in self.found.items()},
            timings=self.timings,
            visible=int(np.count_nonzero(mask)),
            candidates=len(slots),
            degraded=sorted(self.reasons),
            reasons=self.reasons,
            period=self.period,
        )

    def _previous(self, mask: Bools, slots: Slots) -> Longs:
        before, _ = self.snapshot.neighbours(slots, mask)
        return np.where(before >= 0, self.snapshot.columns.key[before], -1)

    def _order(self, slots: Slots, scores: Doubles) -> Slots:
        """Places of the hits to give back, best first; of equal ones the newer."""
        order: Slots = np.lexsort((-slots, -scores))
        if self.query.min_final is not None:
            order = order[scores[order] >= self.query.min_final]
        limit = 2 * self.query.per_arm if self.query.limit is None else self.query.limit
        if self.query.prefer_observations:
            order = self._without_observed(slots, order, 2 * self.query.per_arm)
        return order[:limit]

    def _without_observed(self, slots: Slots, order: Slots, top: int) -> Slots:
        """Without the facts on which an observation among the first `top` rests."""
        sources = self.snapshot.sources
        keys = {key for slot in slots[order[:top]].tolist() for key in sources.get(slot, ())}
        observed = self.snapshot.slots_of(sorted(keys))
        return order[~np.isin(slots[order], observed)]


def _measured(scores: Floats | None, slots: Slots, above: float) -> Floats:
    """Raw scores of `slots`, NaN where the arm says nothing about a slot."""
    if scores is None:
        return np.full(len(slots), np.nan, np.float32)
    return np.where(scores[slots] > above, scores[slots], np.nan).astype(np.float32)
