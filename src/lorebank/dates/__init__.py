"""Dates in free text: spans, the period each one means, and how exactly it is known.

A rule grammar of our own, pure and without dependencies. `find_dates` never raises.
"""

from __future__ import annotations

from lorebank.dates.find import find_dates
from lorebank.dates.period import Period, Precision
from lorebank.dates.span import Bound, DateSpan

__all__ = ["Bound", "DateSpan", "Period", "Precision", "find_dates"]
