"""Cutting text without losing any: sentences, and pieces of a given size."""

from __future__ import annotations

import re
from itertools import pairwise

# A sentence ends after closing marks and the space that follows; in Chinese and Japanese there is no space.
# A run of marks is looked at from its begin only, and as a whole: else each of a hundred thousand dots would
# be a begin of its own, and the interpreter would do nothing else for an hour.
_MARKS = r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+\s+"
_END = re.compile(_MARKS + r"|[。！？]+[」』”’）]*\s*|[؟۔।]\s*|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|no|nr|e\.g|i\.e|approx|fig|inc|ltd|co|jr|sr|bzw|z\.b|ca|usw|vgl|u\.a"
    r"|a\.m|p\.m)|\b[A-Z]|\b\d{1,3})\.\s+$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b\d{1,3}\.\s+$")
# Coarse to fine: what a too long piece is cut at, always after the separator.
SEPARATORS = (
    re.compile(r"\n\s*\n+"),
    re.compile(r"\n+"),
    re.compile(_MARKS + r"|[。！？؟]+[」』”’）]*"),
    re.compile(r"[,;:，、；：]\s*"),
    re.compile(r"\s+"),
)


def sentences(text: str) -> list[str]:
    """The sentences of a text, with their trailing space; joined they are the text."""
    parts: list[str] = []
    begin = 0
    for match in _END.finditer(text):
        stop = match.end()
        if text[match.start()] == "." and _is_abbreviation(text, begin, stop):
            continue
        parts.append(text[begin:stop])
        begin = stop
    if begin < len(text):
        parts.append(text[begin:])
    return parts


def _is_abbreviation(text: str, begin: int, stop: int) -> bool:
    following = text[stop : stop + 1]
    if following.islower():
        return True
    return _ABBREVIATION.search(text, max(begin, stop - 12), stop) is not None


def pieces(text: str, size: int) -> list[str]:
    """The text cut into pieces of at most `size` characters at the coarsest border that will do.

    Joined they are the text. Only a run without any separator is cut inside a word.
    """
    return _pieces(text, size, 0) if len(text) > size else [text]


def _pieces(text: str, size: int, level: int) -> list[str]:
    if len(text) <= size:
        return [text]
    if level == len(SEPARATORS):
        return [text[i : i + size] for i in range(0, len(text), size)]
    small: list[str] = []
    for part in _cut(text, SEPARATORS[level]):
        small.extend(_pieces(part, size, level + 1))
    return packed(small, size)


def _cut(text: str, separator: re.Pattern[str]) -> list[str]:
    edges = [0, *(m.end() for m in separator.finditer(text)), len(text)]
    return [text[a:b] for a, b in pairwise(edges) if b > a]


def packed(parts: list[str], size: int) -> list[str]:
    """Neighbouring parts joined as long as they stay within `size` characters."""
    result: list[str] = []
    held: list[str] = []
    length = 0
    for part in parts:
        if held and length + len(part) > size:
            result.append("".join(held))
            held, length = [], 0
        held.append(part)
        length += len(part)
    if held:
        result.append("".join(held))
    return result
