"""The bank's own entities, ready to be found in a text in one walk over its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


_SPACELESS = re.compile("[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7a3]")


def fold(name: str) -> str:
    """The form in which two names are the same: NFC, case folded, spaces evened out."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _is_spaceless(name: str) -> bool:
    """Whether a name is written in a script that does not put spaces between words."""
    return _SPACELESS.search(name) is not None


class KnownEntities:
    """Names by first word, those without spaces as one pattern. Built once a bank, used for many items."""

    __slots__ = ("_by_first", "_names", "_pattern")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: dict[str, str] = {}
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        spaceless: list[str] = []
        for name in names:
            key = fold(name)
            if len(key) < 2 or key in self._names:
                continue
            self._names[key] = unicodedata.normalize("NFC", name)
            if _is_spaceless(key):
                spaceless.append(key)
                continue
            words = tuple(WORD.findall(key))
            if words:
                self._by_first.setdefault(words[0], []).append((key, *words))
        for candidates in self._by_first.values():
            candidates.sort(key=len, reverse=True)
        spaceless.sort(key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, spaceless))) if spaceless else None

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: str) -> bool:
        return fold(name) in self._names

    def name_of(self, name: str) -> str | None:
        """The bank's spelling of a name, or None when it does not know it."""
        return self._names.get(fold(name))

    def find(self, words: list[str], text: str) -> Iterator[str]:
        """The known names in a text, the longest at each place; `words` are its case-folded words."""
        if self._by_first:
            yield from self._find_words(words)
        if self._pattern is not None and not text.isascii():
            for match in self._pattern.finditer(text.casefold()):
                yield self._names[match[0]]

    def _find_words(self, words: list[str]) -> Iterator[str]:
        lookup = self._by_first.get
        skip_until = 0
        for at, word in enumerate(words):
            candidates = lookup(word) if at >= skip_until else None
            for key, *parts in candidates or ():
                if words[at : at + len(parts)] == parts:
                    yield self._names[key]
                    skip_until = at + len(parts)
                    break


NOTHING_KNOWN = KnownEntities()
