"""The languages that the walk over words cannot serve, each tried only when its script is present."""

from __future__ import annotations

import re

from lorebank.dates import arabic, chinese, japanese, korean, thai
from lorebank.dates.rules import Rule

_HAN = r"\u4e00-\u9fff"
SCRIPTS: dict[str, re.Pattern[str]] = {
    "han": re.compile(f"[{_HAN}]"),
    "kana": re.compile(f"[\u3040-\u30ff]|[{_HAN}]"),
    "hangul": re.compile("[\uac00-\ud7a3]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "thai": re.compile("[\u0e00-\u0e7f]"),
}
RULES_BY_SCRIPT: dict[str, tuple[Rule, ...]] = {
    "han": chinese.RULES,
    "kana": japanese.RULES,
    "hangul": korean.RULES,
    "arabic": arabic.RULES,
    "thai": thai.RULES,
}
