"""Arabic dates."""

from __future__ import annotations

import re
from datetime import date, datetime

from lorebank.dates import period
from lorebank.dates.period import Direction, Period, Unit
from lorebank.dates.script_rules import STEP, away, day_rule, rule
from lorebank.dates.words import alternatives

_DAYS = {
    "أول أمس": -2,
    "اول امس": -2,
    "أول من أمس": -2,
    "قبل أمس": -2,
    "أمس": -1,
    "امس": -1,
    "البارحة": -1,
    "بعد غد": 2,
    "بعد الغد": 2,
    "غدا": 1,
    "غدًا": 1,
    "غداً": 1,
    "هذا اليوم": 0,
    "اليوم": 0,
}
_UNITS: dict[str, Unit] = {
    "أسبوع": "week",
    "اسبوع": "week",
    "شهر": "month",
    "عام": "year",
    "سنة": "year",
    "عطلة نهاية أسبوع": "weekend",
}
_SEASONS = {"ربيع": 3, "صيف": 6, "خريف": 9, "شتاء": 12}
_WEEKDAYS = {
    "اثنين": 0,
    "إثنين": 0,
    "ثلاثاء": 1,
    "أربعاء": 2,
    "اربعاء": 2,
    "خميس": 3,
    "جمعة": 4,
    "سبت": 5,
    "أحد": 6,
    "احد": 6,
}
_SIDES: dict[str, Direction] = {
    "ماضي": "last",
    "ماضية": "last",
    "سابق": "last",
    "سابقة": "last",
    "فائت": "last",
    "حالي": "this",
    "حالية": "this",
    "قادم": "next",
    "قادمة": "next",
    "مقبل": "next",
    "مقبلة": "next",
}
_MONTHS = {
    "يناير": 1,
    "فبراير": 2,
    "مارس": 3,
    "أبريل": 4,
    "ابريل": 4,
    "مايو": 5,
    "يونيو": 6,
    "يوليو": 7,
    "أغسطس": 8,
    "اغسطس": 8,
    "سبتمبر": 9,
    "أكتوبر": 10,
    "اكتوبر": 10,
    "نوفمبر": 11,
    "ديسمبر": 12,
}
_DUALS: dict[str, Unit] = {
    "يومين": "day",
    "أسبوعين": "week",
    "شهرين": "month",
    "عامين": "year",
    "سنتين": "year",
}
_COUNTED: dict[str, Unit] = {
    "يوم": "day",
    "أيام": "day",
    "ايام": "day",
    "يوما": "day",
    "أسبوع": "week",
    "أسابيع": "week",
    "شهر": "month",
    "أشهر": "month",
    "شهور": "month",
    "سنة": "year",
    "سنوات": "year",
    "عام": "year",
    "أعوام": "year",
    "ساعة": "hour",
    "ساعات": "hour",
}
_NUMBERS = {
    "ثلاثة": 3,
    "ثلاث": 3,
    "أربعة": 4,
    "أربع": 4,
    "خمسة": 5,
    "خمس": 5,
    "ستة": 6,
    "ست": 6,
    "سبعة": 7,
    "سبع": 7,
    "ثمانية": 8,
    "ثماني": 8,
    "تسعة": 9,
    "تسع": 9,
    "عشرة": 10,
    "عشر": 10,
}
_END = r"(?![\u0620-\u064a])"
_AGO = r"(قبل|منذ|بعد|خلال)"


def _sign(word: str) -> int:
    return -1 if word in ("قبل", "منذ") else 1


def _side(m: re.Match[str], anchor: datetime) -> Period | None:
    side, word = _SIDES[m[2]], m[1]
    if word in _UNITS:
        return period.offset(anchor, _UNITS[word], STEP[side])
    if word in _SEASONS:
        return period.season(anchor, _SEASONS[word], side)
    return period.weekday(anchor, _WEEKDAYS[word], side)


def _this(m: re.Match[str], anchor: datetime) -> Period | None:
    return period.offset(anchor, _UNITS[m[1]], 0)


def _dual(m: re.Match[str], anchor: datetime) -> Period | None:
    return period.offset(anchor, _DUALS[m[2]], 2 * _sign(m[1]))


def _counted(m: re.Match[str], anchor: datetime) -> Period | None:
    unit, word = _COUNTED[m[3]], m[2]
    if word == "بضعة" or word == "بضع" or word == "عدة":
        return period.few(anchor, unit, _sign(m[1]))
    count = "1" if word is None else str(_NUMBERS.get(word, word))
    return away(count, unit, _sign(m[1]), anchor)


def _full(m: re.Match[str], anchor: datetime) -> Period | None:
    that = date(int(m[3]), _MONTHS[m[2]], int(m[1]))
    return period.days(that, that, anchor.tzinfo, "day")


RULES = (
    day_rule(_DAYS, _END),
    rule(
        rf"(?:يوم )?ال({alternatives(_UNITS)}|{alternatives(_SEASONS)}|{alternatives(_WEEKDAYS)}) "
        rf"ال({alternatives(_SIDES)}){_END}",
        _side,
    ),
    rule(rf"هذ[اه] ال({alternatives(_UNITS)}){_END}", _this),
    rule(rf"{_AGO} ({alternatives(_DUALS)}){_END}", _dual),
    rule(
        rf"{_AGO} (?:(\d{{1,4}}|بضعة|بضع|عدة|{alternatives(_NUMBERS)}) )?"
        rf"({alternatives(_COUNTED)}){_END}",
        _counted,
    ),
    rule(rf"(?<!\d)(\d{{1,2}}) ({alternatives(_MONTHS)}),?،? (\d{{4}})(?!\d)", _full, relative=False),
    rule(
        rf"({alternatives(_MONTHS)}) (\d{{4}})(?!\d)",
        lambda m, a: period.month_of(int(m[2]), _MONTHS[m[1]], a.tzinfo),
        relative=False,
    ),
    rule(
        rf"(?<!\d)(\d{{1,2}}) ({alternatives(_MONTHS)})(?! \d{{4}}){_END}",
        lambda m, a: period.nearest_day(a, _MONTHS[m[2]], int(m[1])),
    ),
    rule(
        r"(?:(?<=في )|(?<=عام )|(?<=سنة )|(?<=منذ ))((?:19|20)\d\d)(?!\d)",
        lambda m, a: period.year_of(int(m[1]), a.tzinfo),
        relative=False,
    ),
)
