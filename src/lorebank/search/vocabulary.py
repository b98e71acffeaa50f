"""Numbers for terms, and terms that resemble one that the index does not hold.

A term that no visible passage has is replaced by its relatives: terms that begin with it, end in it or
contain it (Turkish suffixes, German compounds), and the terms that it is itself made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

MIN_PART: Final = 4
MAX_SCANNED: Final = 2_000
_FRESH_LIMIT: Final = 2_000


class Vocabulary:
    """Term numbers in order of arrival. One writer adds, readers look up at the same time."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._order: list[str] = []
        self._joined: tuple[str, int] = ("\n", 0)

    def __len__(self) -> int:
        return len(self._order)

    def get(self, term: str) -> int | None:
        return self._numbers.get(term)

    def numbers(self, words: list[str]) -> list[int]:
        """The numbers of `words`, new ones given to those not seen before."""
        known = self._numbers
        for word in words:
            if word not in known:
                self._add(word)
        return list(map(known.__getitem__, words))

    def kept(self, numbers: list[int]) -> Vocabulary:
        """A new vocabulary of the terms with these numbers, renumbered in this order."""
        fresh = Vocabulary()
        fresh.numbers([self._order[number] for number in numbers])
        return fresh

    def relatives(self, term: str) -> list[int]:
        """Numbers of terms that contain `term` or begin or end what it is made of, nearest first.

        At least four letters must be shared. The order depends on the words alone, not on when they came.
        """
        if len(term) < MIN_PART:
            return []
        holders = sorted(self._containing(term), key=lambda word: (_distance(word, term), len(word), word))
        found = dict.fromkeys([*holders, *self._parts(term)])
        return [self._numbers[word] for word in found if word != term]

    def _add(self, word: str) -> None:
        self._numbers[word] = len(self._order)
        self._order.append(word)

    def _containing(self, term: str) -> Iterator[str]:
        """Known terms that contain `term`: older ones by one scan of a long string, young ones by one."""
        text, covered = self._text()
        place = text.find(term)
        for _ in range(MAX_SCANNED):
            if place < 0:
                break
            end = text.index("\n", place)
            yield text[text.rindex("\n", 0, place) + 1 : end]
            place = text.find(term, end)
        yield from (word for word in self._order[covered:] if term in word)

    def _text(self) -> tuple[str, int]:
        """Most terms between newlines, and how many of them; made anew when many have come since."""
        text, covered = self._joined
        count = len(self._order)
        if count - covered > _FRESH_LIMIT:
            text, covered = "\n" + "\n".join(self._order[:count]) + "\n", count
            self._joined = (text, covered)
        return text, covered

    def _parts(self, term: str) -> list[str]:
        """Known beginnings and endings of `term`, longest first."""
        sizes = range(len(term) - 1, MIN_PART - 1, -1)
        pieces = [piece for size in sizes for piece in (term[:size], term[-size:])]
        return [piece for piece in pieces if piece in self._numbers]


def _distance(word: str, term: str) -> int:
    """How loosely `word` holds `term`: at its start, at its end, inside."""
    return 0 if word.startswith(term) else 1 if word.endswith(term) else 2
