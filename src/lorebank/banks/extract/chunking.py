"""Chunks: what the content is stored in, and which chunk each turn begins in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

from lorebank.banks.extract.source import Conversation
from lorebank.banks.extract.split import pieces
from lorebank.banks.extract.structured import TEXT_KEYS, dumps
from lorebank.banks.extract.values import Chunk, ExtractSettings


def chunk_of(index: int, text: str) -> Chunk:
    """A chunk with its hash. Lone surrogates, which UTF-8 cannot hold, are hashed as replacement marks."""
    return Chunk(index, text, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())


def chunk_document(content: str, settings: ExtractSettings) -> tuple[Chunk, ...]:
    """The chunks of a document; joined they are the content."""
    return tuple(chunk_of(i, part) for i, part in enumerate(pieces(content, settings.chunk_size)))


def chunk_conversation(
    content: str, conversation: Conversation, settings: ExtractSettings
) -> tuple[tuple[Chunk, ...], list[int]]:
    """The chunks of a conversation, cut only between turns, and the chunk index in which each turn begins.

    A turn longer than the limit is cut by itself: a text turn as text, a JSON turn into several turns that
    carry its other fields. Text chunks joined are the content; JSON arrays are written again as arrays,
    JSONL as lines.
    """
    if len(content) <= settings.chunk_size:
        return (chunk_of(0, content),), [0] * len(conversation.turns)
    limit = settings.chunk_size
    if conversation.kind == "text":
        parts = [pieces(turn.raw, limit) for turn in conversation.turns]
        return _grouped(parts, limit, "".join, overhead=0)
    whole = settings.structured_chunk_size or limit
    parts = [_json_parts(turn.raw, whole, limit) for turn in conversation.turns]
    if conversation.kind == "json":
        return _grouped(parts, limit, lambda held: "[" + ", ".join(held) + "]", overhead=2)
    return _grouped(parts, limit, "\n".join, overhead=1)


def _grouped(
    parts: Sequence[Sequence[str]], limit: int, join: Callable[[Sequence[str]], str], overhead: int
) -> tuple[tuple[Chunk, ...], list[int]]:
    texts: list[str] = []
    begins: list[int] = []
    held: list[str] = []
    length = 0
    for turn in parts:
        for number, part in enumerate(turn):
            if held and length + len(part) + overhead > limit:
                texts.append(join(held))
                held, length = [], 0
            if number == 0:
                begins.append(len(texts))
            held.append(part)
            length += len(part) + overhead
    if held:
        texts.append(join(held))
    return tuple(chunk_of(i, text) for i, text in enumerate(texts)), begins


def _json_parts(raw: str, whole: int, limit: int) -> list[str]:
    """A turn as it is when no longer than `whole`, else several turns whose text is a part of it."""
    if len(raw) <= whole:
        return [raw]
    entry: dict[str, Any] = json.loads(raw)
    key = next((k for k in TEXT_KEYS if isinstance(entry.get(k), str)), None)
    if key is None:  # a list of blocks has no single text to cut
        return [raw]
    room = max(limit - (len(raw) - len(entry[key])), limit // 2, 1)
    return [dumps({**entry, key: part}) for part in pieces(entry[key], room)]
