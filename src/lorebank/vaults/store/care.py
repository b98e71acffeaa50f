"""Care for all knowledge stores of a server: copying, checking, compacting them (`service.upkeep`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lorebank.access.knowledge import KnowledgeFacts
from lorebank.errors import LorebankError
from lorebank.storage.knowledge_ports import StoreRow
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.vaults.store.vaults import KnowledgeVaults

if TYPE_CHECKING:
    from lorebank.vaults.store.runtime import Runtime

Progress = Callable[[str, int, int], None]


class KnowledgeCare:
    """See `service.upkeep.KnowledgeCare`. `folder` is the knowledge folder, `config` the file of the store
    map; both may lie outside of the data directory."""

    def __init__(
        self,
        folder: Path,
        registry: SqliteKnowledgeRegistry,
        vaults: KnowledgeVaults,
        config: Path,
        data_dir: Path,
        facts: KnowledgeFacts,
    ) -> None:
        self._registry, self._vaults, self._facts = registry, vaults, facts
        self._config, self._data_dir = config, data_dir
        self.folder = folder

    def backup(self, target: Path, progress: Progress) -> tuple[int, list[str]]:
        """See `backup.copy_knowledge`: how many stores were copied, and what is wrong with some."""
        from lorebank.vaults.store.backup import copy_knowledge

        progress("knowledge", 0, 0)
        done = copy_knowledge(
            self.folder, self._registry, self._vaults.pool, self._config, self._data_dir, target, progress
        )
        names = self._names()
        return done.stores, [
            f"{names.get(vault, 'knowledge')}: {text}"
            for vault, texts in done.problems.items()
            for text in texts
        ]

    def check(self, progress: Progress) -> list[str]:
        """What is wrong with the registry, the store map and each store, every sentence with the store's
        name."""
        problem = self._registry.problem
        if problem is not None:
            return [problem.message]
        found = [*self._registry.check(), *self._facts.data.faults()]
        for row, name in self._each("check", progress):
            try:
                problems = self._vaults.check_store(row.vault, read_all=False)
            except LorebankError as exc:
                problems = [exc.message]
            found += [f"{name}: {text}" for text in problems]
        return found

    def compact(self, progress: Progress) -> list[str]:
        """Rewrite registry and databases without what was deleted; what could not be, with the reason. git
        keeps the history of records: that is what it is for."""
        if self._registry.problem is not None:
            return []
        failed = list(self._tried("knowledge registry", self._registry.compact))
        for row, name in self._each("compact", progress):
            failed += self._tried(name, partial(self._compacted, row.vault))
        return failed

    def _compacted(self, vault: str) -> None:
        with self._vaults.pool.using(vault) as runtime:
            _compact(runtime)

    def _tried(self, name: str, work: Callable[[], None]) -> Iterator[str]:
        try:
            work()
        except LorebankError as exc:
            yield f"{name}: {exc.message}"

    def _each(self, stage: str, progress: Progress) -> Iterator[tuple[StoreRow, str]]:
        """Every store that is made, with its name, progress being told before each."""
        names = self._names()
        rows = [row for row in self._registry.stores() if row.state == "ready"]
        for place, row in enumerate(rows):
            progress(f"{stage} knowledge", place, len(rows))
            yield row, names[row.vault]
        progress(f"{stage} knowledge", len(rows), len(rows))

    def _names(self) -> dict[str, str]:
        """How an operator knows a store: by whose it is, and its id."""
        if self._registry.problem is not None:
            return {}
        bound = {vault: binding for binding, vault in self._registry.bindings().items()}
        return {
            row.vault: f"knowledge store {bound.get(row.vault, 'without a name')} ({row.vault})"
            for row in self._registry.stores()
        }


def _compact(runtime: Runtime) -> None:
    with runtime.lane.entered():
        runtime.ready()
        runtime.state.compact()
