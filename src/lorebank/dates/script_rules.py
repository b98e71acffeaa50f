"""Building blocks for the rules of languages that are searched by pattern instead of by first word."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from lorebank.dates import period
from lorebank.dates.period import Direction, Period, Unit
from lorebank.dates.rules import Build, LazyPattern, Rule
from lorebank.dates.words import alternatives, number

STEP: dict[Direction, int] = {"last": -1, "this": 0, "next": 1}


def rule(pattern: str, build: Build, *, relative: bool = True) -> Rule:
    """A rule that is searched for everywhere in the text."""
    return Rule(LazyPattern(pattern), build, relative)


def day_rule(words: Mapping[str, int], tail: str = "") -> Rule:
    """Words that mean a day at a fixed distance from the anchor's."""
    return rule(f"({alternatives(tuple(words))}){tail}", lambda m, a: period.day(a, words[m[1]]))


def shift_rule(words: Mapping[str, tuple[Unit, int]], tail: str = "") -> Rule:
    """Words that mean a unit at a fixed distance, such as "last month" written as one word."""
    return rule(f"({alternatives(tuple(words))}){tail}", lambda m, a: period.offset(a, *words[m[1]]))


def away(count: str, unit: Unit, sign: int, anchor: datetime) -> Period:
    """`count` units away from the anchor; a vague count gives a range."""
    amount = number(count)
    return period.few(anchor, unit, sign) if amount is None else period.offset(anchor, unit, sign * amount)


def full_date(year: str, month: str | None, day: str | None, anchor: datetime) -> Period:
    """Year, year and month, or the whole date, whichever parts are given."""
    if month is None:
        return period.year_of(int(year), anchor.tzinfo)
    if day is None:
        return period.month_of(int(year), checked_month(month), anchor.tzinfo)
    that = date(int(year), int(month), int(day))
    return period.days(that, that, anchor.tzinfo, "day")


def month_day(month: str, day: str | None, anchor: datetime) -> Period:
    """A month and perhaps a day without a year: the nearest one."""
    if day is None:
        return period.nearest_month(anchor, checked_month(month))
    return period.nearest_day(anchor, int(month), int(day))


def checked_month(month: str) -> int:
    """The number of a month. Raises `ValueError` outside 1-12."""
    value = int(month)
    if not 1 <= value <= 12:
        raise ValueError("no such month")
    return value
