"""What a document's new parts change: which stored chunks stay, which go, which are new. Pure."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lorebank.banks.retain.facts import Part
from lorebank.storage.rows import Chunk, Document

RECORDS = "items"
"""The member of a document's `retain_params` that lists its parts in order: their parameters, the
`length` of their text and the number of their `chunks`."""
SEPARATOR = "\n"
"""What stands between two parts in the text of a document."""
_NOT_PARAMETERS = ("length", "chunks", "accepted_at")
_ID_CHARS = 16


@dataclass(frozen=True, slots=True)
class Fresh:
    """A chunk to be extracted: its part and piece, its place in the document, and the tail of its id."""

    part: int
    piece: int
    index: int
    tail: str


@dataclass(frozen=True, slots=True)
class Delta:
    """The difference. `moved` are kept chunks whose place in the document changed."""

    fresh: tuple[Fresh, ...]
    moved: tuple[Chunk, ...] = ()
    removed: tuple[str, ...] = ()


def record(part: Part) -> dict[str, Any]:
    """What the document remembers of a part: enough to extract it again with the same dates."""
    made = dict(part.parameters) | {"length": len(part.item.content), "chunks": len(part.pieces)}
    if not part.item.stated and part.item.when is not None:
        made["accepted_at"] = part.item.when.isoformat()
    return made


def records_of(document: Document) -> Sequence[Mapping[str, Any]]:
    """The records of a stored document; empty when it has none (it came from elsewhere)."""
    found = document.retain_params.get(RECORDS)
    return found if isinstance(found, list) and all(isinstance(r, dict) for r in found) else []


def retagged(document: Document) -> bool:
    """Whether the document's tags were changed since its parts were retained."""
    return {tag for one in records_of(document) for tag in one.get("tags", ())} != set(document.tags)


def added(parts: Sequence[Part], first_index: int, taken: Collection[str]) -> Delta:
    """All chunks of `parts` as new ones that follow `first_index` stored ones.

    `taken` are the tails of chunk ids that the document has already.
    """
    return Delta(tuple(_fresh(_pieces(parts), first_index, set(taken))))


def replaced(parts: Sequence[Part], document: Document, chunks: Sequence[Chunk]) -> Delta:
    """The change from the stored document to `parts`.

    A stored chunk stays where its text and its part's parameters are those of a new one, in order.
    Nothing stays where the document was tagged anew since, or where it does not say how it was made.
    """
    stored = _stored(document, chunks)
    fresh: list[tuple[int, int, int, str]] = []
    moved: list[Chunk] = []
    kept: set[str] = set()
    index = 0
    for number, part in enumerate(parts):
        key = _key(part.parameters)
        for piece in part.pieces:
            same = stored.get((key, piece.hash))
            if same:
                chunk = same.popleft()
                kept.add(chunk.chunk_id)
                if chunk.chunk_index != index:
                    moved.append(replace(chunk, chunk_index=index))
            else:
                fresh.append((number, piece.index, index, piece.hash))
            index += 1
    removed = tuple(c.chunk_id for c in chunks if c.chunk_id not in kept)
    taken = {tail_of(chunk_id) for chunk_id in kept}
    return Delta(
        tuple(Fresh(p, q, at, _free(digest, taken)) for p, q, at, digest in fresh), tuple(moved), removed
    )


def tail_of(chunk_id: str) -> str:
    """The part of a chunk id that tells it from its document's others."""
    return chunk_id.rpartition(":")[2]


def _pieces(parts: Iterable[Part]) -> Iterator[tuple[int, int, str]]:
    for number, part in enumerate(parts):
        for piece in part.pieces:
            yield number, piece.index, piece.hash


def _fresh(pieces: Iterable[tuple[int, int, str]], first_index: int, taken: set[str]) -> Iterator[Fresh]:
    for offset, (part, piece, digest) in enumerate(pieces):
        yield Fresh(part, piece, first_index + offset, _free(digest, taken))


def _free(digest: str, taken: set[str]) -> str:
    """The first free id tail for a text: the start of its hash, numbered from the second time on."""
    tail = base = digest[:_ID_CHARS]
    count = 1
    while tail in taken:
        count += 1
        tail = f"{base}-{count}"
    taken.add(tail)
    return tail


def _stored(document: Document, chunks: Sequence[Chunk]) -> dict[tuple[str, str], deque[Chunk]]:
    found: dict[tuple[str, str], deque[Chunk]] = defaultdict(deque)
    records = records_of(document)
    if sum(_number(r.get("chunks")) for r in records) != len(chunks) or retagged(document):
        return found
    ordered = iter(sorted(chunks, key=lambda chunk: chunk.chunk_index))
    for one in records:
        key = _key({name: value for name, value in one.items() if name not in _NOT_PARAMETERS})
        for _ in range(_number(one.get("chunks"))):
            chunk = next(ordered)
            found[(key, chunk.hash)].append(chunk)
    return found


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _key(values: Mapping[str, Any]) -> str:
    return json.dumps(values, sort_keys=True, ensure_ascii=False)
