"""Look-ups by identity: ids, titles and aliases, what names a record, and what stands twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from lorebank.vaults.find.facets import folded
from lorebank.vaults.find.ports import changes, derived, known_of
from lorebank.vaults.store.values import Entry, View

Match = Literal["id", "title", "alias"]
_MATCHES: Final[tuple[Match, ...]] = ("id", "title", "alias")
_NOTHING: Final[tuple[Entry, ...]] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of one view.

    `by_name` is folded id, title or alias -> entries with what matched; `by_id` has every entry of an id, so
    that duplicates show. `about` is a page's id -> claims annotated with it, `ends` a record's id ->
    relationships that begin or end in it. `known` are all entries that are in them, by key.
    """

    by_name: Mapping[str, Sequence[tuple[Match, Entry]]]
    by_id: Mapping[str, Sequence[Entry]]
    about: Mapping[str, Sequence[Entry]]
    ends: Mapping[str, Sequence[Entry]]
    known: Mapping[int, Entry]

    def called(self, text: str) -> Sequence[tuple[Match, Entry]]:
        """What `text` names exactly, ids before titles before aliases; an id that stands twice names
        nothing (specs, Record formats)."""
        found = self.by_name.get(folded(text), ())
        kept = [one for one in found if one[0] != "id" or not self.twice(_id(one[1]))]
        return sorted(kept, key=lambda one: (_MATCHES.index(one[0]), one[1].path))

    def twice(self, record_id: str) -> bool:
        """Whether more than one file has the id."""
        return len(self.by_id.get(record_id, _NOTHING)) > 1

    def claims_about(self, page: str) -> list[Entry]:
        """In order of path."""
        return sorted(self.about.get(page, _NOTHING), key=lambda entry: entry.path)

    def relations_of(self, record_id: str) -> list[Entry]:
        """In order of path."""
        return sorted(self.ends.get(record_id, _NOTHING), key=lambda entry: entry.path)


def names_of(view: View) -> Names:
    """The tables of a view, made once."""
    return derived(view, "find.names", _names)


def _names(view: View, before: Names | None) -> Names:
    now = known_of(view)
    gone, new = changes({} if before is None else before.known, now)
    if before is None or len(gone) + len(new) > len(now) // 4:
        tables, new = _Tables(), list(now.values())
    else:
        tables = _Tables.of(before)
        tables.drop(gone)
    tables.add(new)
    return Names(tables.by_name, tables.by_id, tables.about, tables.ends, now)


class _Tables:
    """Tables while they are made. Lists of an earlier view are replaced, never changed."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[tuple[Match, Entry]]] = {}
        self.by_id: dict[str, list[Entry]] = {}
        self.about: dict[str, list[Entry]] = {}
        self.ends: dict[str, list[Entry]] = {}
        self._own: set[int] = set()

    @classmethod
    def of(cls, before: Names) -> _Tables:
        made = cls()
        made.by_name, made.by_id = dict(before.by_name), dict(before.by_id)  # type: ignore[arg-type]
        made.about, made.ends = dict(before.about), dict(before.ends)  # type: ignore[arg-type]
        return made

    def add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            for table, key, item in self._places(entry):
                self._mine(table, key).append(item)

    def drop(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            for table, key, _ in self._places(entry):
                kept = self._mine(table, key)
                kept[:] = [one for one in kept if (one[1] if isinstance(one, tuple) else one) is not entry]
                if not kept:
                    del table[key]

    def _mine(self, table: dict[str, list[Any]], key: str) -> list[Any]:
        """The list of a key, a copy when it is an earlier view's."""
        found = table.get(key)
        if found is None or id(found) not in self._own:
            found = table[key] = list(found or ())
            self._own.add(id(found))
        return found

    def _places(self, entry: Entry) -> Iterator[tuple[dict[str, list[Any]], str, Any]]:
        """In which tables an entry is, under which key, as what."""
        record = entry.record
        if record is None:
            return
        named: dict[str, Match] = {folded(alias): "alias" for alias in record.aliases}
        named[folded(record.title)] = "title"
        named[folded(record.id)] = "id"
        for name, match in named.items():
            yield self.by_name, name, (match, entry)
        yield self.by_id, record.id, entry
        if record.kind == "relationship":
            both = (record.meta.get("from"), record.meta.get("to"))
            for end in dict.fromkeys(end for end in both if isinstance(end, str)):
                yield self.ends, end, entry
        for page in dict.fromkeys(record.entities):
            yield self.about, page, entry


def _id(entry: Entry) -> str:
    return "" if entry.record is None else entry.record.id
