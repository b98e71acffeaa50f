"""`View`: an immutable picture of one partition (see `values.View`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, BinaryIO

from lorebank.access.audience import Partition
from lorebank.errors import InvalidInput, NotFound, Unavailable
from lorebank.search.snapshot import Snapshot
from lorebank.storage.tree.ports import Tree
from lorebank.vaults.evidence.ports import Verdicts
from lorebank.vaults.record.frame import Broken, framed
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.values import MAX_RECORD_BYTES, Finding
from lorebank.vaults.store.rows import stamp_of
from lorebank.vaults.store.values import Descriptor, Entry

CHANGED = "a record changed while it was read; ask again"


class PartitionView:
    """See `values.View`. `verdicts` and `memo` serve the checks of evidence and searches: what the store
    knows of its sources, and what was derived from this very view."""

    def __init__(
        self,
        partition: Partition,
        ontology: Ontology,
        entries: Mapping[str, Entry],
        descriptors: Mapping[str, Descriptor],
        findings: Sequence[Finding],
        snapshot: Snapshot,
        tree: Tree,
        verdicts: Verdicts,
        carry: dict[str, Any] | None = None,
    ) -> None:
        self.partition, self.ontology, self.snapshot = partition, ontology, snapshot
        self.entries, self.descriptors = MappingProxyType(entries), MappingProxyType(descriptors)
        self.findings = tuple(findings)
        self.verdicts = verdicts
        self.memo: dict[str, Any] = {}
        self.carry: dict[str, Any] = {} if carry is None else carry
        self._tree = tree
        self._by_key = {entry.key: entry for entry in entries.values()}
        self._by_id = _once(entries.values())

    def by_id(self, record_id: str) -> Entry | None:
        """See `values.View`."""
        return self._by_id.get(record_id)

    def by_key(self, key: int) -> Entry | None:
        """See `values.View`."""
        return self._by_key.get(key)

    def descriptor(self, source_id: str) -> Descriptor | None:
        """See `values.View`."""
        return self.descriptors.get(source_id)

    def fresh(self, entry: Entry) -> bool:
        """Whether the file has the stamp that it had; a look, not a read. False for one that is gone."""
        state = self._tree.state(self._full(entry.path))
        return state is not None and stamp_of(state) == entry.stamp

    def read(self, entry: Entry) -> bytes:
        """See `values.View`."""
        try:
            _, raw = self._tree.read(self._full(entry.path), max_bytes=MAX_RECORD_BYTES)
        except (NotFound, InvalidInput) as exc:
            raise Unavailable(CHANGED) from exc
        if hashlib.sha256(raw).hexdigest() != entry.sha256:
            raise Unavailable(CHANGED)
        return raw

    def text(self, entry: Entry) -> str | None:
        """Title and body of a record; None when its file is not what this view has."""
        try:
            return None if entry.record is None else f"{entry.record.title}\n{framed(self.read(entry)).body}"
        except (Unavailable, Broken):
            return None

    @contextmanager
    def open_source(self, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """See `values.View`. `NotFound` when the retained file is gone."""
        with self._tree.open(self._full(descriptor.path)) as file:
            yield file

    def _full(self, path: str) -> str:
        return f"{self.partition.folder}/{path}"


def _once(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Readable records by id; an id that two files have names none of them (specs, Record formats)."""
    found: dict[str, Entry] = {}
    twice: set[str] = set()
    for entry in entries:
        if entry.record is None:
            continue
        if entry.record.id in found:
            twice.add(entry.record.id)
        found[entry.record.id] = entry
    for record_id in twice:
        del found[record_id]
    return found
