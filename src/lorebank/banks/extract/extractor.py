"""`extract`: one item in, chunks and memories out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from lorebank.banks.extract.chatter import is_chatter
from lorebank.banks.extract.chunking import chunk_conversation, chunk_document
from lorebank.banks.extract.drafts import Draft, size_in_words
from lorebank.banks.extract.facts import FactMaker
from lorebank.banks.extract.known import NOTHING_KNOWN, KnownEntities
from lorebank.banks.extract.prose import passages
from lorebank.banks.extract.source import Conversation
from lorebank.banks.extract.structured import parse_structured
from lorebank.banks.extract.transcript import parse_text
from lorebank.banks.extract.turns import drafts_of, speakers
from lorebank.banks.extract.values import Chunk, Extraction, ExtractSettings, Fact, ItemInput
from lorebank.errors import InvalidInput, NeedsLLM

LOCAL_MODES = ("local", "chunks", "verbatim")
LLM_MODES = ("concise", "verbose", "custom")
# An item that is no conversation was sent on purpose: only a short greeting or the like is dropped.
MAX_CHATTER_WORDS = 10


def extract(
    item: ItemInput, settings: ExtractSettings, known_entities: KnownEntities = NOTHING_KNOWN
) -> Extraction:
    """The chunks and memories of one item, by rules alone; the same input gives the same output.

    Mode "local" splits conversations into memories a turn and documents into passages; "verbatim" makes a
    memory of each chunk as it stands, with entities and dates; "chunks" does so without them. Raises
    `NeedsLLM` for a mode that needs a language model and `InvalidInput` for an unknown one.
    """
    _check_mode(settings.mode)
    conversation = parse_structured(item.content) or parse_text(item.content, item.timestamp)
    if settings.mode != "local":
        return _whole_chunks(item, settings, known_entities, conversation)
    if conversation is not None:
        return _conversation(item, settings, known_entities, conversation)
    return _document(item, settings, known_entities)


def _check_mode(mode: str) -> None:
    if mode in LLM_MODES:
        raise NeedsLLM(
            f"retain_extraction_mode '{mode}' needs a language model and none is configured; "
            f"use one of {', '.join(LOCAL_MODES)}"
        )
    if mode not in LOCAL_MODES:
        raise InvalidInput(
            f"retain_extraction_mode '{mode}' is not known; use one of {', '.join(LOCAL_MODES + LLM_MODES)}"
        )


def _conversation(
    item: ItemInput, settings: ExtractSettings, known: KnownEntities, conversation: Conversation
) -> Extraction:
    chunks, begins = chunk_conversation(item.content, conversation, settings)
    drafts, dropped = drafts_of(conversation, settings.agent_name)
    maker = FactMaker(item, settings, known, speakers(conversation))
    facts = tuple(maker.full(draft, at, begins[draft.source]) for at, draft in enumerate(drafts))
    return _extraction(chunks, facts, dropped)


def _document(item: ItemInput, settings: ExtractSettings, known: KnownEntities) -> Extraction:
    chunks = chunk_document(item.content, settings)
    if size_in_words(item.content) <= MAX_CHATTER_WORDS and is_chatter(item.content):
        return Extraction(chunks, (), dropped=1)
    maker = FactMaker(item, settings, known, ())
    starts = _starts(chunks)
    facts = tuple(
        maker.full(draft, at, bisect_right(starts, draft.source) - 1)
        for at, draft in enumerate(passages(item.content))
    )
    return _extraction(chunks, facts, dropped=0)


def _whole_chunks(
    item: ItemInput, settings: ExtractSettings, known: KnownEntities, conversation: Conversation | None
) -> Extraction:
    if conversation is None:
        chunks = chunk_document(item.content, settings)
    else:
        chunks, _ = chunk_conversation(item.content, conversation, settings)
    maker = FactMaker(item, settings, known, speakers(conversation) if conversation else ())
    if settings.mode == "chunks":
        facts = tuple(maker.plain(chunk.text, chunk.index, chunk.index) for chunk in chunks)
    else:
        facts = tuple(maker.full(Draft(c.text, c.index), c.index, c.index, noted=False) for c in chunks)
    return _extraction(chunks, facts, dropped=0)


def _starts(chunks: Sequence[Chunk]) -> list[int]:
    """The offset at which each chunk of a document begins."""
    return [0, *accumulate(len(chunk.text) for chunk in chunks)][: len(chunks)]


def _extraction(chunks: tuple[Chunk, ...], facts: tuple[Fact, ...], dropped: int) -> Extraction:
    undecided = dict.fromkeys(key for fact in facts for key in fact.labels_undecided)
    return Extraction(chunks, facts, tuple(undecided), dropped)
