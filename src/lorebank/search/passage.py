"""The unit of search, and the pure rules that turn a memory's text into what the index keeps of it."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Kind = Literal["world", "experience", "observation"]
Precision = Literal["time", "day", "month", "year"]
KINDS: Final[tuple[Kind, ...]] = ("world", "experience", "observation")
PRECISIONS: Final[tuple[Precision, ...]] = ("time", "day", "month", "year")

PREVIOUS_CHARS: Final = 160
_SPEAKER = re.compile(r"\s*([^\W\d_][\w.'\u2019-]*(?: [^\W\d_][\w.'\u2019-]*){0,3}) ?[:\uff1a]\s")
_NOT_SPEAKERS: Final = frozenset(
    {"note", "http", "https", "todo", "warning", "error", "re", "fwd", "subject", "ps"}
)
_QUESTION_MARKS: Final = "?\uff1f\u061f"
_QUESTION_TAIL_CHARS: Final = 60


class Passage(NamedTuple):
    """One searchable row as storage knows it. The index keeps numbers and terms, never the text.

    A tuple, because the first load of a large bank makes 100,000 of them.

    `key` is the storage row id, never reused. `seq` is the store's sequence number of the row. `terms` is
    `" ".join(tokenize.terms(text))`. Times are epoch seconds in UTC, None where unknown; `precision` tells
    how exactly `occurred_start`/`occurred_end` are known. `thread` names a conversation and `position` the
    place in it: the neighbours of a passage are the ones at exactly `position - 1` and `position + 1`.
    `speaker` is who said it, `asks` whether it ends in a question. `sources` are the keys of the facts that
    an observation rests on.
    """

    key: int
    seq: int
    kind: Kind
    terms: str
    tags: tuple[str, ...] = ()
    occurred_start: float | None = None
    occurred_end: float | None = None
    mentioned_at: float | None = None
    precision: Precision | None = None
    proof_count: int = 1
    tokens: int = 0
    thread: str | None = None
    position: int = 0
    speaker: str | None = None
    asks: bool = False
    entities: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()


def speaker_of(text: str) -> str | None:
    """The name in front of "Name: ..." (at most four words), or None."""
    found = _SPEAKER.match(text[:120])
    if found is None or found.group(1).casefold() in _NOT_SPEAKERS:
        return None
    return found.group(1)


def asks(text: str) -> bool:
    """True when the text ends in a question, a bracketed note behind it aside: its answer is likely what
    follows.
    """
    body = _without_note(text)
    return any(mark in body[-_QUESTION_TAIL_CHARS:] for mark in _QUESTION_MARKS)


def _without_note(text: str) -> str:
    """Looked for from the end: a pattern would try every blank of a text that is nothing but blanks."""
    body = text.rstrip()
    begin = body.rfind("[")
    if begin < 0 or body.find("]", begin) != len(body) - 1:
        return text
    return body[:begin].rstrip()


def embed_text(text: str, previous: str | None = None) -> str:
    """What to embed for a passage: the start of the turn before it in the same thread, then the text itself.

    A short turn ("Yes, last June!") says little alone; with the question before it it can be found.
    """
    if not previous:
        return text
    return f"{previous[:PREVIOUS_CHARS].rstrip()}\n{text}"
