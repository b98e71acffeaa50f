"""Thai dates. Years of the Buddhist era (543 ahead) are recognised by being above 2400."""

from __future__ import annotations

import re
from datetime import date, datetime

from lorebank.dates import period
from lorebank.dates.period import Direction, Period, Unit
from lorebank.dates.script_rules import STEP, away, day_rule, rule
from lorebank.dates.words import alternatives

_DAYS = {
    "วันนี้": 0,
    "คืนนี้": 0,
    "เช้านี้": 0,
    "เมื่อวานซืน": -2,
    "เมื่อวานนี้": -1,
    "เมื่อวาน": -1,
    "เมื่อคืน": -1,
    "พรุ่งนี้": 1,
    "มะรืนนี้": 2,
    "มะรืน": 2,
}
_UNITS: dict[str, Unit] = {
    "สัปดาห์": "week",
    "อาทิตย์": "week",
    "เดือน": "month",
    "ปี": "year",
    "สุดสัปดาห์": "weekend",
}
_COUNTED: dict[str, Unit] = {**_UNITS, "วัน": "day", "ชั่วโมง": "hour", "นาที": "minute"}
_SIDES: dict[str, Direction] = {
    "ที่แล้ว": "last",
    "ที่ผ่านมา": "last",
    "ก่อน": "last",
    "นี้": "this",
    "หน้า": "next",
}
_WEEKDAYS = {
    "จันทร์": 0,
    "อังคาร": 1,
    "พุธ": 2,
    "พฤหัสบดี": 3,
    "พฤหัส": 3,
    "ศุกร์": 4,
    "เสาร์": 5,
    "อาทิตย์": 6,
}
_MONTHS = {
    "มกราคม": 1,
    "กุมภาพันธ์": 2,
    "มีนาคม": 3,
    "เมษายน": 4,
    "พฤษภาคม": 5,
    "มิถุนายน": 6,
    "กรกฎาคม": 7,
    "สิงหาคม": 8,
    "กันยายน": 9,
    "ตุลาคม": 10,
    "พฤศจิกายน": 11,
    "ธันวาคม": 12,
}
_NUMBERS = {
    "หนึ่ง": 1,
    "สอง": 2,
    "สาม": 3,
    "สี่": 4,
    "ห้า": 5,
    "หก": 6,
    "เจ็ด": 7,
    "แปด": 8,
    "เก้า": 9,
    "สิบ": 10,
}
_ERA = r"(?:พ\.ศ\. ?|ค\.ศ\. ?)?"
_COUNT = rf"(\d{{1,4}}|ไม่กี่|{alternatives(_NUMBERS)})"


def _year(text: str) -> int:
    year = int(text)
    return year - 543 if year > 2400 else year


def _side(m: re.Match[str], anchor: datetime) -> Period | None:
    return period.offset(anchor, _UNITS[m[1]], STEP[_SIDES[m[2]]])


def _weekday(m: re.Match[str], anchor: datetime) -> Period | None:
    return period.weekday(anchor, _WEEKDAYS[m[1]], _SIDES[m[2]])


def _counted(count: str, unit: Unit, sign: int, anchor: datetime) -> Period:
    if count == "ไม่กี่":
        return period.few(anchor, unit, sign)
    return away(str(_NUMBERS.get(count, count)), unit, sign, anchor)


def _full(m: re.Match[str], anchor: datetime) -> Period | None:
    that = date(_year(m[3]), _MONTHS[m[2]], int(m[1]))
    return period.days(that, that, anchor.tzinfo, "day")


RULES = (
    day_rule(_DAYS),
    rule(rf"({alternatives(_UNITS)})({alternatives(_SIDES)})", _side),
    rule(rf"วัน({alternatives(_WEEKDAYS)})({alternatives(_SIDES)})", _weekday),
    rule(
        rf"{_COUNT} ?({alternatives(_COUNTED)}) ?(?:ที่แล้ว|ก่อน|ที่ผ่านมา)",
        lambda m, a: _counted(m[1], _COUNTED[m[2]], -1, a),
    ),
    rule(rf"อีก ?{_COUNT} ?({alternatives(_COUNTED)})", lambda m, a: _counted(m[1], _COUNTED[m[2]], 1, a)),
    rule(rf"(?<!\d)(\d{{1,2}}) ?({alternatives(_MONTHS)}) ?{_ERA}(\d{{4}})(?!\d)", _full, relative=False),
    rule(
        rf"({alternatives(_MONTHS)}) ?{_ERA}(\d{{4}})(?!\d)",
        lambda m, a: period.month_of(_year(m[2]), _MONTHS[m[1]], a.tzinfo),
        relative=False,
    ),
    rule(
        rf"(?<!\d)(\d{{1,2}}) ?({alternatives(_MONTHS)})(?! ?\d)",
        lambda m, a: period.nearest_day(a, _MONTHS[m[2]], int(m[1])),
    ),
    rule(
        r"(?:(?<=ปี )|(?<=พ\.ศ\. )|(?<=ค\.ศ\. ))(\d{4})(?!\d)",
        lambda m, a: period.year_of(_year(m[1]), a.tzinfo),
        relative=False,
    ),
)
