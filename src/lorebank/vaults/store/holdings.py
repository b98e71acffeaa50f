"""What is known of the files of one partition, in memory and in the store's database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from lorebank.access.audience import Partition
from lorebank.clock import Clock
from lorebank.storage.knowledge_ports import HistoryLine, VaultState
from lorebank.storage.tree.ports import Tree
from lorebank.vaults.record.extension import ONTOLOGY_FILE
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.shipped import SHIPPED
from lorebank.vaults.record.values import Finding
from lorebank.vaults.store.rows import Known, from_row, is_settled, to_row
from lorebank.vaults.store.values import Stamp

READER: Final = "1"
"""Raised whenever files are read differently than before: then everything is read again."""
NO_STAMP: Final = Stamp(0, 0, 0, 0)
_TEMPORARY_KEYS: Final = 1 << 40
"""From here on, keys of files that nothing is written down about."""


@dataclass(slots=True)
class Holdings:
    """`files` by path. `unsettled` are the paths whose stamps tell nothing yet. `stale`: all files have to
    be read again, because the reader or the ontology changed. `unwritten`: something is known that was not
    written down, because writes were off. `changed` are the paths of which something else is known than when
    this was emptied; None: all."""

    partition: Partition
    tree: Tree
    state: VaultState
    now: Clock
    files: dict[str, Known] = field(default_factory=dict)
    unsettled: set[str] = field(default_factory=set)
    changed: set[str] | None = None
    ontology: Ontology = SHIPPED
    ontology_findings: tuple[Finding, ...] = ()
    stale: bool = False
    unwritten: bool = False
    loaded: bool = False
    next_key: int = _TEMPORARY_KEYS

    def load(self) -> None:
        """Begin with what is written down."""
        self.files, self.changed = {}, None
        self.ontology, self.ontology_findings = SHIPPED, ()
        reader = self.state.verdict(self._reader_key)
        for row in self.state.catalogue(self.partition.folder):
            if row.kind != "source":
                self.files[row.path] = from_row(row)
        self.unsettled = {path for path, known in self.files.items() if not known.settled}
        self.stale = reader is None or reader[0] != READER
        self.unwritten, self.loaded = False, True
        if ONTOLOGY_FILE in self.files:
            # Its text is not kept; reading it again is cheap.
            self.unsettled.add(ONTOLOGY_FILE)

    def put(self, known: Known) -> None:
        """Know this of a file from now on."""
        self.files[known.path] = known
        if self.changed is not None:
            self.changed.add(known.path)
        if known.settled:
            self.unsettled.discard(known.path)
        else:
            self.unsettled.add(known.path)

    def settled(self, known: Known) -> None:
        """The file was looked at again and is what it was; its stamp can be relied upon from now on."""
        before = self.files[known.path]
        self.files[known.path] = replace(before, settled=known.settled or before.settled)
        if known.settled:
            self.unsettled.discard(known.path)

    def drop(self, path: str) -> None:
        """Know the file no more."""
        self.files.pop(path, None)
        if self.changed is not None:
            self.changed.add(path)
        self.unsettled.discard(path)

    def write(
        self,
        files: Sequence[Known],
        gone: Sequence[Known],
        lines: Sequence[HistoryLine],
        contents: Mapping[str, bytes],
    ) -> None:
        """Write down changed and removed files with their history, and know them."""
        folder = self.partition.folder
        rows = [to_row(known, folder) for known in files]
        keys: Mapping[str, int] = {}
        if rows or gone or lines:
            keys = self.state.apply_catalogue(folder, rows, [one.key for one in gone], lines, contents)
        for known in gone:
            self.drop(known.path)
        for known in files:
            self.put(replace(known, key=keys.get(known.path, known.key)))

    def remember(self, files: Sequence[Known], gone: Sequence[Known]) -> None:
        """Know them without writing anything down: writes are off."""
        for known in gone:
            self.drop(known.path)
        for known in files:
            if not known.key:
                self.next_key += 1
                known = replace(known, key=self.next_key)
            self.put(known)
        self.unwritten = self.unwritten or bool(files or gone)

    def note_reader(self, *, record: bool) -> None:
        """Every file was read by this reader."""
        if self.stale and record:
            self.state.set_verdict(self._reader_key, READER, "")
        self.stale = False

    @property
    def _reader_key(self) -> str:
        """Where the database keeps which reader made the rows: beside the verdicts on sources, which are of
        the same kind (true as long as nothing changed)."""
        return f"catalogue reader {self.partition.folder}"

    def settle(self, dirty: Collection[str], now_ns: int) -> None:
        """Before a healthy watcher is closed: what it did not name has not changed since it was read."""
        quiet = []
        for path in self.unsettled.difference(dirty):
            known = self.files.get(path)
            if known is not None and not known.settled and is_settled(known.stamp, now_ns):
                quiet.append(replace(known, settled=True))
        if quiet and not self.unwritten:
            self.write(quiet, (), (), {})
