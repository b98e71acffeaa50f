"""A short piece of a text around the words that a question matched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from lorebank.search.tokenize import terms

SNIPPET_CHARS: Final = 240
LOOKED_AT: Final = 20_000
"""Characters of a text in which matches are looked for."""
_MAX_WORD: Final = 64
_WORD: Final = re.compile(r"[^\W_]+(?:[.'\u2019_:/@-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Snippet:
    """One line of text, and the words in it that matched, as they stand there."""

    text: str
    matched: tuple[str, ...]


@lru_cache(maxsize=65_536)
def _terms_of(word: str) -> frozenset[str]:
    return frozenset(terms(word))


def snippet(text: str, wanted: frozenset[str], *, chars: int = SNIPPET_CHARS) -> Snippet:
    """The piece of at most about `chars` characters with the most of the `wanted` terms (made by
    `search.tokenize`), the first of equals; the beginning when there is none."""
    shown = text[:LOOKED_AT]
    matching = {
        word: mine for word in set(_WORD.findall(shown)) if (mine := _terms_of(word[:_MAX_WORD]) & wanted)
    }
    found = _WORD.finditer(shown) if matching else ()
    hits = [(one.start(), one.group(), matching[one.group()]) for one in found if one.group() in matching]
    begin = _best_start(hits, chars)
    start = max(0, begin - chars // 6) if begin > chars // 2 else 0
    if start:
        start = (
            min(
                (place for place in (shown.find(" ", start), shown.find("\n", start)) if place >= 0),
                default=start,
            )
            + 1
        )
        start = min(start, begin)
    end = start + chars
    if end < len(shown):
        cut = shown.rfind(" ", start, end)
        end = cut if cut > start + chars // 2 else end
    matched = dict.fromkeys(word for place, word, _ in hits if start <= place < end)
    body = " ".join(shown[start:end].split())
    before, after = "… " if start else "", " …" if end < len(text.rstrip()) else ""
    return Snippet(f"{before}{body}{after}", tuple(matched))


def _best_start(hits: list[tuple[int, str, frozenset[str]]], chars: int) -> int:
    """Where the window with the most distinct terms begins; windows begin at matches."""
    best, most, last = 0, 0, 0
    counts: dict[str, int] = {}
    for place, _, mine in hits:
        while last < len(hits) and hits[last][0] < place + chars * 3 // 4:
            for term in hits[last][2]:
                counts[term] = counts.get(term, 0) + 1
            last += 1
        if len(counts) > most:
            best, most = place, len(counts)
        for term in mine:
            counts[term] -= 1
            if not counts[term]:
                del counts[term]
    return best
