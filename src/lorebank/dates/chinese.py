"""Chinese dates, simplified and traditional.

上周五 is the Friday of the calendar week before, as the language has it, not merely the latest Friday.
"""

from __future__ import annotations

import re
from datetime import datetime

from lorebank.dates import period
from lorebank.dates.period import Direction, Period, Unit
from lorebank.dates.script_rules import STEP, away, day_rule, full_date, month_day, rule

_DAYS = {
    "今天": 0,
    "今晚": 0,
    "今早": 0,
    "今日": 0,
    "昨天": -1,
    "昨晚": -1,
    "昨日": -1,
    "前天": -2,
    "大前天": -3,
    "明天": 1,
    "明日": 1,
    "明晚": 1,
    "后天": 2,
    "後天": 2,
}
_YEARS = {"今年": 0, "去年": -1, "前年": -2, "明年": 1, "后年": 2, "後年": 2}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_SIDES: dict[str, Direction] = {"上": "last", "这": "this", "這": "this", "本": "this", "下": "next"}
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_UNITS: dict[str, Unit] = {
    "分钟": "minute",
    "分鐘": "minute",
    "小时": "hour",
    "小時": "hour",
    "天": "day",
    "日": "day",
    "周": "week",
    "週": "week",
    "星期": "week",
    "礼拜": "week",
    "禮拜": "week",
    "月": "month",
    "年": "year",
}
_COUNT = r"(\d{1,4}|[一二两兩三四五六七八九十几幾数])"


def _week(m: re.Match[str], anchor: datetime) -> Period | None:
    offset = STEP[_SIDES[m[1][0]]] * len(m[1])
    name = m[2]
    if name is None:
        return period.week(anchor, offset)
    if name == "末":
        return period.weekend(anchor, offset)
    return period.weekday_of_week(anchor, _WEEKDAYS[name], offset)


def _month(m: re.Match[str], anchor: datetime) -> Period | None:
    found = period.month(anchor, STEP[_SIDES[m[1][0]]] * len(m[1]))
    return found if m[2] is None else full_date(str(found.start.year), str(found.start.month), m[2], anchor)


def _year_part(m: re.Match[str], anchor: datetime) -> Period | None:
    year = anchor.year + _YEARS[m[1]]
    if m[4]:
        return period.season_of(year, _SEASONS[m[4]], anchor.tzinfo)
    return full_date(str(year), m[2], m[3], anchor)


def _away(m: re.Match[str], anchor: datetime) -> Period | None:
    return away(m[1], _UNITS[m[2]], -1 if "前" in m[3] else 1, anchor)


RULES = (
    rule(
        r"(?<!\d)([12]\d{3})年(?:(\d{1,2})月(?:(\d{1,2})[日号號])?)?",
        lambda m, a: full_date(m[1], m[2], m[3], a),
        relative=False,
    ),
    rule(
        r"(?<!\d)(?<!年)(\d{1,2})月(?:(\d{1,2})[日号號])?(?!前|后|後)", lambda m, a: month_day(m[1], m[2], a)
    ),
    rule(f"({'|'.join(_YEARS)})(?:(\\d{{1,2}})月(?:(\\d{{1,2}})[日号號])?|([春夏秋冬])[天季])?", _year_part),
    day_rule(_DAYS, "(?:早上|上午|中午|下午|晚上|夜里)?"),
    rule(r"(上+|下+|[这這本])(?:个|個)?(?:周|週|星期|礼拜|禮拜)([一二三四五六日天末])?", _week),
    rule(r"(上+|下+|[这這本])(?:个|個)?月(?:(\d{1,2})[日号號])?", _month),
    rule(
        _COUNT + r"(?:个|個)?(分钟|分鐘|小时|小時|天|日|周|週|星期|礼拜|禮拜|月|年)"
        r"(之?以?前|之?以?[后後])",
        _away,
    ),
)
