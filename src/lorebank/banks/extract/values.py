"""What goes into the extractor and what comes out. Plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lorebank.dates import Precision

FactType = Literal["world", "experience"]
LabelType = Literal["value", "multi-values", "text", "multi-text", "map"]

CHUNK_SIZE = 3000  # characters, the API's default


@dataclass(frozen=True, slots=True)
class EntityInput:
    """An entity that the caller names for an item; `type` None means the default type."""

    text: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class ItemInput:
    """One item to retain. `timestamp` None is the API's "unset": no anchor for relative dates."""

    content: str
    context: str = ""
    timestamp: datetime | None = None
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)
    entities: tuple[EntityInput, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelValue:
    """One value that a label group allows."""

    value: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class MapField:
    """One field of a group of type "map"; rules never fill it."""

    type: LabelType = "text"
    description: str = ""
    values: tuple[LabelValue, ...] = ()
    fields: Mapping[str, MapField] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """A question that is answered for every memory with `key:value` labels. `tag` makes tags of them too."""

    key: str
    description: str = ""
    type: LabelType = "value"
    optional: bool = True
    tag: bool = False
    values: tuple[LabelValue, ...] = ()
    fields: Mapping[str, MapField] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ExtractSettings:
    """How to extract. Sizes are characters.

    `structured_chunk_size` is the largest JSON turn that a chunk keeps whole (None: the chunk size).
    `entities_allow_free_form` False leaves only labels and the entities that the caller named.
    """

    mode: str = "local"
    chunk_size: int = CHUNK_SIZE
    structured_chunk_size: int | None = None
    entity_labels: tuple[LabelGroup, ...] = ()
    entities_allow_free_form: bool = True
    agent_name: str | None = None
    causal_links: bool = True


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the content as stored; `hash` is the SHA-256 of its UTF-8 text in hex."""

    index: int
    text: str
    hash: str


@dataclass(frozen=True, slots=True)
class EntityMention:
    """An entity that a memory mentions, in NFC; type PERSON, ORG, PLACE or CONCEPT, or the caller's own."""

    name: str
    type: str = "CONCEPT"


@dataclass(frozen=True, slots=True)
class Fact:
    """One memory, self-contained, in the order of the item (`position`).

    `occurred_start` and `occurred_end` are inclusive and both None for a memory without a date.
    `mentioned_at` is the turn's own time where the transcript gives one; otherwise the caller uses the
    item's. `labels` are `key:value`, `label_tags` those of them that are tags too. `labels_pending` says
    that a group with `tag: true` could not be decided by rules, so that the caller adds the reserved tag.
    `caused_by` holds positions of earlier facts.
    """

    text: str
    position: int
    chunk_index: int
    fact_type: FactType = "world"
    speaker: str | None = None
    mentioned_at: datetime | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    precision: Precision | None = None
    entities: tuple[EntityMention, ...] = ()
    labels: tuple[str, ...] = ()
    label_tags: tuple[str, ...] = ()
    labels_undecided: tuple[str, ...] = ()
    labels_pending: bool = False
    caused_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result for one item. `dropped` counts turns left out as empty chatter or system text."""

    chunks: tuple[Chunk, ...]
    facts: tuple[Fact, ...]
    label_groups_undecided: tuple[str, ...] = ()
    dropped: int = 0
