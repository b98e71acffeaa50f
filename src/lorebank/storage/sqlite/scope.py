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
    """The predicates of one grant: `memory` over `m.tags`, `document` over `d.tags`.

    `other` is `memory` for a second memory of the same query, called `o`.
    """

    filter: TagFilter | None
    memory: str
    other: str
    document: str
    parameters: dict[str, str]

    @property
    def everything(self) -> bool:
        """Whether nothing is hidden."""
        return self.filter is None


def scope(filter: TagFilter | None) -> Scope:
    """The scope of a filter without fuzzy leaves."""
    memory = predicate(filter, "m.tags", "seen")
    return Scope(
        filter,
        memory.sql,
        predicate(filter, "o.tags", "seen").sql,
        predicate(filter, "d.tags", "seen").sql,
        memory.parameters,
    )
