"""Records as values: what a file in a partition says, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

FORMAT: Final = "knowledge-record-v1"
RecordKind = Literal["page", "claim", "relationship"]
Lifecycle = Literal["active", "superseded", "withdrawn", "merged"]
RECORD_KINDS: Final[tuple[RecordKind, ...]] = ("page", "claim", "relationship")
LIFECYCLES: Final[tuple[Lifecycle, ...]] = ("active", "superseded", "withdrawn", "merged")
MAX_RECORD_BYTES: Final = 5_000_000
"""A whole record with its frontmatter, in UTF-8 bytes (seed 000, Limits)."""
MAX_NESTING: Final = 20
"""Levels of frontmatter (seed 000, Limits)."""
MAX_DIAGNOSTICS: Final = 1_000
"""Findings in one answer (seed 000, Limits)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic: the file (relative to its partition, `/`), the line (from 1, 0: the whole file), the
    stable name of the rule, and a sentence that says what is wrong and what to do."""

    path: str
    line: int
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A claim's or relationship's pointer into a retained source: descriptor id, inclusive line range (from
    1), exact quote, attribution."""

    source: str
    lines: tuple[int, int] | None = None
    quote: str | None = None
    attribution: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What a readable record's frontmatter says, with its defaults filled in.

    `path` is relative to the partition. `meta` is the whole frontmatter, JSON-ready, unknown keys
    included. `body` is not kept here: it is read from the file when needed. `type` is a page's domain
    type, given or by path prefix. `text_terms` is what keyword search indexes (title, aliases, tags,
    names of fields' values, body), made by `search.tokenize.terms`; `tokens` counts the whole text.
    `valid` is false for a typed record whose ontology data or references are wrong: it can be looked at,
    and nothing rests on it. `lines` tells where in the file the id and everything that names another record
    stands, by dotted place (`id`, `entities.0`, `evidence.2`), so that `references.py` can say so.
    """

    path: str
    id: str
    revision: int
    kind: RecordKind
    title: str
    recorded_at: str
    updated_at: str
    lifecycle: Lifecycle
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    type: str | None = None
    entities: tuple[str, ...] = ()
    evidence: tuple[Citation, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    text_terms: str = ""
    tokens: int = 0
    valid: bool = True
    lines: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file read on its own: `record` is None when it is withheld (no envelope, broken YAML, wrong scope);
    the findings say why."""

    record: Record | None
    findings: tuple[Finding, ...]
