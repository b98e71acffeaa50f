"""The parts beside the results, each within its own token budget: chunks, entities, source facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from lorebank import tokens
from lorebank.banks.recall.ask import ChunkPart, Found
from lorebank.storage.ports import BankReader
from lorebank.storage.rows import Entity, Memory

_MOST_ENTITIES = 100
_MOST_CHUNKS = 500


def chunk_parts(reader: BankReader, found: Sequence[Found], max_tokens: int) -> list[ChunkPart]:
    """The chunks behind the results in order of relevance; the one that overflows is cut and ends the list.

    An observation brings the chunks of the memories it rests on.
    """
    ids = list(dict.fromkeys(_chunk_ids(reader, found)))[:_MOST_CHUNKS]
    stored = reader.chunks_by_id(ids)
    parts: list[ChunkPart] = []
    left = max_tokens
    for chunk in (stored[i] for i in ids if i in stored):
        if chunk.tokens <= left:
            parts.append(ChunkPart(chunk, chunk.text, truncated=False))
            left -= chunk.tokens
            continue
        text = tokens.truncate(chunk.text, left) if left > 0 else ""
        if text:
            parts.append(ChunkPart(chunk, text, truncated=True))
        break
    return parts


def _chunk_ids(reader: BankReader, found: Sequence[Found]) -> list[str]:
    ids: list[str] = []
    for item in found:
        if item.memory.chunk_id is not None:
            ids.append(item.memory.chunk_id)
        for source_id in item.memory.source_ids:
            source = reader.memory(source_id)
            if source is not None and source.chunk_id is not None:
                ids.append(source.chunk_id)
    return ids


def entity_parts(
    reader: BankReader, found: Sequence[Found], max_tokens: int
) -> list[tuple[Entity, Sequence[Memory]]]:
    """The entities of the results by how many results name them, with the observations that name them.

    Names and observation texts count; an entity that does not fit any more ends the list.
    """
    counts = Counter(name for item in found for name in item.memory.entities)
    observations = [item.memory for item in found if item.memory.fact_type == "observation"]
    about: dict[str, Sequence[Memory]] = {}
    left = max_tokens
    for name, _ in counts.most_common(_MOST_ENTITIES):
        naming = [memory for memory in observations if name in memory.entities]
        left -= _cost(name) + sum(memory.tokens for memory in naming)
        if left < 0:
            break
        about[name] = naming
    known = reader.entities_named(list(about))
    return [(known[name], naming) for name, naming in about.items() if name in known]


@lru_cache(maxsize=4096)
def _cost(name: str) -> int:
    """The tokens of a name; the same few names come again and again."""
    return tokens.count(name)


def source_fact_parts(
    reader: BankReader, found: Sequence[Found], max_tokens: int, per_observation: int
) -> tuple[list[Memory], bool]:
    """The memories that the observations among the results rest on, and whether some did not fit."""
    facts: dict[str, Memory] = {}
    left, cut = max_tokens, False
    for item in found:
        share = per_observation if per_observation >= 0 else max_tokens
        for source_id in item.memory.source_ids:
            source = reader.memory(source_id)
            if source is None or source_id in facts or source.state != "valid":
                continue
            if source.tokens > min(left, share):
                cut = True
                continue
            facts[source_id] = source
            left -= source.tokens
            share -= source.tokens
    return list(facts.values()), cut
