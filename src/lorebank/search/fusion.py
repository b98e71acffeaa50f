"""From the scores of single arms to one score: calibration, evidence from the conversation, multipliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lorebank.search.columns import Bools, Doubles, Floats
from lorebank.search.settings import SearchSettings
from lorebank.search.snapshot import Slots, Snapshot

DAY = 86_400.0
BEST_TURNS = 3


@dataclass(frozen=True, slots=True)
class Relevance:
    """Calibrated scores of slots by what they say themselves, each 0..1, and where they come from.

    A passage that has no vector yet is judged by its words alone, and the other way round when a query has
    no terms.
    """

    cosines: Floats | None
    keywords: Floats | None
    low: float
    span: float
    top_keyword: float
    settings: SearchSettings

    @classmethod
    def calibrated(
        cls, cosines: Floats | None, keywords: Floats | None, settings: SearchSettings
    ) -> Relevance:
        """Scale both measures by what the visible passages reach: cosines from lowest to highest (a span of
        at least `cosine_span`, so that small stores are not stretched), BM25 from 0 to the highest.
        """
        low, high = 0.0, 0.0
        if cosines is not None:
            known = cosines[cosines >= -1.0]
            if len(known) == 0:
                cosines = None
            else:
                low, high = float(known.min()), float(known.max())
        top = 0.0 if keywords is None or len(keywords) == 0 else float(keywords.max())
        span = max(high - low, settings.cosine_span)
        return cls(cosines, keywords if top > 0 else None, high - span, span, top, settings)

    def parts(self, slots: Slots) -> tuple[Floats, Floats]:
        """The weighted semantic and keyword parts of `slots`; their sum is 0..1."""
        wide = np.float32(self.settings.semantic / (self.settings.semantic + self.settings.keyword))
        nothing = np.zeros(len(slots), np.float32)
        words = nothing if self.keywords is None else self.keywords[slots] / np.float32(self.top_keyword)
        if self.cosines is None:
            return nothing, words
        cosines = self.cosines[slots]
        sense = np.clip((cosines - np.float32(self.low)) / np.float32(self.span), 0, 1)
        if self.keywords is None:
            return np.where(cosines >= -1.0, sense, 0).astype(np.float32), nothing
        known = cosines >= -1.0
        return (
            np.where(known, wide * sense, 0).astype(np.float32),
            np.where(known, (1 - wide) * words, words).astype(np.float32),
        )

    def own(self, slots: Slots) -> Floats:
        sense, words = self.parts(slots)
        return sense + words


def conversation_parts(
    snapshot: Snapshot, mask: Bools, slots: Slots, relevance: Relevance, settings: SearchSettings
) -> dict[str, Floats]:
    """What the turns around each slot add: the question it answers, the turn behind it."""
    before, after = snapshot.neighbours(slots, mask)
    answering = (before >= 0) & snapshot.columns.asks[np.maximum(before, 0)]
    return {
        "answer": _borrowed(before, answering, relevance, settings.answer),
        "following": _borrowed(after, after >= 0, relevance, settings.following),
    }


def _borrowed(near: Slots, use: Bools, relevance: Relevance, weight: float) -> Floats:
    added = np.zeros(len(near), np.float32)
    added[use] = np.float32(weight) * relevance.own(near[use])
    return added


def thread_part(snapshot: Snapshot, slots: Slots, scores: Floats, weight: float) -> Floats:
    """For each slot the mean of the three best scores of its conversation; a passage without one stands
    alone.
    """
    threads = snapshot.columns.thread[slots].astype(np.int64)
    groups = np.where(threads >= 0, threads, -1 - slots)
    order = np.lexsort((-scores, groups))
    sorted_groups = groups[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_groups[1:] != sorted_groups[:-1])))
    sizes = np.diff(np.append(starts, len(order)))
    places = np.arange(len(order)) - np.repeat(starts, sizes)
    counted = np.where(places < BEST_TURNS, scores[order], 0)
    means = np.add.reduceat(counted, starts) / np.minimum(sizes, BEST_TURNS)
    found = np.empty(len(slots), np.float32)
    found[order] = np.repeat(means, sizes)
    return np.float32(weight) * found


def speaker_parts(
    snapshot: Snapshot, slots: Slots, named: set[int], settings: SearchSettings
) -> dict[str, Floats]:
    """More for what a named person said, less for turns that only ask."""
    spoken = (
        np.isin(snapshot.columns.speaker[slots], list(named)) if named else np.zeros(len(slots), np.bool_)
    )
    return {
        "speaker": spoken.astype(np.float32) * np.float32(settings.speaker),
        "asking": snapshot.columns.asks[slots].astype(np.float32) * np.float32(-settings.asking),
    }


def multipliers(snapshot: Snapshot, slots: Slots, now: float, settings: SearchSettings) -> dict[str, Floats]:
    """Factors around 1 for how recent a passage is and how often it was proved."""
    columns = snapshot.columns
    proved = np.clip(0.5 + np.log(np.maximum(columns.proof[slots], 1)) / 10, 0, 1)
    return {
        "recency": _factor(_recency(snapshot, slots, now, settings.recency_days), settings.recency),
        "proof": _factor(proved, settings.proof),
    }


def _recency(snapshot: Snapshot, slots: Slots, now: float, days: float) -> Floats:
    """1 for now down to 0 for `days` ago, a half where no date is known. A period counts from its end, so a
    fact known only by its year is as good as new until the year is over.
    """
    _, last = snapshot.happened(slots)
    last = np.where(np.isnan(last), snapshot.columns.mentioned_at[slots], last)
    age = np.maximum(now - last, 0) / (days * DAY)
    return np.where(np.isnan(age), 0.5, np.clip(1 - age, 0, 1)).astype(np.float32)


def _factor(x: Floats | Doubles, strength: float) -> Floats:
    return (1 + strength * (x - 0.5)).astype(np.float32)


def summed(parts: dict[str, Floats]) -> Floats:
    """The sum of all parts, slot by slot."""
    whole: Floats = np.sum(np.stack(list(parts.values())), axis=0, dtype=np.float32)
    return whole


def total_weight(settings: SearchSettings) -> float:
    """The most that the parts can add up to; dividing by it brings scores into 0..1."""
    own = 1 + settings.answer + settings.following
    return own * (1 + settings.thread) + settings.speaker + settings.graph + settings.temporal
