"""What a store knows of the files of one partition, and how it learns of changes.

Used inside the store's lane only; the views that it publishes are for everybody. A look compares the stamps
of a scan (or of the paths that the watcher names) with the known ones and reads only what differs. Nothing of
another partition is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lorebank.access.audience import Partition
from lorebank.clock import Clock
from lorebank.storage.knowledge_ports import CatalogueRow, VaultState
from lorebank.storage.tree.ports import Tree, TreeProblem
from lorebank.vaults.evidence.ports import Verdicts
from lorebank.vaults.store.files import described, kind_of
from lorebank.vaults.store.holdings import NO_STAMP, Holdings
from lorebank.vaults.store.looking import Look, glance, look
from lorebank.vaults.store.meaning import Made, Meaning
from lorebank.vaults.store.picture import Picture
from lorebank.vaults.store.rows import Known, from_row, to_row
from lorebank.vaults.store.sense import PartitionVectors
from lorebank.vaults.store.turn import Turn
from lorebank.vaults.store.values import Entry
from lorebank.vaults.store.view import PartitionView


class Catalogue:
    """The files of one partition."""

    def __init__(
        self,
        partition: Partition,
        tree: Tree,
        state: VaultState,
        verdicts: Verdicts,
        now: Clock,
        meaning: Meaning | None = None,
    ) -> None:
        self.partition = partition
        self._held = Holdings(partition, tree, state, now)
        self._vectors = PartitionVectors(partition, state, meaning)
        self._picture = Picture(partition, tree, verdicts, self._vectors)
        self._problems: tuple[TreeProblem, ...] = ()
        self._refused: frozenset[str] = frozenset()
        self._drawn: frozenset[str] = frozenset()
        self._view: PartitionView | None = None

    @property
    def view(self) -> PartitionView | None:
        """The view of the last look; None when something is known that is in no view yet."""
        return self._view

    def refresh(self, *, record: bool, dirty: frozenset[str] | None) -> tuple[PartitionView, bool]:
        """The view of the partition as it is on disk now, and whether history got new lines.

        `record`: write down what happened (writes are on). `dirty`: the only paths, relative to the
        partition, that may have changed since the last look; None: look at everything.
        """
        if not self._held.loaded or (record and self._held.unwritten):
            self._held.load()
            self._view = dirty = None
        if self._vectors.due:
            self._view = None
        if dirty is not None and not dirty and self._view is not None:
            return self._view, False
        turn = Turn(self._held, self._looked(dirty), record=record)
        turn.run()
        if turn.changed or self._view is None:
            self._view = self.draw()
        return self._view, turn.lines

    def draw(self) -> PartitionView:
        """A view of what is known."""
        held, ontology = self._held, (self._held.ontology, self._held.ontology_findings)
        changed = held.changed if self._drawn == self._refused else None
        view = self._picture.drawn(held.files, self._refused, self._problems, ontology, changed)
        held.changed, self._drawn = set(), self._refused
        return view

    def install(self, rows: Sequence[CatalogueRow]) -> None:
        """Take over what a publication wrote down. Where no watcher tells, its files are looked at once
        more: an editor may have saved in the very moment."""
        if not self._held.loaded:
            return
        for row in rows:
            if row.kind != "source":
                self._held.put(from_row(row))
                self._held.unsettled.add(row.path)
        self._view = None

    def take(self, made: Sequence[Made]) -> None:
        """Search by these vectors too, from the next look on."""
        self._picture.take(made)
        self._view = None

    def lacking(self) -> list[Entry]:
        """The records that have no vector, as of the last look."""
        return self._picture.lacking()

    @property
    def complete(self) -> bool:
        """Whether all have one."""
        return self._picture.complete

    def describe(self, path: str, raw: bytes | None, sha256: str) -> CatalogueRow:
        """The row that a file with these contents will have once it stands there (without key and stamp);
        `raw` is None for a retained source."""
        held = self._held
        kind = kind_of(path, self.partition)
        if kind is None or raw is None:
            return to_row(Known(0, path, "source", NO_STAMP, sha256, 1), self.partition.folder)
        known = described(Known(0, path, kind, NO_STAMP, sha256, 1), raw, self.partition, held.ontology)
        before = held.files.get(path)
        following = 1 if before is None else before.revision + (before.sha256 != sha256)
        said = 1 if known.record is None else known.record.revision
        return to_row(replace(known, revision=max(said, following)), self.partition.folder)

    def settle(self, dirty: frozenset[str], now_ns: int) -> None:
        """See `Holdings.settle`."""
        if self._held.loaded:
            self._held.settle(dirty, now_ns)

    def _looked(self, dirty: frozenset[str] | None) -> Look:
        held = self._held
        if dirty is not None and not self._problems and not held.stale:
            short = glance(held.tree, self.partition, held.files, dirty)
            if short is not None:
                return short
        found = look(held.tree, self.partition, held.files, held.files if held.stale else held.unsettled)
        if (found.problems, found.refused) != (self._problems, self._refused):
            self._view = None
        self._problems, self._refused = found.problems, found.refused
        return found
