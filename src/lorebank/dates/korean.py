"""Korean dates."""

from __future__ import annotations

import re
from datetime import datetime

from lorebank.dates import period
from lorebank.dates.period import Direction, Period, Unit
from lorebank.dates.script_rules import STEP, away, day_rule, full_date, month_day, rule, shift_rule

_DAYS = {"오늘": 0, "어제": -1, "어젯밤": -1, "그저께": -2, "그제": -2, "엊그제": -2, "내일": 1, "모레": 2}
_SPANS: dict[str, tuple[Unit, int]] = {
    "재작년": ("year", -2),
    "작년": ("year", -1),
    "지난해": ("year", -1),
    "올해": ("year", 0),
    "내년": ("year", 1),
    "내후년": ("year", 2),
}
_SIDES: dict[str, Direction] = {
    "지난": "last",
    "저번": "last",
    "이번": "this",
    "다음": "next",
}
_WEEKDAYS = {"월": 0, "화": 1, "수": 2, "목": 3, "금": 4, "토": 5, "일": 6}
_SEASONS = {"봄": 3, "여름": 6, "가을": 9, "겨울": 12}
_UNITS: dict[str, Unit] = {
    "분": "minute",
    "시간": "hour",
    "일": "day",
    "주": "week",
    "주일": "week",
    "달": "month",
    "개월": "month",
    "년": "year",
}


def _side(m: re.Match[str], anchor: datetime) -> Period | None:
    side, unit = _SIDES[m[1]], m[2]
    if unit == "주":
        name = m[3]
        return (
            period.week(anchor, STEP[side])
            if name is None
            else (period.weekday_of_week(anchor, _WEEKDAYS[name], STEP[side]))
        )
    if unit == "주말":
        return period.weekend(anchor, STEP[side])
    if unit == "달":
        return period.month(anchor, STEP[side])
    if unit in _SEASONS:
        return period.season(anchor, _SEASONS[unit], side)
    return period.weekday(anchor, _WEEKDAYS[unit[0]], side)


def _away(m: re.Match[str], anchor: datetime) -> Period | None:
    return away(m[1], _UNITS[m[2]], -1 if m[3] == "전" else 1, anchor)


RULES = (
    rule(
        r"(?<!\d)([12]\d{3})년(?: ?(\d{1,2})월(?: ?(\d{1,2})일)?)?(?! ?전)",
        lambda m, a: full_date(m[1], m[2], m[3], a),
        relative=False,
    ),
    rule(r"(?<!\d)(?<!년)(?<!년 )(\d{1,2})월(?: ?(\d{1,2})일)?", lambda m, a: month_day(m[1], m[2], a)),
    day_rule(_DAYS, "(?![야서])"),
    shift_rule(_SPANS),
    rule(
        r"(지난|저번|이번|다음) ?(주말|[월화수목금토일]요일|주(?!년|일)|달|봄|여름|가을|겨울)"
        r"(?: ([월화수목금토일])요일)?",
        _side,
    ),
    rule(
        r"(\d{1,4}|한|두|세|네|다섯|여섯|일곱|여덟|아홉|열|며|몇) ?(분|시간|일|주일|주|달|개월|년)"
        r" ?(전|후|뒤)",
        _away,
    ),
)
