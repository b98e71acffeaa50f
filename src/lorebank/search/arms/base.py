"""What every arm returns, and how the best of an arm are chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lorebank.search.columns import Floats

Slots = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ArmResult:
    """The slots an arm found, best first, and their raw scores in the arm's own measure."""

    slots: Slots
    scores: Floats

    @classmethod
    def nothing(cls) -> ArmResult:
        return cls(np.zeros(0, np.intp), np.zeros(0, np.float32))


def best(scores: Floats, limit: int, least: float) -> ArmResult:
    """The `limit` slots with the highest scores of at least `least`; of equals the earlier slot first."""
    places: Slots = np.flatnonzero(scores >= np.float32(least))
    if len(places) > limit > 0:
        # Only what reaches `least` is partitioned: the zeros of the many that do not match make it slow.
        values = scores[places]
        places = places[values >= np.partition(values, len(values) - limit)[len(values) - limit]]
    order = np.argsort(-scores[places], kind="stable")[:limit]
    return ArmResult(places[order], scores[places[order]])


def ranked(slots: Slots, scores: Floats, ties: Floats, limit: int) -> ArmResult:
    """The first `limit` of `slots` by score, of equals the higher tie value first, then the earlier slot."""
    order = np.lexsort((slots, -ties, -scores))[:limit]
    return ArmResult(slots[order], scores[order])
