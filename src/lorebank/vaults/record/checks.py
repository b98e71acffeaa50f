"""Small checks of single values, used for the envelope, domain data and requests alike."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import Any, Final

MAX_ID_CHARS: Final = 200
MAX_TITLE_CHARS: Final = 500
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|\+00:00)", re.ASCII)
_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs by their class that show nothing."""
_LINES = re.compile(r"([1-9]\d{0,8})(?:\s*-\s*([1-9]\d{0,8}))?", re.ASCII)


def is_id(value: Any) -> bool:
    """An opaque id: 1 to 200 printable characters without blanks at its ends."""
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_ID_CHARS or value != value.strip():
        return False
    return value.isprintable()


def is_title(value: Any) -> bool:
    """One line of 1 to 500 characters, none of them a control character, and one at least to be seen."""
    if not isinstance(value, str) or len(value) > MAX_TITLE_CHARS or not any(map(_seen, value)):
        return False
    return value.isprintable() or not any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in value)


def _seen(char: str) -> bool:
    return (char.isalnum() or unicodedata.category(char) not in ("Cf", "Zs")) and char not in _UNSEEN


def utc_text(value: Any) -> str | None:
    """A moment in UTC in one spelling (`2026-11-30T08:30:00Z`); None when it is none."""
    if not isinstance(value, str) or not _UTC.fullmatch(value):
        return None
    if len(value) == 20 and value[-1] == "Z":
        return value if _moment(value) else None
    moment = _moment(value)
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def _moment(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def date_text(value: Any) -> str | None:
    """A year, month, day or moment as ISO text; None when it is none. A year may be a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:04d}" if 1 <= value <= 9999 else None
    if not isinstance(value, str):
        return None
    parts = _DATE.fullmatch(value)
    try:
        if parts is not None:
            datetime(int(parts[1]), int(parts[2] or 1), int(parts[3] or 1), tzinfo=UTC)
            return value
        return value if is_moment(value) and datetime.fromisoformat(value) else None
    except ValueError:
        return None


def is_moment(value: str) -> bool:
    """Whether it is written as a day with a time, with or without its distance from UTC; ISO 8601 knows more
    forms (weeks, no hyphens), which people take for something else."""
    return _MOMENT.fullmatch(value) is not None


def date_order(value: str) -> tuple[int, ...]:
    """Sorts what `date_text` gives; a year comes before its months."""
    if _DATE.fullmatch(value):
        return tuple(int(part) for part in value.split("-"))
    moment = datetime.fromisoformat(value)
    moment = moment.astimezone(UTC) if moment.tzinfo else moment
    return (*moment.timetuple()[:6], moment.microsecond)


def line_range(value: Any) -> tuple[int, int] | None:
    """`3-5`, `3` or 3 as an inclusive range from 1; None when it is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value, value) if value >= 1 else None
    found = _LINES.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    first, last = int(found[1]), int(found[2] or found[1])
    return (first, last) if first <= last else None
