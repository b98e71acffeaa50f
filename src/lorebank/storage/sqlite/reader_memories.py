"""Reading memories and tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from lorebank.clock import Micros, to_iso, to_micros
from lorebank.errors import InvalidInput
from lorebank.storage.ports import Listing, MemoryQuery, Page
from lorebank.storage.rows import Memory, MemoryVersion, NewMemory
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.connect import fold
from lorebank.storage.sqlite.reader_base import MEMORIES, ReaderBase, array, both_clauses, window

TIME_FIELDS = ("created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end")
_DAY = 86_400_000_000
_WIDTHS = {"minute": 60_000_000, "hour": 3_600_000_000, "day": _DAY, "week": 7 * _DAY}
# 1970-01-05, the first Monday: ISO weeks start there.
_MONDAY = 4 * _DAY


class MemoryReads(ReaderBase):
    """The memory methods of a reader; the port's docstrings are the contract."""

    def memories(self, query: MemoryQuery, page: Page) -> Listing[Memory]:
        where, parameters = self._memory_where(query)
        narrow = any(getattr(query, name) is not None for name in _NARROW)
        parts = {"columns": values.MEMORY, "where": where, "hint": "+" if narrow else ""}
        rows = self._rows(MEMORIES.page, parts, **parameters, **window(page)).fetchall()
        total = self._total(MEMORIES.total, parts, parameters)
        return Listing(self._memories(rows), total)

    def memories_by_key(self, keys: Sequence[int]) -> dict[int, Memory]:
        rows = self._rows(MEMORIES.by_key, {"columns": values.MEMORY}, keys=array(keys)).fetchall()
        return {memory.key: memory for memory in self._memories(rows)}

    def memory(self, memory_id: str) -> Memory | None:
        rows = self._rows(MEMORIES.by_id, {"columns": values.MEMORY}, id=memory_id).fetchall()
        return next(iter(self._memories(rows)), None)

    def memory_history(self, memory_id: str) -> Sequence[MemoryVersion]:
        rows = self._rows(MEMORIES.history, id=memory_id)
        return [MemoryVersion(at, change, values.from_json(before)) for at, change, before in rows]

    def next_position(self, thread: str) -> int:
        return self._number(MEMORIES.next_position, thread=thread)

    def find_duplicates(self, memories: Sequence[NewMemory]) -> dict[int, int]:
        digests = [digest_of(memory) for memory in memories]
        known = dict(self._rows(MEMORIES.same_facts, digests=array(digests)).fetchall())
        return {i: known[digest] for i, digest in enumerate(digests) if digest in known}

    def tags(self, text: str | None, page: Page) -> Listing[tuple[str, int]]:
        counts: Counter[str] = Counter()
        for tag_set, count in self._rows(MEMORIES.tag_sets):
            for tag in values.tags_of(tag_set):
                counts[tag] += count
        wanted = wildcard(text)
        found = [(tag, count) for tag, count in counts.items() if wanted is None or fits(wanted, fold(tag))]
        found.sort(key=lambda item: (-item[1], item[0]))
        return Listing(found[page.offset : page.offset + page.limit], len(found))

    def time_buckets(self, time_field: str, start: Micros, width: str) -> Sequence[tuple[str, str, int]]:
        field = check_time_field(time_field)
        parts = {"field": field, "bucket": _bucket_sql(field, width)}
        rows = self._rows(MEMORIES.time_buckets, parts, start=start)
        return [(_bucket_iso(bucket), fact_type, count) for bucket, fact_type, count in rows]

    def _memory_where(self, query: MemoryQuery) -> tuple[str, dict[str, Any]]:
        clauses = [self._scope.memory]
        parameters: dict[str, Any] = {}
        for name, clause in _CLAUSES.items():
            value = getattr(query, name)
            if value is not None:
                clauses.append(clause)
                parameters[name] = value
        if query.document_id is not None and not self._scope.everything:
            clauses.append("EXISTS (SELECT 1 FROM documents d WHERE d.id = :document_id AND {docs})")
        if query.text is not None:
            clauses.append("(contains(m.text, :text) OR contains(m.context, :text))")
            parameters["text"] = fold(query.text)
        asked = self._asked(query.tags, "m.tags")
        clauses.append(asked.sql)
        time_clauses, times = time_range("m", query.time_field, query.start, query.end)
        return both_clauses(clauses + time_clauses), parameters | times | asked.parameters

    def _memories(self, rows: Sequence[values.Columns]) -> list[Memory]:
        names = self._grouped(MEMORIES.entity_names, [row[0] for row in rows])
        observations = [row[0] for row in rows if row[4] == "observation"]
        sources = self._grouped(MEMORIES.source_ids, observations)
        hidden = self._hidden_documents(row[10] for row in rows)
        return [
            values.memory(
                row,
                tuple(names.get(row[0], ())),
                tuple(sources.get(row[0], ())),
                hide_document=row[10] in hidden,
            )
            for row in rows
        ]

    def _grouped(self, sql: str, keys: Sequence[int]) -> dict[int, list[str]]:
        """The second columns of a statement over memory keys, by its first."""
        found: dict[int, list[str]] = {}
        if keys:
            for key, text in self._rows(sql, keys=array(keys)):
                found.setdefault(key, []).append(text)
        return found

    def _hidden_documents(self, ids: Iterable[str | None]) -> set[str]:
        if self._scope.everything:
            return set()
        asked = array({id for id in ids if id is not None})
        return {row[0] for row in self._rows(MEMORIES.hidden_documents, ids=asked)}


# Fields that leave few memories: `{hint}` becomes a plus sign, which keeps SQLite from walking an
# index over all memories instead.
_NARROW = ("document_id", "chunk_id", "entity_id")
_CLAUSES = {
    "fact_type": "{hint}m.fact_type = :fact_type",
    "state": "{hint}m.state = :state",
    "document_id": "m.key IN (SELECT memory_key FROM memory_sources WHERE document_id = :document_id)",
    "chunk_id": "m.key IN (SELECT memory_key FROM memory_sources WHERE chunk_id = :chunk_id)",
    "entity_id": (
        "m.key IN (SELECT n.memory_key FROM memory_entities n JOIN entities e ON e.key = n.entity_key "
        "WHERE e.id = :entity_id)"
    ),
}


def digest_of(memory: NewMemory) -> str:
    """The digest under which a new memory is the same fact as another."""
    return values.dedup_key(
        memory.text,
        memory.fact_type,
        memory.tags,
        memory.metadata,
        memory.occurred_start,
        memory.occurred_end,
    )


def check_time_field(name: str, allowed: Sequence[str] = TIME_FIELDS) -> str:
    """`name` itself where it is a time column; it becomes part of a statement."""
    if name not in allowed:
        raise InvalidInput(f"time_field must be one of {', '.join(allowed)}")
    return name


def time_range(
    table: str,
    field: str | None,
    start: Micros | None,
    end: Micros | None,
    allowed: Sequence[str] = TIME_FIELDS,
) -> tuple[list[str], dict[str, Any]]:
    """The clauses for `start <= field < end`; without bounds the field does not restrict."""
    if start is None and end is None:
        return [], {}
    column = f"{table}.{check_time_field(field or 'created_at', allowed)}"
    clauses = []
    if start is not None:
        clauses.append(f"{column} >= :start")
    if end is not None:
        clauses.append(f"{column} < :end")
    return clauses, {"start": start, "end": end}


def wildcard(text: str | None) -> tuple[str, ...] | None:
    """The parts of a pattern in which `*` stands for anything, case-folded; None for no restriction."""
    return None if text is None or not text.strip() else tuple(fold(text).split("*"))


def fits(pieces: tuple[str, ...], folded: str) -> bool:
    """Whether the whole of a case-folded text is the parts of a pattern, with anything in between.

    Each part is looked for behind the one before, and never again elsewhere: the first place leaves the
    most room for the others. A regular expression would try all places, for hours, with the
    interpreter's lock in its hand.
    """
    if len(pieces) == 1:
        return folded == pieces[0]
    first, *inner, last = pieces
    if not folded.startswith(first):
        return False
    at = len(first)
    for piece in inner:
        found = folded.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(folded) - at >= len(last) and folded.endswith(last)


def _bucket_sql(field: str, width: str) -> str:
    if width == "month":
        return f"strftime('%Y-%m', m.{field} / 1000000, 'unixepoch')"
    if width not in _WIDTHS:
        raise InvalidInput(f"the bucket width must be one of {', '.join([*_WIDTHS, 'month'])}")
    size = _WIDTHS[width]
    shift = _MONDAY if width == "week" else 0
    # SQLite's % takes the sign of the left side; buckets before 1970 must be floored too.
    return f"m.{field} - ((m.{field} - {shift}) % {size} + {size}) % {size}"


def _bucket_iso(bucket: int | str) -> str:
    if isinstance(bucket, str):
        bucket = to_micros(datetime.strptime(bucket, "%Y-%m").replace(tzinfo=UTC))
    return to_iso(bucket) or ""
