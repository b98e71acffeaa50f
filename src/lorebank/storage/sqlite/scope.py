"""What a reader may see: a grant's tag filter as predicates that every query carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lorebank.tags import TagFilter, expand_fuzzy, needs_fuzzy, to_sql

AllTags = Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition with named parameters."""

    sql: str
    parameters: dict[str, str] = field(default_factory=dict)


EVERYTHING = Predicate("1")


def predicate(filter: TagFilter | None, column: str, prefix: str) -> Predicate:
    """`filter` over `column`, its parameters named `<prefix>0`, `<prefix>1`, …"""
    if filter is None:
        return EVERYTHING
    sql, values = to_sql(filter, column)
    pieces = sql.split("?")
    named = "".join(f"{piece}:{prefix}{i}" for i, piece in enumerate(pieces[:-1])) + pieces[-1]
    return Predicate(named, {f"{prefix}{i}": value for i, value in enumerate(values)})


def resolved(filter: TagFilter | None, all_tags: AllTags) -> TagFilter | None:
    """`filter` without fuzzy leaves; `all_tags` is asked only when there are some."""
    if filter is None or not needs_fuzzy(filter):
        return filter
    return expand_fuzzy(filter, all_tags())


@dataclass(frozen=True, slots=True)
class Scope:
    """The predicates of one grant: `memory` over the memory `m`, `document` over the document `d`.

    `other` is `memory` for a second memory of the same query, called `o`; `operation`, over the
    operation `o`, leaves those that one principal started where the grant says so.
    """

    filter: TagFilter | None
    memory: str
    other: str
    document: str
    operation: str
    parameters: dict[str, str]

    @property
    def everything(self) -> bool:
        """Whether nothing is hidden."""
        return self.filter is None


# Operations stored by earlier versions have no name: theirs is made from kind and id.
_STARTED_BY = (
    "coalesce(json_extract(o.principal, '$.name'),"
    " json_extract(o.principal, '$.kind') || ':' || json_extract(o.principal, '$.id')) = :starter"
)


# The tags that a document remembers for each of its parts. Archives may have brought anything there.
_PARTS = """(SELECT CASE WHEN p.type = 'object' THEN
    CASE json_type(p.value, '$.tags') WHEN 'array' THEN json_extract(p.value, '$.tags') ELSE '[]' END
    ELSE '[]' END AS tags FROM json_each(d.retain_params, '$.items') p)"""
# Whether they are those of the document still: who tags a document anew tags all of it.
_PARTS_HOLD = f"""NOT EXISTS (SELECT 1 FROM json_each(d.tags) t WHERE t.value NOT IN (
    SELECT j.value FROM {_PARTS} q, json_each(q.tags) j)
) AND NOT EXISTS (SELECT 1 FROM {_PARTS} q, json_each(q.tags) j WHERE j.value NOT IN (
    SELECT value FROM json_each(d.tags)))"""


def _whole(filter: TagFilter) -> str:
    """Whether no hidden memory and no hidden part rests on the document `d`."""
    resting = predicate(filter, "h.tags", "seen").sql
    part = predicate(filter, "r.tags", "seen").sql
    return f"""NOT EXISTS (
        SELECT 1 FROM memory_sources s_h JOIN memories h ON h.key = s_h.memory_key
        WHERE s_h.document_id = d.id AND NOT {resting}
    ) AND NOT (EXISTS (SELECT 1 FROM {_PARTS} r WHERE NOT {part}) AND {_PARTS_HOLD})"""


def scope(filter: TagFilter | None, starter: str | None = None, *, whole: bool) -> Scope:
    """The scope of a filter without fuzzy leaves, and of the name of whose operations are seen (None: all).

    With `whole` a document is visible only where all of it is: its text shows what the memories say that
    were made of it.
    """
    memory = predicate(filter, "m.tags", "seen")
    document = predicate(filter, "d.tags", "seen").sql
    if whole and filter is not None:
        document = f"({document} AND {_whole(filter)})"
    return Scope(
        filter,
        memory.sql,
        predicate(filter, "o.tags", "seen").sql,
        document,
        "1" if starter is None else _STARTED_BY,
        memory.parameters | ({} if starter is None else {"starter": starter}),
    )
