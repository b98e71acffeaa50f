"""Why each result is there: the arms that found it, their ranks and scores, the sum of the final score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lorebank.banks.recall.ask import Ask, Found
from lorebank.clock import to_iso
from lorebank.search import Hit, SearchResult


def build(
    ask: Ask,
    result: SearchResult,
    found: Sequence[Found],
    timings: Mapping[str, float],
    degraded: Mapping[str, str],
) -> dict[str, Any]:
    """The trace object of an answer; times in milliseconds."""
    return {
        "query": {
            "budget": ask.budget,
            "max_tokens": ask.max_tokens,
            "query_timestamp": to_iso(ask.now),
            "period": _period(result),
        },
        "arms": {arm: {"candidates": len(keys)} for arm, keys in result.arm_keys.items()},
        "fusion": {"visible": result.visible, "candidates": result.candidates, "kept": len(result)},
        "results": [
            _result(place, item, item.hit)
            for place, item in enumerate(found, start=1)
            if item.hit is not None
        ],
        "timings_ms": {name: round(value, 3) for name, value in timings.items()},
        "degraded": dict(degraded),
    }


def _period(result: SearchResult) -> list[str | None] | None:
    if result.period is None:
        return None
    start, end = result.period
    return [to_iso(int(start * 1_000_000)), to_iso(int(end * 1_000_000))]


def _result(place: int, item: Found, hit: Hit) -> dict[str, Any]:
    return {
        "rank": place,
        "id": item.memory.id,
        "arms": {name: {"rank": a.rank, "score": round(a.score, 6)} for name, a in hit.arms.items()},
        "parts": {name: round(value, 6) for name, value in hit.parts.items()},
        "multipliers": {name: round(value, 6) for name, value in hit.multipliers.items()},
        "fused": round(hit.score, 6),
        "reranker": None if item.reranker is None else round(item.reranker, 6),
        "final": round(item.final, 6),
    }
