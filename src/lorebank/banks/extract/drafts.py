"""A memory in the making, and measures of text that hold for every script."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from lorebank.banks.extract.split import pieces, sentences

_SPACELESS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a memory and where it came from: `source` is a turn's index or a character offset."""

    text: str
    source: int
    speaker: str = ""
    role: str = ""
    at: datetime | None = None
    first_person: bool = False


def size_in_words(text: str) -> int:
    """About how many words a text has; two signs of a script without spaces, or twelve of any, make one."""
    words = max(text.count(" ") + text.count("\n") + 1, len(text) // 12)
    return words if text.isascii() else words + len(_SPACELESS.findall(text)) // 2


def short_sentences(text: str, most: int) -> list[str]:
    """The sentences of a text, those far above `most` words cut further; joined they are the text."""
    signs = max(1, most * len(text) // size_in_words(text))
    return [piece for sentence in sentences(text) for piece in pieces(sentence, signs)]


def in_parts(text: str, most: int) -> list[str]:
    """The text cut into parts of about `most` words at most, at sentence borders where it has any."""
    if size_in_words(text) <= most:
        return [text]
    parts: list[str] = []
    held, length = "", 0
    for sentence in short_sentences(text, most):
        words = size_in_words(sentence.strip())
        if held and length + words > most:
            parts.append(held.strip())
            held, length = "", 0
        held += sentence
        length += words
    parts.append(held.strip())
    return [part for part in parts if part]
