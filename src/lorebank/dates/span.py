"""The value that `find_dates` returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lorebank.dates.period import Precision

Bound = Literal["since", "until", "before", "after"]


@dataclass(frozen=True, slots=True)
class DateSpan:
    """A date expression in a text.

    `begin` and `stop` are character offsets, `text` is the part between them. `start` and `end` are the first
    and the last moment of the period that is meant, both inclusive, aware, in the anchor's zone (UTC
    without an anchor). `precision` is the granularity to which they are known: a weekend has precision
    "day" and two days. "season" stands for any three months, a quarter too. `relative` says that the anchor
    was needed. `bound` is the word before the span that makes the period one edge of a longer one ("since
    2016"); the word is not in the span.
    """

    begin: int
    stop: int
    text: str
    start: datetime
    end: datetime
    precision: Precision
    relative: bool
    bound: Bound | None = None
