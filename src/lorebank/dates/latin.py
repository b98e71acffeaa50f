"""Relative dates in German and Turkish, which share the walk over words with English."""

from __future__ import annotations

import re
from datetime import datetime

from lorebank.dates import period
from lorebank.dates.period import Direction, Period, Unit
from lorebank.dates.rules import DIGIT, anchored, fixed, word_before
from lorebank.dates.words import BARE_MONTHS, MONTHS, SEASONS, WEEKDAYS, alternatives, number, word_set

_STEP = {"last": -1, "this": 0, "next": 1}

_DE_DAYS = {"heute": 0, "gestern": -1, "vorgestern": -2, "übermorgen": 2}
_DE_UNITS: dict[str, Unit] = {
    "minute": "minute",
    "minuten": "minute",
    "stunde": "hour",
    "stunden": "hour",
    "tag": "day",
    "tage": "day",
    "tagen": "day",
    "woche": "week",
    "wochen": "week",
    "wochenende": "weekend",
    "wochenenden": "weekend",
    "monat": "month",
    "monate": "month",
    "monaten": "month",
    "quartal": "quarter",
    "jahr": "year",
    "jahre": "year",
    "jahren": "year",
}
_DE_SIDES: dict[str, Direction] = {
    "letzt": "last",
    "vergangen": "last",
    "vorig": "last",
    "dies": "this",
    "nächst": "next",
    "naechst": "next",
    "kommend": "next",
}
_DE_COUNT = (
    r"(\d{1,4}|ein(?:e[mnr]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|ein paar|einigen?)"
)
_NAMES = f"{alternatives(WEEKDAYS)}|{alternatives(SEASONS)}|{alternatives(BARE_MONTHS)}"
_DE_NAMES = f"{alternatives(_DE_UNITS)}|{_NAMES}"
_DE_PART = r"(?: (?:abend|morgen|früh|nacht|mittag|nachmittag|vormittag))?"

_TR_DAYS = {
    "bugün": 0,
    "bugun": 0,
    "bu sabah": 0,
    "bu akşam": 0,
    "dün": -1,
    "dun": -1,
    "dün gece": -1,
    "yarın": 1,
    "yarin": 1,
    "evvelsi gün": -2,
    "önceki gün": -2,
}
_TR_SIDES: dict[str, Direction] = {
    "geçen": "last",
    "geçtiğimiz": "last",
    "önceki": "last",
    "bu": "this",
    "gelecek": "next",
    "önümüzdeki": "next",
}
_TR_UNITS: dict[str, Unit] = {
    "hafta sonu": "weekend",
    "dakika": "minute",
    "saat": "hour",
    "gün": "day",
    "hafta": "week",
    "ay": "month",
    "yıl": "year",
    "sene": "year",
}
_TR_COUNT = r"(\d{1,4}|bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz|on|birkaç)"
_TR_ENDING = r"(?:[td][ae]n?|ki|nda|ndan|ın|in|un|ün|[yn]?[aeıiuü])?"
_TR_NAMES = f"{alternatives(_TR_UNITS)}|{_NAMES}"


def _named(word: str, side: Direction, anchor: datetime) -> Period | None:
    if word in WEEKDAYS:
        return period.weekday(anchor, WEEKDAYS[word], side)
    if word in SEASONS:
        return period.season(anchor, SEASONS[word], side)
    return period.named_month(anchor, MONTHS[word], side)


def _sided(word: str, units: dict[str, Unit], side: Direction, anchor: datetime) -> Period | None:
    unit = units.get(word)
    if unit is None:
        return _named(word, side, anchor)
    return None if unit in ("minute", "hour", "day") else period.offset(anchor, unit, _STEP[side])


def _away(count: str, unit: Unit, sign: int, anchor: datetime) -> Period:
    amount = number(count.split()[-1])
    return period.few(anchor, unit, sign) if amount is None else period.offset(anchor, unit, sign * amount)


def _de_day(m: re.Match[str], anchor: datetime) -> Period | None:
    return period.day(anchor, _DE_DAYS[m[1].lower()])


def _de_tomorrow(m: re.Match[str], anchor: datetime) -> Period | None:
    """ "morgen" is tomorrow; "Morgen", "guten Morgen" and "heute morgen" are the morning."""
    before = word_before(m.string, m.start())
    if m[1] != "morgen" or before in ("guten", "am", "jeden", "heute", "gestern", "diesen"):
        return None
    return period.day(anchor, 1)


def _de_side(m: re.Match[str], anchor: datetime) -> Period | None:
    return _sided(m[2].lower(), _DE_UNITS, _DE_SIDES[m[1].lower()], anchor)


def _de_ago(m: re.Match[str], anchor: datetime) -> Period | None:
    return _away(m[1], _DE_UNITS[m[2].lower()], -1, anchor)


def _de_ahead(m: re.Match[str], anchor: datetime) -> Period | None:
    return _away(m[1], _DE_UNITS[m[2].lower()], 1, anchor)


def _tr_day(m: re.Match[str], anchor: datetime) -> Period | None:
    return period.day(anchor, _TR_DAYS[m[1].lower()])


def _tr_side(m: re.Match[str], anchor: datetime) -> Period | None:
    return _sided(m[2].lower(), _TR_UNITS, _TR_SIDES[m[1].lower()], anchor)


def _tr_away(m: re.Match[str], anchor: datetime) -> Period | None:
    return _away(m[1], _TR_UNITS[m[2].lower()], -1 if m[3].lower() == "önce" else 1, anchor)


def _tr_month(m: re.Match[str], anchor: datetime) -> Period | None:
    """ "mayıs ayında", "mayısta": a month of no named year."""
    return period.nearest_month(anchor, MONTHS[m[1].lower()])


def _tr_month_year(m: re.Match[str], anchor: datetime) -> Period | None:
    return period.month_of(int(m[2]), MONTHS[m[1].lower()], anchor.tzinfo)


_DE_ENDINGS = ("e", "en", "er", "es", "em")
_DE_SIDE_KEYS = [stem + ending for stem in _DE_SIDES for ending in _DE_ENDINGS]
_TR_MONTHS = word_set("ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık")
_TR_MONTH = alternatives(_TR_MONTHS)
_TR_IN_MONTH = [f"{month}{ending}" for month in _TR_MONTHS for ending in ("ta", "te", "da", "de")]

RULES = (
    anchored(_DE_DAYS, rf"({alternatives(_DE_DAYS)}){_DE_PART}", _de_day),
    anchored(("morgen",), r"(morgen)(?: (?:abend|früh|nacht|mittag|nachmittag|vormittag))?", _de_tomorrow),
    anchored(_DE_SIDE_KEYS, rf"({alternatives(_DE_SIDES)})e[nrsm]? ({_DE_NAMES})", _de_side),
    anchored(("vor",), rf"vor (?:etwa |ungefähr )?{_DE_COUNT} ({alternatives(_DE_UNITS)})", _de_ago),
    anchored(("in",), rf"in (?:etwa |ungefähr )?{_DE_COUNT} ({alternatives(_DE_UNITS)})", _de_ahead),
    anchored(
        ("bugün", "bugun", "dün", "dun", "yarın", "yarin", "evvelsi", "önceki", "bu", "dünkü"),
        rf"({alternatives(_TR_DAYS)})(?:kü)?",
        _tr_day,
    ),
    anchored(_TR_SIDES, rf"({alternatives(_TR_SIDES)}) ({_TR_NAMES}){_TR_ENDING}", _tr_side),
    anchored(
        (DIGIT, *word_set("bir iki üç dört beş altı yedi sekiz dokuz on birkaç")),
        rf"{_TR_COUNT} ({alternatives(_TR_UNITS)}) (önce|sonra)",
        _tr_away,
    ),
    anchored((*_TR_MONTHS, *_TR_IN_MONTH), rf"({_TR_MONTH})(?:[td][ae]| ay[ıi](?:nda|nın)?)", _tr_month),
    fixed(_TR_MONTHS, rf"({_TR_MONTH}) (20\d\d|19\d\d)['’]?[td][ae]n?", _tr_month_year),
)
