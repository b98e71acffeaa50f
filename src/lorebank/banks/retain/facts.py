"""Extraction of one item into a part that is ready to be written: all of it before the lane is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from lorebank.access.grant import Grant
from lorebank.banks.extract import (
    EntityInput,
    Extraction,
    ExtractSettings,
    Fact,
    ItemInput,
    KnownEntities,
    extract,
)
from lorebank.banks.extract.values import Chunk as Piece
from lorebank.banks.reserved import honest
from lorebank.banks.retain.check import PENDING_TAG
from lorebank.banks.retain.items import Item, joined_tags, parameters
from lorebank.clock import Micros, to_micros
from lorebank.ids import new_uuid
from lorebank.search.passage import asks, speaker_of
from lorebank.search.tokenize import terms
from lorebank.storage.rows import FactType, NewMemory
from lorebank.tokens import count_many

LABEL_TYPE = "LABEL"
"""The type of the entities that entity labels become."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A memory without its place: what does not depend on the documents stored so far."""

    text: str
    piece: int
    position: int
    fact_type: FactType
    terms: str
    tokens: int
    occurred_start: Micros | None
    occurred_end: Micros | None
    precision: str | None
    mentioned_at: Micros | None
    tags: tuple[str, ...]
    speaker: str | None
    asks: bool
    entities: tuple[tuple[str, str], ...]
    caused_by: tuple[int, ...]

    def placed(self, item: Item, document_id: str, chunk_id: str, place: tuple[str | None, int]) -> NewMemory:
        """The memory in its document, chunk and (thread, position); causes are added later."""
        return NewMemory(
            id=new_uuid(),
            text=self.text,
            context=item.context,
            fact_type=self.fact_type,
            terms=self.terms,
            tokens=self.tokens,
            occurred_start=self.occurred_start,
            occurred_end=self.occurred_end,
            precision=self.precision,
            mentioned_at=self.mentioned_at,
            document_id=document_id,
            chunk_id=chunk_id,
            metadata=item.metadata,
            tags=self.tags,
            thread=place[0],
            position=place[1],
            speaker=self.speaker,
            asks=self.asks,
            entities=self.entities,
        )


@dataclass(frozen=True, slots=True)
class Part:
    """One item with its chunks and memories."""

    item: Item
    parameters: Mapping[str, Any]
    pieces: tuple[Piece, ...]
    tokens: tuple[int, ...]
    """Of each piece."""
    facts: tuple[Ready, ...]
    undecided: tuple[str, ...] = ()
    """Groups of entity labels that rules could not decide for some memory."""


def part_of(item: Item, settings: ExtractSettings, known: KnownEntities, grant: Grant) -> Part:
    """The item, extracted and counted."""
    extraction = _honest(extracted(item, settings, known), grant)
    facts = ready_facts(item, extraction)
    counted = {fact.text: fact.tokens for fact in facts}  # a short item is one chunk and one fact alike
    left = [piece.text for piece in extraction.chunks if piece.text not in counted]
    counted.update(zip(left, count_many(left), strict=True))
    return Part(
        item,
        parameters(item),
        extraction.chunks,
        tuple(counted[piece.text] for piece in extraction.chunks),
        facts,
        extraction.label_groups_undecided,
    )


def extracted(item: Item, settings: ExtractSettings, known: KnownEntities) -> Extraction:
    """What the local rules find in the item."""
    return extract(
        ItemInput(
            content=item.content,
            context=item.context,
            timestamp=item.when,
            metadata=item.metadata,
            entities=tuple(EntityInput(name, kind) for name, kind in item.entities),
            tags=item.tags,
        ),
        settings,
        known,
    )


def _honest(extraction: Extraction, grant: Grant) -> Extraction:
    """Without the tags of labels that only the server, or somebody who is allowed to, may set."""
    if grant.may_reserve or not any(fact.label_tags for fact in extraction.facts):
        return extraction
    facts = (replace(fact, label_tags=honest(grant, fact.label_tags)) for fact in extraction.facts)
    return replace(extraction, facts=tuple(facts))


def ready_facts(item: Item, extraction: Extraction) -> tuple[Ready, ...]:
    """The memories of an extraction with tokens, keyword terms and stored times."""
    tokens = count_many([fact.text for fact in extraction.facts])
    at = item.mentioned_at
    return tuple(_ready(item, fact, count, at) for fact, count in zip(extraction.facts, tokens, strict=True))


def _ready(item: Item, fact: Fact, tokens: int, at: Micros | None) -> Ready:
    return Ready(
        text=fact.text,
        piece=fact.chunk_index,
        position=fact.position,
        fact_type=fact.fact_type,
        terms=" ".join(terms(fact.text)),
        tokens=tokens,
        occurred_start=_micros(fact.occurred_start),
        occurred_end=_micros(fact.occurred_end),
        precision=fact.precision,
        mentioned_at=at if fact.mentioned_at is None else to_micros(fact.mentioned_at),
        tags=_tags(item, fact),
        speaker=fact.speaker or speaker_of(fact.text),
        asks=asks(fact.text),
        entities=_entities(fact),
        caused_by=fact.caused_by,
    )


def _micros(when: datetime | None) -> Micros | None:
    return None if when is None else to_micros(when)


def _tags(item: Item, fact: Fact) -> tuple[str, ...]:
    if fact.labels_pending:
        return joined_tags(item.tags, (*fact.label_tags, PENDING_TAG))
    return joined_tags(item.tags, fact.label_tags)


def _entities(fact: Fact) -> tuple[tuple[str, str], ...]:
    named = tuple((mention.name, mention.type) for mention in fact.entities)
    if not fact.labels:
        return named
    taken = {name for name, _ in named}
    return named + tuple((label, LABEL_TYPE) for label in fact.labels if label not in taken)
