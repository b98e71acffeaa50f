"""Blending a cross-encoder's judgement of the best hits with the scores they came with. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lorebank.search.columns import Doubles


@dataclass(frozen=True, slots=True)
class Reranked:
    """Where a hit goes: its `place` in the search result, the cross-encoder's score (sigmoid, 0..1; None
    outside of the pool) and the blended score that orders the list, 0..1.
    """

    place: int
    reranker: float | None
    score: float


def blend(scores: Sequence[float], logits: Sequence[float], weight: float) -> list[Reranked]:
    """All hits in their new order: the first `len(logits)` (the pool) reordered, the rest behind them as they
    were.

    `scores` are the final scores of the hits, best first; `logits` the cross-encoder's outputs for the
    first of them. In the pool both measures are scaled to 0..1, then mixed: `weight` for the cross-encoder.
    """
    pool = min(len(logits), len(scores))
    if pool == 0:
        return [Reranked(place, None, float(score)) for place, score in enumerate(scores)]
    judged = np.nan_to_num(np.asarray(logits[:pool], np.float64), nan=-1e3, posinf=1e3, neginf=-1e3)
    own = np.asarray(scores[:pool], np.float64)
    mixed = weight * _scaled(judged) + (1 - weight) * _scaled(own)
    # Into the range that the pool's own scores had, so that the list stays in falling order behind the pool.
    low, high = float(own.min()), float(own.max())
    final = low + (high - low) * mixed
    order = np.argsort(-final, kind="stable").tolist()
    sure = _sigmoid(judged)
    head = [Reranked(place, float(sure[place]), float(final[place])) for place in order]
    return head + [Reranked(place, None, float(scores[place])) for place in range(pool, len(scores))]


def _scaled(values: Doubles) -> Doubles:
    span = float(values.max() - values.min())
    return np.ones_like(values) if span <= 0 else (values - values.min()) / span


def _sigmoid(values: Doubles) -> Doubles:
    sure: Doubles = 1 / (1 + np.exp(-np.clip(values, -60, 60)))
    return sure
