"""Reading entities. The stored mention numbers serve readers that see everything; others count anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lorebank.clock import Micros
from lorebank.storage.ports import Listing, Page
from lorebank.storage.rows import Entity, Memory
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.reader_base import array, window
from lorebank.storage.sqlite.reader_memories import MemoryReads
from lorebank.storage.sqlite.sections import EntitySql
from lorebank.tags import TagFilter

_SQL = load(EntitySql, "entities")


class EntityReads(MemoryReads):
    """The entity methods of a reader; the port's docstrings are the contract."""

    def entities(self, tags: TagFilter | None, page: Page) -> Listing[Entity]:
        if tags is None and self._scope.everything:
            rows, total = self._rows(_SQL.page, **window(page)), self._number(_SQL.total)
        else:
            asked = self._asked(tags, "m.tags")
            parts = {"asked": asked.sql}
            rows = self._rows(_SQL.filtered_page, parts, **asked.parameters, **window(page))
            total = self._number(_SQL.filtered_total, parts, **asked.parameters)
        return Listing([values.entity(row) for row in rows], total)

    def entity(self, entity_id: str, tags: TagFilter | None) -> Entity | None:
        if tags is None and self._scope.everything:
            row = self._one(_SQL.by_id, id=entity_id)
        else:
            asked = self._asked(tags, "m.tags")
            row = self._one(_SQL.filtered_by_id, {"asked": asked.sql}, id=entity_id, **asked.parameters)
        return None if row is None else values.entity(row)

    def entity_memories(self, entity_id: str, tags: TagFilter | None, limit: int) -> Sequence[Memory]:
        asked = self._asked(tags, "m.tags")
        parts = {"columns": values.MEMORY, "asked": asked.sql}
        rows = self._rows(_SQL.memories, parts, id=entity_id, limit=max(limit, 0), **asked.parameters)
        return self._memories(rows.fetchall())

    def entity_names(self) -> Sequence[tuple[str, str]]:
        if self._scope.everything:
            return self._rows("SELECT name, type FROM entities ORDER BY name_key").fetchall()
        return self._rows(_SQL.names).fetchall()

    def entities_named(self, names: Sequence[str]) -> Mapping[str, Entity]:
        rows = self._rows(_SQL.named, names=array([values.name_key(name) for name in names])).fetchall()
        numbers = self._numbers_of({row[0] for row in rows})
        found: dict[str, Entity] = {}
        for row in rows:
            if numbers is None:
                found[row[2]] = values.entity(row)
            elif row[0] in numbers:
                found[row[2]] = values.entity((*row[:4], *numbers[row[0]]))
        return {name: found[name] for name in names if name in found}

    def entities_of(self, keys: Sequence[int]) -> Mapping[int, Sequence[Entity]]:
        rows = self._rows(_SQL.of_memories, keys=array(keys)).fetchall()
        numbers = self._numbers_of({row[1] for row in rows})
        found: dict[int, list[Entity]] = {}
        for memory_key, *columns in rows:
            if numbers is not None:
                columns[4:] = numbers.get(columns[0], (0, None, None))
            found.setdefault(memory_key, []).append(values.entity(columns))
        return found

    def entity_pairs(
        self, tags: TagFilter | None, min_count: int, limit: int
    ) -> Listing[tuple[str, str, int, Micros | None]]:
        asked = self._asked(tags, "m.tags")
        rows = self._rows(
            _SQL.pairs,
            {"asked": asked.sql},
            min_count=min_count,
            # One row at least, because the total comes with the rows.
            limit=max(limit, 1),
            **asked.parameters,
        ).fetchall()
        total = rows[0][4] if rows else 0
        return Listing([(row[0], row[1], row[2], row[3]) for row in rows[: max(limit, 0)]], total)

    def _numbers_of(self, keys: set[int]) -> dict[int, tuple[int, Micros | None, Micros | None]] | None:
        """Counts over visible memories; None where the stored numbers are right."""
        if self._scope.everything:
            return None
        rows = self._rows(_SQL.numbers_of, keys=array(keys))
        return {row[0]: (row[1], row[2], row[3]) for row in rows}
