"""Dates that lean on another date: "the week before 9 June 2023", "two days after last Friday"."""

from __future__ import annotations

import re
from datetime import datetime

from lorebank.dates import period
from lorebank.dates.english import COUNT, UNITS, WEEKDAY_NAMES, count
from lorebank.dates.period import Period, Unit
from lorebank.dates.rules import LazyPattern
from lorebank.dates.words import alternatives

# The part before the inner date. Only the first words are fixed, so that the pattern fails at once elsewhere.
PREFIX = LazyPattern(
    rf"(?:the ({alternatives(WEEKDAY_NAMES)}|day|night|week|weekend|month|year)"
    rf"|{COUNT} (day|week|month|year)s?)"
    r" (before|after|prior to|following|of) (?:the )?(?:week of )?",
    re.IGNORECASE,
)


def shifted(match: re.Match[str], start: datetime, end: datetime) -> Period | None:
    """The period that the prefix means, given the inner date; None when the two make no sense together."""
    word, amount, unit, relation = match[1], match[2], match[3], match[4].lower()
    if relation == "of":
        return period.week(start, 0) if word and word.lower() == "week" else None
    sign = 1 if relation in ("after", "following") else -1
    edge = end if sign > 0 else start
    if amount:
        return _counted(edge, count(amount), UNITS[unit.lower()], sign)
    return _named(edge, word.lower(), sign)


def _named(edge: datetime, word: str, sign: int) -> Period:
    if word in WEEKDAY_NAMES:
        return period.weekday(edge, WEEKDAY_NAMES[word], "next" if sign > 0 else "last")
    if word == "week":  # the seven days next to the date, not the calendar week
        near, far = period.day(edge, sign), period.day(edge, 7 * sign)
        return Period(min(near.start, far.start), max(near.end, far.end), "week")
    return period.offset(edge, UNITS[word], sign)


def _counted(edge: datetime, amount: int | None, unit: Unit, sign: int) -> Period:
    return period.few(edge, unit, sign) if amount is None else period.offset(edge, unit, sign * amount)
