"""Token counts: how much of a model's context window a text takes.

The unit everywhere in lorebank is the o200k token. Text is untrusted, so nothing in it is special:
`<|endoftext|>` counts as the characters it consists of, and lone surrogates count as U+FFFD. No
function here raises for any `str`. Counts equal those of OpenAI's own table for the same text.

The table (66 MB in memory, about 80 ms to build) loads on first use; `warm()` loads it early.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from threading import Lock
from typing import Protocol

# The longest token of the table, in bytes; a text of n tokens is never longer than n times this.
_LONGEST_TOKEN = 128

_load_lock = Lock()


class _Encoding(Protocol):
    def count(self, text: str) -> int: ...
    def count_till_limit(self, text: str, limit: int) -> int | None: ...
    def encode(self, text: str) -> list[int]: ...
    def decode(self, ids: list[int]) -> str | None: ...


def count(text: str) -> int:
    """How many o200k tokens `text` takes; 0 for the empty text."""
    return _encoding().count(_encodable(text))


def count_many(texts: Iterable[str]) -> list[int]:
    """`count` of each text, in order."""
    encoding = _encoding()
    return [encoding.count(_encodable(text)) for text in texts]


def truncate(text: str, max_tokens: int) -> str:
    """The longest prefix of `text` that ends between two tokens and counts at most `max_tokens`.

    A text that fits comes back unchanged, the same object. A cut never falls inside a character.
    `max_tokens` below 1 gives the empty text.
    """
    if max_tokens < 1:
        return ""
    if len(text) <= max_tokens and text.isascii():  # an o200k token never takes less than a byte
        return text
    encoding = _encoding()
    clean = _encodable(text)
    if encoding.count_till_limit(clean, max_tokens) is not None:
        return text
    ids = encoding.encode(clean[: (max_tokens + 1) * _LONGEST_TOKEN])
    return _longest_prefix(encoding, clean, ids, max_tokens)


def warm() -> None:
    """Load the table now, so that the first request does not pay for it."""
    _encoding()


def _longest_prefix(encoding: _Encoding, text: str, ids: list[int], max_tokens: int) -> str:
    # A cut between two tokens may split a character, and a prefix may tokenise differently from the
    # same characters inside the whole text: step back until the count holds.
    for kept in range(max_tokens, 0, -1):
        part = encoding.decode(ids[:kept])
        if part is not None and text.startswith(part) and encoding.count(part) <= max_tokens:
            return part
    return ""


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text


def _encoding() -> _Encoding:
    with _load_lock:  # two threads at start must not build the table twice
        return _table()


@cache
def _table() -> _Encoding:
    from rs_bpe.bpe import openai  # the import alone takes 20 ms

    table: _Encoding = openai.o200k_base()
    return table
