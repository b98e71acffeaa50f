"""The temporal arm: passages near a period of time."""

from __future__ import annotations

from typing import Final

import numpy as np

from lorebank.search.columns import Bools, Doubles, Floats
from lorebank.search.snapshot import Snapshot

DAY: Final = 86_400.0
CLOSE: Final = 0.5
LONGEST_SCALE: Final = 31 * DAY


def proximity(snapshot: Snapshot, mask: Bools, start: float, end: float) -> Floats:
    """How near each visible slot is to the period, 0..1: 1 inside it, a half where it is as far away as
    the period is long (a day at least, 31 at most).

    The nearer of two dates counts, when it happened and when it was said. Passages without a date are 0.
    """
    said = snapshot.columns.mentioned_at[: snapshot.count]
    gap = np.fmin(_gap(said, said, start, end), _gap(*snapshot.happened(slice(snapshot.count)), start, end))
    scale = min(max(end - start, DAY), LONGEST_SCALE)
    return np.where(np.isnan(gap) | ~mask, 0.0, 1.0 / (1.0 + gap / scale)).astype(np.float32)


def _gap(first: Doubles, last: Doubles, start: float, end: float) -> Doubles:
    """Seconds between two periods, 0 where they touch, NaN where one is unknown."""
    return np.maximum(np.maximum(first - end, start - last), 0.0)
