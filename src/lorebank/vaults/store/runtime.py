"""The one runtime of a physical store: its tree, database, git history, lane, watcher and catalogues.

All agents of a store share it (seed 000, Runtime).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from lorebank.access.audience import PRIVATE, Partition
from lorebank.errors import Conflict, Corrupt, StoreUnavailable, Unavailable
from lorebank.storage.knowledge_ports import CatalogueRow, Checkpoint, PartitionRow
from lorebank.storage.sqlite.files import make_folder
from lorebank.storage.sqlite.vault_state import SqliteVaultState
from lorebank.storage.tree.git import GitHistory
from lorebank.storage.tree.ports import Identity
from lorebank.storage.tree.tree import FileTree
from lorebank.storage.tree.watch import ALL, Watcher
from lorebank.vaults import reasons
from lorebank.vaults.evidence.verdicts import KeptVerdicts
from lorebank.vaults.publish.committing import catch_up
from lorebank.vaults.publish.parts import Parts
from lorebank.vaults.publish.recovery import recover
from lorebank.vaults.publish.tidying import Tidier
from lorebank.vaults.store import making, manifest
from lorebank.vaults.store.catalogue import Catalogue
from lorebank.vaults.store.lane import Lane
from lorebank.vaults.store.meaning import Made
from lorebank.vaults.store.options import Options
from lorebank.vaults.store.values import Entry
from lorebank.vaults.store.view import PartitionView

_TOP: Final = f"{PRIVATE.folder}/"
_CONVERSATIONS: Final = 64
"""Conversations of a store whose catalogue is in memory; another one is loaded when it is asked for."""


class Runtime:
    """Opened by the pool; everything is safe from any thread."""

    def __init__(
        self, vault: str, folder: Path, options: Options, writable: Callable[[], bool], *, first: bool
    ) -> None:
        """`first`: nobody in this process has used the store yet, so what a kill left can be removed.

        `StoreUnavailable` when a part of the store is missing or not lorebank's.
        """
        making.check_parts(folder)
        self.vault, self.folder = vault, folder
        self.staging = folder / making.STAGING
        self.lane = Lane(options.patience)
        self._options, self._writable, self._first = options, writable, first
        self.state = _opened(folder / making.DATABASE)
        try:
            self.tree = FileTree(folder / making.VAULT)
        except BaseException:
            self.state.close()
            raise
        make_folder(self.staging)
        self._path = folder / making.DATABASE
        self._database = _inode(_found(self._path))
        self._root = self.tree.identity()
        self._verdicts = KeptVerdicts(self.state)
        self._git = {may: GitHistory(self.tree.root, create=may) for may in (False, True)}
        self._watcher = Watcher(self.tree.root) if options.watch else None
        self._catalogues: dict[Partition, Catalogue] = {}
        self._looked: dict[Partition, float] = {}
        self._identities: dict[str, Identity] = {}
        self._identities_lock = threading.Lock()
        self._dirty: set[str] = set()
        self._scan_due = True
        self._tidier = Tidier(
            lambda: self._sound().git, self.lane.last, lambda: catch_up(self._sound().parts())
        )
        self._recovered = False
        self.broken = False

    @property
    def writable(self) -> bool:
        """Whether anything may be written: `writesEnabled` (seed 000)."""
        return self._writable()

    @property
    def git(self) -> GitHistory:
        """The history; it is begun where there is none and writes are on."""
        return self._git[self.writable]

    def parts(self) -> Parts:
        """What publishing works with. Only for who is in the lane."""
        git = self.git if self.writable else None
        return Parts(
            self.vault, self.tree, self.state, git, self.staging, self._options.now, self._tidier.soon
        )

    def view(self, partition: Partition) -> PartitionView:
        """A verified view of the partition as it is now, edits from outside written down.

        Recovery comes first where it is due. An absent conversation partition is an empty view: only a
        save makes its folder.
        """
        asked = time.monotonic()
        with self.lane.entered():
            self.ready()
            self.verify(partition)
            seen = self.catalogue(partition).view
            if seen is not None and self._looked.get(partition, asked) > asked:
                return seen  # somebody has looked while we waited for the lane
            return self.refreshed(partition)

    def ready(self) -> None:
        """In the lane: finish what a kill left, before anybody reads (statement 1.7.66)."""
        if self._recovered and not self.state.open_journal():
            return
        self._verify_store()
        found = recover(self.parts(), opening=self._first and not self._recovered)
        if found.finished:
            self._catalogues.clear()
        self._recovered = True

    def refreshed(self, partition: Partition) -> PartitionView:
        """In the lane, recovered and verified: the newest view."""
        if self._absent(partition):
            self._catalogues.pop(partition, None)
            return self.catalogue(partition).draw()
        catalogue = self.catalogue(partition)
        self._adopt(partition.folder)
        self._looked[partition] = time.monotonic()
        dirty = self._news() if partition == PRIVATE else None
        view, lines = catalogue.refresh(record=self.writable, dirty=dirty)
        if partition == PRIVATE:
            self._scan_due = False
            self._dirty.clear()
        if lines:
            catch_up(self.parts())
        if not catalogue.complete:
            self._ask_for_vectors(partition)
        return view

    def catalogue(self, partition: Partition) -> Catalogue:
        """In the lane: what is known of the partition's files."""
        found = self._catalogues.get(partition)
        if found is None:
            now, meaning = self._options.now, self._options.meaning
            found = Catalogue(partition, self.tree, self.state, self._verdicts, now, meaning)
            self._catalogues[partition] = found
            others = [one for one in self._catalogues if one not in (PRIVATE, partition)]
            for one in others[: max(len(others) + 1 - _CONVERSATIONS, 0)]:
                del self._catalogues[one]
        return found

    def install(self, partition: Partition, rows: Sequence[CatalogueRow]) -> None:
        """In the lane: a publication wrote these down."""
        self.catalogue(partition).install(rows)
        self._ask_for_vectors(partition)

    def lacking(self, partition: Partition, most: int) -> list[tuple[Entry, str]]:
        """Records without a vector, each with its title and its text as it is now; at most `most`."""
        view = self.view(partition)
        with self.lane.entered():
            entries = self.catalogue(partition).lacking()
        readable = ((entry, view.text(entry)) for entry in entries)
        return list(islice(((entry, text) for entry, text in readable if text is not None), most))

    def take_vectors(self, partition: Partition, model: str, made: Sequence[Made]) -> None:
        """Keep the vectors whose text is still the same, and search by them."""
        with self.lane.entered():
            self.verify(partition)
            if self.writable:
                self.state.set_vectors(model, [(one.key, one.sha256, one.vector) for one in made])
            self.catalogue(partition).take(made)

    def make_partition(self, partition: Partition) -> None:
        """In the lane: the folder of a conversation's partition, at its first save."""
        if self._absent(partition):
            self.tree.make_folder(partition.folder)
            self._adopt(partition.folder)

    def verify(self, partition: Partition) -> Checkpoint:
        """Manifest, checkpoint, and the identity of database, vault and partition as they are now; raises
        `StoreUnavailable` when anything is not as it must be (statement 1.4.42)."""
        checkpoint = self._verify_store()
        self._verify_folder(partition.folder)
        return checkpoint

    def verify_after(self, partition: Partition) -> None:
        """The same outside the lane. A publication that runs at this moment explains itself only to who
        waits for it."""
        self.lane.check()
        try:
            self.verify(partition)
        except StoreUnavailable:
            with self.lane.entered():
                self.verify(partition)

    def accept_folders(self) -> list[str]:
        """In the lane: take the folders that stand there for the partitions of the database."""
        self._verify_store()
        accepted = []
        for row in self.state.partitions():
            now = self.tree.identity(row.folder)
            if now is not None and now.inode != row.inode:
                self.state.move_partition(PartitionRow(row.folder, now.device, now.inode))
                accepted.append(row.folder)
        return accepted

    def exchanged(self) -> bool:
        """Whether something else stands, or nothing, where the files are that were opened."""
        try:
            return _inode(_found(self._path)) != self._database or self.tree.identity() != self._root
        except StoreUnavailable:
            return True

    def close(self) -> None:
        """Close it; nobody may be using it."""
        self._tidier.close()
        self.lane.close()
        if self._watcher is not None:
            self._settle(self._watcher)
            self._watcher.close()
        for git in self._git.values():
            git.close()
        self.tree.close()
        self.state.close()

    def _ask_for_vectors(self, partition: Partition) -> None:
        meaning = self._options.meaning
        if meaning is not None and meaning.on:
            meaning.soon(self.vault, partition)

    def _sound(self) -> Runtime:
        """The runtime, unless the store lost a part: then nothing is written any more."""
        if self.broken:
            raise Unavailable("the knowledge store has lost a part")
        return self

    def _settle(self, watcher: Watcher) -> None:
        private = self._catalogues.get(PRIVATE)
        if private is None or self.broken or not self.writable or self._scan_due:
            return
        news = watcher.dirty()
        if news is None or news is ALL:
            return
        dirty = frozenset(path.removeprefix(_TOP) for path in (*self._dirty, *news))
        try:
            private.settle(dirty, time.time_ns())
        except Unavailable:
            return

    def _news(self) -> frozenset[str] | None:
        """What may have changed in the private partition since the last look that was completed."""
        news = None if self._watcher is None else self._watcher.dirty()
        if news is None or news is ALL:
            self._scan_due = True
        if self._scan_due or news is None or news is ALL:
            return None
        self._dirty.update(path.removeprefix(_TOP) for path in news if path.startswith(_TOP))
        return frozenset(self._dirty)

    def _verify_store(self) -> Checkpoint:
        try:
            self._check_standing()
            checkpoint = self.state.checkpoint()
            wrong = manifest.compare(manifest.read(self.tree), checkpoint, self.state.open_journal())
        except StoreUnavailable:
            self.broken = True
            raise
        if checkpoint.vault != self.vault:
            wrong = reasons.MANIFEST_MISMATCH
        if wrong is not None:
            raise manifest.mismatch(wrong)
        return checkpoint

    def _check_standing(self) -> None:
        """The very files that were opened still stand in their places, and the database was not emptied."""
        found = _found(self._path)
        if found is None or _inode(found) != self._database or self.tree.identity() != self._root:
            making.check_parts(self.folder)
            raise StoreUnavailable(
                reasons.PARTITION_CHANGED,
                "the folder or the database of the knowledge store was exchanged for another one; ask again",
            )
        if not found.st_size:
            raise StoreUnavailable(
                reasons.MISSING_DATABASE,
                "state.sqlite of the knowledge store was emptied; bring the store back from a backup",
            )

    def _verify_folder(self, folder: str) -> None:
        now, row = self.tree.identity(folder), self.state.partition(folder)
        if row is None:
            return  # nobody has used it yet; see `refreshed`
        if now is None:
            self.broken = True
            raise making.missing(f"the partition {folder}", reasons.MISSING_PARTITION)
        with self._identities_lock:
            before = self._identities.setdefault(folder, now)
        # The number of a device may be another one after the machine's next start.
        if now != before or now.inode != row.inode:
            raise StoreUnavailable(
                reasons.PARTITION_CHANGED,
                f"the folder {folder} was exchanged for another one; put the former one back, or, where the "
                "data was moved or copied on purpose, say so with 'lorebank vault accept --all'",
            )

    def _adopt(self, folder: str) -> None:
        """Know a partition's folder from its first use on."""
        if not self.writable or self.state.partition(folder) is not None:
            return
        now = self.tree.identity(folder)
        if now is not None:
            self.state.add_partition(PartitionRow(folder, now.device, now.inode))

    def _absent(self, partition: Partition) -> bool:
        return partition != PRIVATE and self.tree.identity(partition.folder) is None


def _opened(path: Path) -> SqliteVaultState:
    try:
        return SqliteVaultState(path)
    except Conflict as exc:
        raise StoreUnavailable(reasons.NEWER, exc.message, cause=exc) from exc
    except Corrupt as exc:
        raise StoreUnavailable(reasons.DAMAGED, exc.message, cause=exc) from exc


def _found(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _inode(found: os.stat_result | None) -> tuple[int, int] | None:
    return None if found is None else (found.st_dev, found.st_ino)
