"""Who said a passage, and which speakers a question names."""

from __future__ import annotations

from collections.abc import Iterable

from lorebank.search.columns import Interner
from lorebank.search.tokenize import name_terms


class Speakers:
    """Numbers for speakers, findable by the terms of their names. One writer adds, readers look up."""

    def __init__(self) -> None:
        self._names: Interner[str] = Interner()
        self._by_term: dict[str, list[int]] = {}

    def number(self, name: str | None) -> int:
        """The number of a speaker, -1 for none. Names are equal when their case-folded forms are."""
        if not name:
            return -1
        known = len(self._names.values)
        number = self._names.number(name.casefold())
        if number == known:
            for term in name_terms(name):
                self._by_term.setdefault(term, []).append(number)
        return number

    def name(self, number: int) -> str:
        return self._names.values[number]

    def named_by(self, query_terms: Iterable[str]) -> set[int]:
        """Speakers of whose name a query term is a part."""
        return {number for term in query_terms for number in self._by_term.get(term, ())}
