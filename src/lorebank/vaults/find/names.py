"""Look-ups by identity: ids, titles and aliases, what names a record, and what stands twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from lorebank.vaults.find.facets import FEW, folded
from lorebank.vaults.find.ports import changes, derived, known_of
from lorebank.vaults.record.values import Record
from lorebank.vaults.store.values import Entry, View

Match = Literal["id", "title", "alias"]
Table = Mapping[str, Entry | list[Entry]]
"""One entry stands for itself: a list for each of 100,000 names would keep the collector of garbage busy."""
_MATCHES: Final[tuple[Match, ...]] = ("id", "title", "alias")


@dataclass(frozen=True, slots=True)
class Names:
    """The tables of one view.

    `by_name` is folded id, title or alias -> entries, `by_id` id -> entries, so that duplicates show. `about`
    is a page's id -> claims annotated with it, `ends` a record's id -> relationships that begin or end in
    it. `known` are all entries that are in them, by key.
    """

    by_name: Table
    by_id: Table
    about: Table
    ends: Table
    known: Mapping[int, Entry]

    def called(self, text: str) -> list[tuple[Match, Entry]]:
        """What `text` names exactly, ids before titles before aliases; an id that stands twice names
        nothing (specs, Record formats)."""
        name = folded(text)
        found = [(_match(name, one.record), one) for one in _in_order(self.by_name.get(name)) if one.record]
        kept = [(match, one) for match, one in found if match != "id" or not self.twice(_id(one))]
        return sorted(kept, key=lambda pair: _MATCHES.index(pair[0]))

    def twice(self, record_id: str) -> bool:
        """Whether more than one file has the id."""
        return len(self.of_id(record_id)) > 1

    def of_id(self, record_id: str) -> list[Entry]:
        """All entries with the id, in order of path."""
        return _in_order(self.by_id.get(record_id))

    def claims_about(self, page: str) -> list[Entry]:
        """In order of path."""
        return _in_order(self.about.get(page))

    def relations_of(self, record_id: str) -> list[Entry]:
        """In order of path."""
        return _in_order(self.ends.get(record_id))


def names_of(view: View) -> Names:
    """The tables of a view, made once."""
    return derived(view, "find.names", _names)


def _names(view: View, before: Names | None) -> Names:
    now = known_of(view)
    gone, new = changes({} if before is None else before.known, now)
    if before is None or len(gone) + len(new) > len(now) // FEW:
        tables, new = _Tables({}, {}, {}, {}), list(now.values())
    else:
        tables = _Tables(dict(before.by_name), dict(before.by_id), dict(before.about), dict(before.ends))
        tables.drop(gone)
    tables.add(new)
    return Names(tables.by_name, tables.by_id, tables.about, tables.ends, now)


class _Tables:
    """Tables while they are made. Lists of an earlier view are replaced, never changed."""

    def __init__(
        self,
        by_name: dict[str, Entry | list[Entry]],
        by_id: dict[str, Entry | list[Entry]],
        about: dict[str, Entry | list[Entry]],
        ends: dict[str, Entry | list[Entry]],
    ) -> None:
        self.by_name, self.by_id, self.about, self.ends = by_name, by_id, about, ends
        self._own: set[int] = set()

    def add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            for table, key in self._places(entry):
                if key in table:
                    self._mine(table, key).append(entry)
                else:
                    table[key] = entry

    def drop(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            for table, key in self._places(entry):
                kept = self._mine(table, key)
                kept[:] = [one for one in kept if one is not entry]
                if not kept:
                    del table[key]

    def _mine(self, table: dict[str, Entry | list[Entry]], key: str) -> list[Entry]:
        """The list of a key, a copy when it is an earlier view's."""
        found = table[key]
        if isinstance(found, list) and id(found) in self._own:
            return found
        own = list(found) if isinstance(found, list) else [found]
        self._own.add(id(own))
        table[key] = own
        return own

    def _places(self, entry: Entry) -> Iterator[tuple[dict[str, Entry | list[Entry]], str]]:
        """In which tables an entry is, under which keys."""
        record = entry.record
        if record is None:
            return
        for name in {folded(record.id), folded(record.title), *map(folded, record.aliases)}:
            yield self.by_name, name
        yield self.by_id, record.id
        if record.kind == "relationship":
            both = (record.meta.get("from"), record.meta.get("to"))
            for end in {end for end in both if isinstance(end, str)}:
                yield self.ends, end
        for page in set(record.entities):
            yield self.about, page


def _in_order(found: Entry | list[Entry] | None) -> list[Entry]:
    if found is None:
        return []
    return sorted(found, key=lambda entry: entry.path) if isinstance(found, list) else [found]


def _match(name: str, record: Record) -> Match:
    if folded(record.id) == name:
        return "id"
    return "title" if folded(record.title) == name else "alias"


def _id(entry: Entry) -> str:
    return "" if entry.record is None else entry.record.id
