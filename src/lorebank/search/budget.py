"""Fitting a ranked list into a token budget."""

from __future__ import annotations

from collections.abc import Sequence


def fit(tokens: Sequence[int], max_tokens: int) -> list[int]:
    """Places of the items to keep, in order, so that their tokens never add up to more than `max_tokens`.

    An item that does not fit is skipped and shorter ones behind it may still come: measured better than
    stopping at the first that overflows, and a single long item never empties an answer.
    """
    kept: list[int] = []
    left = max_tokens
    for place, cost in enumerate(tokens):
        if cost <= left:
            kept.append(place)
            left -= cost
    return kept
