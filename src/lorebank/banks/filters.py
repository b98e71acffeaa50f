"""The last steps from a caller's filters to those that storage applies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lorebank.clock import Micros
from lorebank.errors import BadRequest
from lorebank.storage.ports import BankReader, Page
from lorebank.storage.rows import MemoryVersion
from lorebank.tags import TagFilter, expand_fuzzy, matches, needs_fuzzy

_ALL_TAGS = Page(limit=1_000_000)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A range on one time column: inclusive start, exclusive end, None where it is open."""

    field: str
    start: Micros | None
    end: Micros | None


def expanded(reader: BankReader, tags: TagFilter | None) -> TagFilter | None:
    """`tags` with each fuzzy tag replaced by the bank's visible tags that resemble it."""
    if tags is None or not needs_fuzzy(tags):
        return tags
    return expand_fuzzy(tags, [tag for tag, _ in reader.tags(None, _ALL_TAGS).rows])


def seen_versions(visible: TagFilter | None, versions: Sequence[MemoryVersion]) -> Sequence[MemoryVersion]:
    """The earlier versions of a memory that the filter let through when they were in force."""
    if visible is None:
        return versions
    return [version for version in versions if matches(visible, version.before.get("tags") or ())]


def time_range(
    field: str | None, first: Micros | None, last: Micros | None, allowed: tuple[str, ...]
) -> TimeRange | None:
    """The range from `first` to `last`, both included; None when neither is given.

    Without a field the first of `allowed` counts; `BadRequest` for a field that is not among them.
    """
    if field is not None and field not in allowed:
        raise BadRequest(f"time_field must be one of {', '.join(allowed)}")
    if first is None and last is None:
        return None
    return TimeRange(field or allowed[0], first, None if last is None else last + 1)
