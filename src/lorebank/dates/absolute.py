"""Explicit dates: ISO and numeric forms, day-month-year, month-year, years, quarters, seasons."""

from __future__ import annotations

import re
from datetime import date, datetime

from lorebank.dates.period import (
    Part,
    Period,
    days,
    month_of,
    nearest_day,
    nearest_month,
    part_of_month,
    season_of,
    year_of,
)
from lorebank.dates.rules import DIGIT, anchored, fixed, word_before
from lorebank.dates.words import AMBIGUOUS_MONTHS, BARE_MONTHS, MONTHS, SEASONS, alternatives, word_set

YEAR = r"(1[5-9]\d\d|20\d\d|21\d\d)"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_IN = frozenset(["in", "during", "since", "until", "till", "throughout", "through", "im", "seit", "bis"])
_BEFORE_DAY = word_set(
    "on by since until till of from before after in next last to am vom bis seit the",
)
_YEAR_AFTER = word_set(
    "in since from until till by during of before after circa around year late early mid summer spring",
    "autumn fall winter christmas the im seit bis ab jahr vor nach years back to and through yılı",
)


def _iso(m: re.Match[str], anchor: datetime) -> Period | None:
    if m[2] is None:
        that = date.fromisoformat(m[1])
        return days(that, that, anchor.tzinfo, "day")
    moment = datetime.fromisoformat(f"{m[1]}T{m[2]}")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=anchor.tzinfo)
    moment = moment.replace(microsecond=0)
    return Period(moment, moment, "time")


def _on(year: int, month: int, day: int, anchor: datetime) -> Period:
    that = date(year, month, day)
    return days(that, that, anchor.tzinfo, "day")


def _year_first(m: re.Match[str], anchor: datetime) -> Period | None:
    return _on(int(m[1]), int(m[2]), int(m[3]), anchor)


def _day_first(m: re.Match[str], anchor: datetime) -> Period | None:
    return _on(int(m[3]), int(m[2]), int(m[1]), anchor)


def _slashed(m: re.Match[str], anchor: datetime) -> Period | None:
    """12/31/2023 and 31/12/2023 are clear; where both readings exist the month comes first."""
    a, b, year = int(m[1]), int(m[2]), int(m[3])
    return _on(year, b, a, anchor) if a > 12 else _on(year, a, b, anchor)


def _year_month(m: re.Match[str], anchor: datetime) -> Period | None:
    return month_of(int(m[1]), int(m[2]), anchor.tzinfo)


def _day_month_year(m: re.Match[str], anchor: datetime) -> Period | None:
    number = MONTHS.get(m[2].lower())
    return _on(int(m[3]), number, int(m[1]), anchor) if number else None


def _month_day_year(m: re.Match[str], anchor: datetime) -> Period | None:
    number = MONTHS.get(m[1].lower())
    return _on(int(m[3]), number, int(m[2]), anchor) if number else None


def _from_to(month: str, year: str, first: str, last: str, anchor: datetime) -> Period | None:
    number = MONTHS.get(month.lower())
    if number is None or int(first) >= int(last):
        return None
    return days(date(int(year), number, int(first)), date(int(year), number, int(last)), anchor.tzinfo, "day")


def _day_range_month(m: re.Match[str], anchor: datetime) -> Period | None:
    return _from_to(m[3], m[4], m[1], m[2], anchor)


def _month_day_range(m: re.Match[str], anchor: datetime) -> Period | None:
    return _from_to(m[1], m[4], m[2], m[3], anchor)


def _yearless(m: re.Match[str], day: str, month: str, ordinal: bool, anchor: datetime) -> Period | None:
    number = MONTHS.get(month.lower())
    # "2 may be enough", "march 10 miles": words, unless an ordinal or a preposition makes them a date.
    doubtful = month.lower() in AMBIGUOUS_MONTHS and month.islower() and not ordinal
    if number is None or (doubtful and word_before(m.string, m.start()) not in _BEFORE_DAY):
        return None
    return nearest_day(anchor, number, int(day))


def _day_month(m: re.Match[str], anchor: datetime) -> Period | None:
    return _yearless(m, m[1], m[2], m[0][len(m[1])].isalpha(), anchor)


def _month_day(m: re.Match[str], anchor: datetime) -> Period | None:
    return _yearless(m, m[2], m[1], m[0][-1].isalpha(), anchor)


def _month_year(m: re.Match[str], anchor: datetime) -> Period | None:
    number = MONTHS.get(m[1].lower())
    return month_of(int(m[2]), number, anchor.tzinfo) if number else None


def _bare_month(m: re.Match[str], anchor: datetime) -> Period | None:
    before = word_before(m.string, m.start())
    if before not in _IN or m[0].lower() not in BARE_MONTHS:
        return None
    return nearest_month(anchor, MONTHS[m[0].lower()])


def _year_alone(m: re.Match[str], anchor: datetime) -> Period | None:
    before, at = word_before(m.string, m.start()), m.start()
    bracketed = at > 0 and m.string[at - 1] in "(['" and m.string[m.end() : m.end() + 1] in (")", "]")
    if before not in _YEAR_AFTER and not bracketed:
        return None
    return year_of(int(m[1]), anchor.tzinfo)


def _year_open(m: re.Match[str], anchor: datetime) -> Period | None:
    """A year with the case ending that makes it a time in Turkish: 2022'de."""
    return year_of(int(m[1]), anchor.tzinfo)


def _decade(m: re.Match[str], anchor: datetime) -> Period | None:
    return year_of(int(m[1]) // 10 * 10, anchor.tzinfo, length=10)


def _quarter(m: re.Match[str], anchor: datetime) -> Period | None:
    return season_of(int(m[2]), int(m[1]) * 3 - 2, anchor.tzinfo)


_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}


def _named_quarter(m: re.Match[str], anchor: datetime) -> Period | None:
    return season_of(int(m[2]), _ORDINALS[m[1].lower()] * 3 - 2, anchor.tzinfo)


def _season_year(m: re.Match[str], anchor: datetime) -> Period | None:
    return season_of(int(m[2]), SEASONS[m[1].lower()], anchor.tzinfo)


PARTS: dict[str, Part] = {
    "early": "early",
    "beginning": "early",
    "start": "early",
    "anfang": "early",
    "mid": "mid",
    "middle": "mid",
    "mitte": "mid",
    "late": "late",
    "end": "late",
    "ende": "late",
}
_PART = rf"({alternatives(PARTS)})(?: of|-)?(?: the)?[ ]?"


def _part_of_year(m: re.Match[str], anchor: datetime) -> Period | None:
    return part_of_month(year_of(int(m[2]), anchor.tzinfo), PARTS[m[1].lower()])


def _part_of_dated_month(m: re.Match[str], anchor: datetime) -> Period | None:
    whole = month_of(int(m[3]), MONTHS[m[2].lower()], anchor.tzinfo)
    return part_of_month(whole, PARTS[m[1].lower()])


def _part_of_bare_month(m: re.Match[str], anchor: datetime) -> Period | None:
    return part_of_month(nearest_month(anchor, MONTHS[m[2].lower()]), PARTS[m[1].lower()])


_MONTH = r"([^\W\d_]{3,10})\.?"
_BARE = f"({alternatives(BARE_MONTHS)})"
_OF = r"(?:,|,? of| de| del)?"
_DIGITS = (DIGIT,)
_NUMERIC_END = r"(?![-/.]?\d)"
_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?"

NUMERIC = (
    fixed(_DIGITS, rf"(\d{{4}}-\d\d-\d\d)(?:[T ]({_CLOCK}))?(?![-/]?\d)", _iso),
    fixed(_DIGITS, r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})" + _NUMERIC_END, _year_first),
    fixed(_DIGITS, r"(\d{4})-(0[1-9]|1[0-2])" + _NUMERIC_END, _year_month),
    fixed(_DIGITS, r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})" + _NUMERIC_END, _day_first),
    fixed(_DIGITS, r"(\d{1,2})-(\d{1,2})-(\d{4})" + _NUMERIC_END, _day_first),
    fixed(_DIGITS, r"(\d{1,2})/(\d{1,2})/(\d{4})" + _NUMERIC_END, _slashed),
    fixed(_DIGITS, YEAR + r"['’](?:d[ea]|t[ea])(?:n|ki)?", _year_open),
    fixed(_DIGITS, r"(1[5-9]\d0|20\d0)['’]?s", _decade),
    fixed(_DIGITS, YEAR + r"(?![-/.,:%]?\d|[-–]year)", _year_alone),
)
_TO = r" ?(?:-|–|to|and|bis) ?"
NAMED = (
    fixed(_DIGITS, rf"{_DAY}{_TO}{_DAY} (?:of )?{_MONTH}{_OF} {YEAR}", _day_range_month),
    fixed(MONTHS, rf"{_MONTH} {_DAY}{_TO}{_DAY},? {YEAR}", _month_day_range),
    fixed(_DIGITS, rf"{_DAY}\.?(?: of| de)? ?{_MONTH}{_OF} {YEAR}", _day_month_year),
    anchored(_DIGITS, rf"{_DAY}\.?(?: of| de)? {_MONTH}(?! \d{{4}})", _day_month),
    fixed(MONTHS, rf"{_MONTH} {_DAY},? {YEAR}", _month_day_year),
    anchored(MONTHS, rf"{_MONTH} (?:the )?{_DAY}(?![:.]\d)", _month_day),
    fixed(MONTHS, rf"{_MONTH}{_OF} {YEAR}", _month_year),
    anchored(BARE_MONTHS, r"[^\W\d_]{3,10}", _bare_month),
    fixed(PARTS, _PART + YEAR, _part_of_year),
    fixed(PARTS, rf"{_PART}{_BARE} {YEAR}", _part_of_dated_month),
    anchored(PARTS, _PART + _BARE, _part_of_bare_month),
    fixed(("q1", "q2", "q3", "q4"), rf"q([1-4])(?: of)?[ -/]?{YEAR}", _quarter),
    fixed(_ORDINALS, rf"({alternatives(_ORDINALS)}) quarter (?:of )?{YEAR}", _named_quarter),
    fixed(SEASONS, rf"({alternatives(SEASONS)})(?: of|,)?(?: the year)? {YEAR}", _season_year),
)
