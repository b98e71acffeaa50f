"""Periods of time with a precision, and the calendar arithmetic that makes them.

Every function here may raise `ValueError` or `OverflowError` for a date outside the years 1-9999;
`lorebank.dates.find` is the one place that turns them into "no date".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Literal

Precision = Literal["time", "day", "week", "month", "season", "year"]
Direction = Literal["last", "this", "next"]
Part = Literal["early", "mid", "late"]
Unit = Literal["minute", "hour", "day", "week", "weekend", "month", "quarter", "year"]

DAY_END = time(23, 59, 59)
# How far back "a few" reaches, in units: from the far edge to the near edge.
FEW_FAR, FEW_NEAR = 5, 2
_FEW_PRECISION: dict[Unit, Precision] = {
    "minute": "time",
    "hour": "day",
    "day": "week",
    "week": "month",
    "weekend": "month",
    "month": "season",
    "quarter": "year",
    "year": "year",
}


@dataclass(frozen=True, slots=True)
class Period:
    """First and last moment (both inclusive, whole seconds, aware) and the precision they are known to."""

    start: datetime
    end: datetime
    precision: Precision


def days(first: date, last: date, tz: tzinfo | None, precision: Precision) -> Period:
    """The period from the first second of `first` to the last second of `last`."""
    return Period(datetime.combine(first, time.min, tz), datetime.combine(last, DAY_END, tz), precision)


def day(anchor: datetime, offset: int) -> Period:
    """The day `offset` days after the anchor's."""
    that = anchor.date() + timedelta(days=offset)
    return days(that, that, anchor.tzinfo, "day")


def week(anchor: datetime, offset: int) -> Period:
    """The Monday-to-Sunday week `offset` weeks after the anchor's."""
    monday = anchor.date() - timedelta(days=anchor.weekday() - 7 * offset)
    return days(monday, monday + timedelta(days=6), anchor.tzinfo, "week")


def weekday_of_week(anchor: datetime, weekday: int, offset: int) -> Period:
    """The given weekday (0 is Monday) inside the week `offset` weeks after the anchor's."""
    return day(anchor, weekday - anchor.weekday() + 7 * offset)


def weekend(anchor: datetime, offset: int) -> Period:
    """A Saturday and Sunday.

    0 is the running weekend, or the coming one on a weekday; -1 is the one that ended last before the
    anchor's day, +1 the first that begins strictly after it.
    """
    ahead = (5 - anchor.weekday()) % 7
    current = -1 if anchor.weekday() == 6 else ahead
    # On weekdays "this weekend" and "next weekend" are the same two days.
    steps = offset - 1 if offset > 0 and anchor.weekday() < 5 else offset
    saturday = anchor.date() + timedelta(days=current + 7 * steps)
    return days(saturday, saturday + timedelta(days=1), anchor.tzinfo, "day")


def month_of(year: int, number: int, tz: tzinfo | None) -> Period:
    """A calendar month; `number` may lie outside 1-12 and then counts on into other years."""
    return months(year, number, 1, tz, "month")


def months(year: int, number: int, length: int, tz: tzinfo | None, precision: Precision) -> Period:
    """`length` calendar months from month `number` of `year` on."""
    index = year * 12 + number - 1
    first = date(index // 12, index % 12 + 1, 1)
    after = index + length
    if after // 12 > 9999:
        return days(first, date.max, tz, precision)
    return days(first, date(after // 12, after % 12 + 1, 1) - timedelta(days=1), tz, precision)


def month(anchor: datetime, offset: int) -> Period:
    """The calendar month `offset` months after the anchor's."""
    return month_of(anchor.year, anchor.month + offset, anchor.tzinfo)


def year_of(year: int, tz: tzinfo | None, length: int = 1) -> Period:
    """`length` calendar years from `year` on."""
    return days(date(year, 1, 1), date(year + length - 1, 12, 31), tz, "year")


def season_of(year: int, first_month: int, tz: tzinfo | None) -> Period:
    """Three months from `first_month` of `year`: a season, or a quarter of the year."""
    return months(year, first_month, 3, tz, "season")


def quarter(anchor: datetime, offset: int) -> Period:
    """The quarter `offset` quarters after the anchor's."""
    return season_of(anchor.year, (anchor.month - 1) // 3 * 3 + 1 + 3 * offset, anchor.tzinfo)


def weekday(anchor: datetime, number: int, direction: Direction) -> Period:
    """A weekday (0 is Monday) seen from the anchor.

    "last" is the most recent one strictly before the anchor's day, "next" the first strictly after it,
    "this" the first on or after it.
    """
    ahead = (number - anchor.weekday()) % 7
    if direction == "last":
        return day(anchor, ahead - 7)
    return day(anchor, ahead or 7) if direction == "next" else day(anchor, ahead)


def season(anchor: datetime, first_month: int, direction: Direction) -> Period:
    """A season seen from the anchor: "last" is over, "next" has not begun, "this" is of the anchor's year."""
    around = [season_of(anchor.year + n, first_month, anchor.tzinfo) for n in (-2, -1, 0, 1)]
    return _choose(around, anchor, direction, this=2)


def named_month(anchor: datetime, number: int, direction: Direction) -> Period:
    """A month by name seen from the anchor, chosen as `season` chooses."""
    around = [month_of(anchor.year + n, number, anchor.tzinfo) for n in (-2, -1, 0, 1)]
    return _choose(around, anchor, direction, this=2)


def _choose(around: list[Period], anchor: datetime, direction: Direction, this: int) -> Period:
    if direction == "last":
        return [p for p in around if p.end < anchor][-1]
    if direction == "next":
        return next(p for p in around if p.start > anchor)
    running = [p for p in around if p.start <= anchor <= p.end]
    return running[0] if running else around[this]


def nearest_month(anchor: datetime, number: int) -> Period:
    """The month of that name nearest to the anchor's month; half a year away counts as past."""
    ahead = (number - anchor.month) % 12
    return month(anchor, ahead - 12 if ahead >= 6 else ahead)


def nearest_day(anchor: datetime, month_number: int, day_number: int) -> Period:
    """The day and month without a year, in the year that puts it nearest to the anchor."""
    best: date | None = None
    for year in (anchor.year - 1, anchor.year, anchor.year + 1):
        try:
            that = date(year, month_number, day_number)
        except ValueError:  # 29 February, or the end of the calendar
            continue
        if best is None or abs(that - anchor.date()) < abs(best - anchor.date()):
            best = that
    if best is None:
        raise ValueError("no such day")
    return days(best, best, anchor.tzinfo, "day")


def offset(anchor: datetime, unit: Unit, n: int) -> Period:
    """The unit that lies `n` units after the anchor's: a day, a week, a month, known to that unit."""
    if unit in ("hour", "minute"):
        step = timedelta(hours=n) if unit == "hour" else timedelta(minutes=n)
        moment = (anchor + step).replace(microsecond=0)
        return Period(moment, moment, "time")
    if unit == "year":
        return year_of(anchor.year + n, anchor.tzinfo)
    makers = {"day": day, "week": week, "weekend": weekend, "month": month, "quarter": quarter}
    return makers[unit](anchor, n)


def few(anchor: datetime, unit: Unit, sign: int) -> Period:
    """ "A few units ago" (sign -1) or "in a few units" (sign 1): two to five units away."""
    near, far = offset(anchor, unit, sign * FEW_NEAR), offset(anchor, unit, sign * FEW_FAR)
    precision = _FEW_PRECISION[unit]
    return Period(min(near.start, far.start), max(near.end, far.end), precision)


def window(anchor: datetime, unit: Unit, n: int, sign: int) -> Period:
    """ "The last n units" (sign -1) up to the anchor's day, or "the next n units" (sign 1) from it on."""
    far, near = offset(anchor, unit, sign * n), day(anchor, 0)
    precision: Precision = _FEW_PRECISION[unit] if unit == "day" else far.precision
    return Period(min(far.start, near.start), max(far.end, near.end), precision)


def part_of_month(whole: Period, part: Part) -> Period:
    """Roughly a third of a month; of anything longer, a third counted in days. The precision stays."""
    length = (whole.end.date() - whole.start.date()).days + 1
    third = timedelta(days=length // 3)
    first, last = whole.start.date(), whole.end.date()
    if part == "early":
        last = first + third
    elif part == "late":
        first = last - third
    else:
        first, last = first + third, last - third
    return days(first, last, whole.start.tzinfo, whole.precision)
