"""The period a question asks about, read from its dates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from lorebank.dates import DateSpan, find_dates

READ_CHARS: Final = 2_000
_OPEN_SECONDS: Final = 100 * 366 * 86_400.0


def question_range(text: str, now: float) -> tuple[float, float] | None:
    """The period that `text` names, as first and last moment in epoch seconds, or None.

    Relative words ("last week", "gestern") are read at `now` (UTC). Several dates make one period from the
    earliest to the latest ("between May and July 2023"); "since" and "before" leave one end open. Only the
    first 2,000 characters are read, so that a long text costs little. Never raises on a text; a `now`
    outside of the calendar gives None.
    """
    try:
        anchor = datetime.fromtimestamp(now, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    spans = find_dates(text[:READ_CHARS], anchor)
    return _joined(spans, now) if spans else None


def _joined(spans: Sequence[DateSpan], now: float) -> tuple[float, float]:
    edges = [_edges(span, now) for span in spans]
    return min(start for start, _ in edges), max(end for _, end in edges)


def _edges(span: DateSpan, now: float) -> tuple[float, float]:
    """First and last second of what a span means together with the word that bounds it."""
    start, end = span.start.timestamp(), span.end.timestamp()
    match span.bound:
        case "since":
            return start, max(end, now)
        case "after":
            return end, max(end, now)
        case "before":
            return start - _OPEN_SECONDS, start
        case "until":
            return end - _OPEN_SECONDS, end
        case None:
            return start, end
