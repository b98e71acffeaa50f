"""Relative dates in English."""

from __future__ import annotations

import re
from datetime import datetime

from lorebank.dates import period
from lorebank.dates.absolute import PARTS
from lorebank.dates.period import Direction, Period, Unit
from lorebank.dates.rules import DIGIT, anchored
from lorebank.dates.words import (
    AMBIGUOUS_MONTHS,
    MONTHS,
    SEASONS,
    WEEKDAYS,
    alternatives,
    number,
    word_set,
)

_DAYS = {
    "today": 0,
    "tonight": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "last night": -1,
    "the night before last": -2,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "earlier today": 0,
    "later today": 0,
}
_PART_OF_DAY = r"(?: (?:morning|afternoon|evening|night))?"
_SIDES: dict[str, Direction] = {
    "last": "last",
    "past": "last",
    "previous": "last",
    "this past": "last",
    "the past": "last",
    "this last": "last",
    "this": "this",
    "the current": "this",
    "later this": "this",
    "earlier this": "this",
    "next": "next",
    "coming": "next",
    "upcoming": "next",
    "this coming": "next",
    "this upcoming": "next",
    "the coming": "next",
    "the upcoming": "next",
    "the next": "next",
    "this next": "next",
    "the last": "last",
}
_STEP = {"last": -1, "this": 0, "next": 1}
UNITS: dict[str, Unit] = {
    "minute": "minute",
    "min": "minute",
    "hour": "hour",
    "day": "day",
    "night": "day",
    "week": "week",
    "weekend": "weekend",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
}
WEEKDAY_NAMES = {
    w: WEEKDAYS[w]
    for w in word_set(
        "monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun"
    )
}
_WORDS_TOO = frozenset(("sun", "sat", "wed"))
_SEASON_NAMES = {w: SEASONS[w] for w in ("spring", "summer", "autumn", "fall", "winter")}
_MONTH_NAMES = word_set(
    "january february march april may june july august september october november december",
    "jan feb aug sept oct nov dec",
)
COUNT = r"(\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
COUNT += r"|(?:a )?(?:good |short )?(?:few|couple)(?: of)?|several)"
_UNIT = rf"({alternatives(UNITS)})s?"
_COUNT_WORDS = word_set(
    "a an one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty",
    "few couple several",
)
_FIRST_OF_COUNT = (DIGIT, *_COUNT_WORDS)


def _day(m: re.Match[str], anchor: datetime) -> Period | None:
    return period.day(anchor, _DAYS[re.sub(r"\s+", " ", m[1].lower())])


def count(words: str) -> int | None:
    """The number in a count such as "two" or "a couple of"; None for "a few"."""
    parts = [w for w in words.lower().split() if w not in ("of", "good", "short")]
    return number(parts[-1])


def _side(m: re.Match[str], anchor: datetime) -> Period | None:
    side, word = _SIDES[m[1].lower()], m[2].lower()
    if word in UNITS:
        unit = UNITS[word]
        if unit in ("minute", "hour", "day"):
            return None
        return period.offset(anchor, unit, _STEP[side])
    if word in WEEKDAY_NAMES:
        if word in _WORDS_TOO and m[2].islower():
            return None  # "this sun", "the last wed"
        return period.weekday(anchor, WEEKDAY_NAMES[word], side)
    if word in _SEASON_NAMES:
        return period.season(anchor, _SEASON_NAMES[word], side)
    return _month_side(m, anchor, side)


def _month_side(m: re.Match[str], anchor: datetime, side: Direction) -> Period | None:
    word = m[2].lower()
    if side == "this" and word in AMBIGUOUS_MONTHS and m[2].islower():
        return None  # "this may be", "this march"
    return period.named_month(anchor, MONTHS[word], side)


def _window(m: re.Match[str], anchor: datetime) -> Period | None:
    sign = 1 if _SIDES[m[1].lower()] == "next" else -1
    amount, unit = count(m[2]), UNITS[m[3].lower()]
    if unit in ("minute", "hour"):
        return period.day(anchor, 0)
    return period.window(anchor, unit, amount or period.FEW_FAR - 1, sign)


def _away(amount: int | None, unit: Unit, sign: int, anchor: datetime) -> Period:
    return period.few(anchor, unit, sign) if amount is None else period.offset(anchor, unit, sign * amount)


def _ago(m: re.Match[str], anchor: datetime) -> Period | None:
    amount, word = count(m[1]), m[2].lower()
    if word in WEEKDAY_NAMES:
        latest = period.weekday(anchor, WEEKDAY_NAMES[word], "last")
        return period.day(latest.start, -7 * ((amount or 2) - 1))
    return _away(amount, UNITS[word], -1, anchor)


def _ahead(m: re.Match[str], anchor: datetime) -> Period | None:
    if UNITS[m[2].lower()] == "minute" and count(m[1]) == 1:
        return None  # "in a minute" means soon
    if _took(m.string, m.start()):
        return None  # "sold out in nine days" tells how long it took, not when it will be
    return _away(count(m[1]), UNITS[m[2].lower()], 1, anchor)


_TOLD = re.compile(
    r"\b(?:[a-z]{2,}ed|sold|built|made|did|got|took|went|came|wrote|ran|won|lost|grew|read|rebuilt|rose|fell)\b"
)
_STILL_AHEAD = re.compile(
    r"\b(?:is|are|am|be|will|going|to|due|should|must|can|may)\b|['\u2019](?:ll|s|re|m)\b"
)
_SENTENCE = re.compile(r"[.!?\n][^.!?\n]*$|^[^.!?\n]*$")
_LOOK_BACK = 80


def _took(text: str, position: int) -> bool:
    """Whether "in N days" at `position` ends a sentence told in the past: nothing ahead after its verb."""
    clause = _SENTENCE.search(text[max(0, position - _LOOK_BACK) : position].lower())
    if clause is None:
        return False
    verbs = list(_TOLD.finditer(clause[0]))
    return bool(verbs) and _STILL_AHEAD.search(clause[0], verbs[-1].end()) is None


def _before_last(m: re.Match[str], anchor: datetime) -> Period | None:
    """ "the week before last", "the Friday before last", "the weekend after next"."""
    word, sign = m[1].lower(), -1 if m[2].lower() == "before last" else 1
    if word in UNITS:
        return period.offset(anchor, UNITS[word], 2 * sign)
    near = period.weekday(anchor, WEEKDAY_NAMES[word], "last" if sign < 0 else "next")
    return period.day(near.start, 7 * sign)


def _part(m: re.Match[str], anchor: datetime) -> Period | None:
    """ "early this month", "the end of last year", "late next week"."""
    whole = period.offset(anchor, UNITS[m[3].lower()], _STEP[_SIDES[m[2].lower()]])
    return period.part_of_month(whole, PARTS[m[1].lower()])


_SIDE = rf"({alternatives(_SIDES)})"
_DAY_KEYS = ("today", "tonight", "yesterday", "tomorrow", "the", "day", "last", "this", "earlier", "later")
_SIDE_KEYS = ("last", "past", "previous", "this", "the", "later", "earlier", "next", "coming", "upcoming")
_WEEKDAY = alternatives(WEEKDAY_NAMES)
_NAMED = f"{_WEEKDAY}|{alternatives(_SEASON_NAMES)}|{alternatives(_MONTH_NAMES)}"
_SPAN_UNITS = "week|weekend|month|quarter|year"

RULES = (
    anchored(_DAY_KEYS, rf"({alternatives(_DAYS)}){_PART_OF_DAY}", _day),
    anchored(_SIDE_KEYS, rf"{_SIDE} ({_SPAN_UNITS}|{_NAMED}){_PART_OF_DAY}", _side),
    anchored(_SIDE_KEYS, rf"{_SIDE} {COUNT} {_UNIT}", _window),
    anchored(_FIRST_OF_COUNT, rf"{COUNT} ({alternatives(UNITS)}|{_WEEKDAY})s? (?:ago|back)", _ago),
    anchored(("in",), rf"in (?:about |around )?{COUNT} {_UNIT}(?:['’] time)?(?! of)", _ahead),
    anchored(_FIRST_OF_COUNT, rf"{COUNT} {_UNIT} from (?:now|today)", _ahead),
    anchored(("the",), rf"the ({_SPAN_UNITS}|{_WEEKDAY}) (before last|after next)", _before_last),
    anchored(PARTS, rf"({alternatives(PARTS)})(?: of)?[ -](last|this|next) (week|month|quarter|year)", _part),
)
