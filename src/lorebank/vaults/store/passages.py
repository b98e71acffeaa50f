"""A record as the search index takes it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from lorebank.search.passage import Passage, Precision
from lorebank.vaults.record.values import Record

_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_PRECISIONS: Final[dict[int, Precision]] = {1: "year", 2: "month", 3: "day"}


def passage(key: int, record: Record) -> Passage:
    """Its passage: `key` of the catalogue, terms of the text, tags to filter by, the time it holds for."""
    first, precision = moment(record.meta.get("valid_from"), last=False)
    last, ending = moment(record.meta.get("valid_to"), last=True)
    return Passage(
        key=key,
        seq=key,
        kind="world",
        terms=record.text_terms,
        tags=tags(record),
        occurred_start=first,
        occurred_end=last,
        mentioned_at=moment(record.recorded_at, last=False)[0],
        precision=None if first is None and last is None else precision or ending,
        tokens=record.tokens,
    )


def tags(record: Record) -> tuple[str, ...]:
    """What searches filter by: `kind:claim`, `type:person`, `lifecycle:active`, `claim:fact`, `tag:…`, and
    `invalid` for a record on which nothing may rest."""
    found = [f"kind:{record.kind}", f"lifecycle:{record.lifecycle}"]
    if record.type is not None:
        found.append(f"type:{record.type}")
    claim = record.meta.get("claim_kind")
    if isinstance(claim, str):
        found.append(f"claim:{claim}")
    if not record.valid:
        found.append("invalid")
    found.extend(f"tag:{tag}" for tag in record.tags)
    return tuple(found)


def moment(value: object, *, last: bool) -> tuple[float | None, Precision | None]:
    """Epoch seconds of a year, month, day or date-time, the first or the last second of it, and how exact
    it is; (None, None) for anything else."""
    if not isinstance(value, str):
        return None, None
    text = value.strip()
    short = _DATE.fullmatch(text)
    try:
        if short is None:
            when = datetime.fromisoformat(text)
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp(), "time"
        year, month, day = (None if part is None else int(part) for part in short.groups())
        begin = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
        precision = _PRECISIONS[1 + (month is not None) + (day is not None)]
        return (_end(begin, precision) if last else begin).timestamp(), precision
    except (ValueError, OverflowError):
        return None, None


def _end(begin: datetime, precision: Precision) -> datetime:
    if precision == "year":
        return begin.replace(month=12, day=31, hour=23, minute=59, second=59)
    if precision == "month":
        later = (begin + timedelta(days=31)).replace(day=1) if begin.month < 12 else begin.replace(day=31)
        begin = later - timedelta(days=1) if begin.month < 12 else later
    return begin.replace(hour=23, minute=59, second=59)
