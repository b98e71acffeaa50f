"""Japanese dates. Forms written as in Chinese (2023年5月7日, 昨日) are found by the Chinese rules."""

from __future__ import annotations

import re
from datetime import datetime

from lorebank.dates import period
from lorebank.dates.period import Period, Unit
from lorebank.dates.script_rules import away, day_rule, rule, shift_rule

_DAYS = {
    "きょう": 0,
    "本日": 0,
    "昨日": -1,
    "きのう": -1,
    "昨夜": -1,
    "昨晩": -1,
    "ゆうべ": -1,
    "一昨日": -2,
    "おととい": -2,
    "明日": 1,
    "明後日": 2,
    "あさって": 2,
    "今朝": 0,
    "今夜": 0,
}
_WEEKS = {"先々週": -2, "先週": -1, "今週": 0, "来週": 1, "再来週": 2}
_SPANS: dict[str, tuple[Unit, int]] = {
    "先々月": ("month", -2),
    "先月": ("month", -1),
    "今月": ("month", 0),
    "来月": ("month", 1),
    "再来月": ("month", 2),
    "一昨年": ("year", -2),
    "おととし": ("year", -2),
    "昨年": ("year", -1),
    "去年": ("year", -1),
    "今年": ("year", 0),
    "来年": ("year", 1),
    "再来年": ("year", 2),
}
_WEEKDAYS = {"月": 0, "火": 1, "水": 2, "木": 3, "金": 4, "土": 5, "日": 6}
_UNITS: dict[str, Unit] = {
    "分": "minute",
    "時間": "hour",
    "日": "day",
    "週間": "week",
    "月": "month",
    "年": "year",
}
_COUNT = r"(\d{1,4}|[一二三四五六七八九十数])"


def _week(m: re.Match[str], anchor: datetime) -> Period | None:
    offset = _WEEKS[m[1]]
    if m[3]:
        return period.weekend(anchor, offset)
    return period.weekday_of_week(anchor, _WEEKDAYS[m[2]], offset) if m[2] else period.week(anchor, offset)


def _away(m: re.Match[str], anchor: datetime) -> Period | None:
    unit = "月" if m[2].endswith("月") else m[2]
    return away(m[1], _UNITS[unit], -1 if m[3] == "前" else 1, anchor)


RULES = (
    day_rule(_DAYS),
    rule(r"(先々週|先週|今週|再来週|来週)(?:の?(?:([月火水木金土日])曜日?|(週末|末)))?", _week),
    shift_rule(_SPANS),
    rule(_COUNT + r"(分|時間|日|週間|[ヶケかカヵ]月|年)(?:間)?(前|後)", _away),
)
