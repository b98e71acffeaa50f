"""When a memory happened: the date that counts, and the note that makes relative words absolute."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lorebank.dates import DateSpan, find_dates

_ORDER = {"time": 0, "day": 1, "week": 2, "month": 3, "season": 4, "year": 5}
MAX_NOTES = 3


def dates_in(text: str, anchor: datetime | None) -> list[DateSpan]:
    """The dates of a memory's text."""
    return find_dates(text, anchor)


def main_date(spans: Sequence[DateSpan]) -> DateSpan | None:
    """The date that the memory is about: the most exact, the first of equals, an open edge last of all."""
    return min(spans, key=lambda s: (s.bound is not None, _ORDER[s.precision]), default=None)


def note(spans: Sequence[DateSpan]) -> str:
    """ " [yesterday = 2023-05-07]" for the relative dates of a text, or an empty text when it has none."""
    seen: dict[str, str] = {}
    for span in spans:
        if span.relative:
            seen.setdefault(span.text.lower(), f"{span.text} = {short(span)}")
    return f" [{'; '.join(list(seen.values())[:MAX_NOTES])}]" if seen else ""


def short(span: DateSpan) -> str:
    """The period in as few characters as its precision needs: 2023-05-07, 2023-05-01..07, 2023-05, 2023."""
    first, last = span.start, span.end
    if span.precision == "time":
        return f"{first:%Y-%m-%d %H:%M}"
    if span.precision == "year":
        return _joined(f"{first:%Y}", f"{last:%Y}")
    if span.precision == "season" or (span.precision == "month" and first.day == 1):
        return _joined(f"{first:%Y-%m}", f"{last:%Y-%m}")
    return _joined(f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}")


def _joined(first: str, last: str) -> str:
    """A range without the parts of its end that only repeat its beginning."""
    if first == last:
        return first
    shared = 0
    for at in (5, 8):
        if first[:at] == last[:at] and len(last) > at:
            shared = at
    return f"{first}..{last[shared:]}"
