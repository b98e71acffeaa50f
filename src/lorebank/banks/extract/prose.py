"""Documents made into memories: passages of a few sentences, with the headings that they stand under."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lorebank.banks.extract.drafts import Draft, short_sentences, size_in_words

ENOUGH_WORDS = 40
MOST_WORDS = 80
_MOST_SENTENCES = 3
_HEADINGS_KEPT = 2
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]++(.+)")
_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")


def passages(content: str) -> list[Draft]:
    """The passages of a document in order; `source` is the offset at which each begins.

    Content of at most `MOST_WORDS` words is one passage, unchanged but for the space around it.
    """
    if size_in_words(content) <= MOST_WORDS:
        text = content.strip()
        return [Draft(text, content.find(text))] if text else []
    result: list[Draft] = []
    for headings, offset, block in _blocks(content):
        prefix = " > ".join(headings[-_HEADINGS_KEPT:])
        for begin, text in _packed(block, offset):
            result.append(Draft(f"{prefix}: {text}" if prefix else text, begin))
    return result


def _blocks(content: str) -> Iterator[tuple[list[str], int, str]]:
    """The text under each heading, with the headings above it and its offset."""
    trail: list[tuple[int, str]] = []
    held: list[str] = []
    begin = offset = 0
    fenced = False
    for line in content.splitlines(keepends=True):
        if _FENCE.match(line):
            fenced = not fenced
        heading = None if fenced else _HEADING.match(line)
        if heading:
            if "".join(held).strip():
                yield [name for _, name in trail], begin, "".join(held)
            depth = len(heading[1])
            trail = [entry for entry in trail if entry[0] < depth] + [(depth, _title(heading[2].strip()))]
            held, begin = [], offset + len(line)
        else:
            held.append(line)
        offset += len(line)
    if "".join(held).strip():
        yield [name for _, name in trail], begin, "".join(held)


def _title(text: str) -> str:
    """Without the `#` that may close a heading. Not by a pattern, which would try each blank inside."""
    return text.rstrip(" \t#") or text


def _packed(block: str, offset: int) -> Iterator[tuple[int, str]]:
    """Neighbouring sentences of a block as passages: up to three, or as many as make `ENOUGH_WORDS`."""
    held, words, count, begin = "", 0, 0, offset
    for sentence in short_sentences(block, MOST_WORDS):
        length = size_in_words(sentence.strip())
        full = words + length > MOST_WORDS or (count >= _MOST_SENTENCES and words >= ENOUGH_WORDS)
        if count and full:  # something is held that is not blank
            yield begin, held.strip()
            begin, held, words, count = begin + len(held), "", 0, 0
        held += sentence
        if sentence.strip():
            words, count = words + length, count + 1
    if count:
        yield begin, held.strip()
