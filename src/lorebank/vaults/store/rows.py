"""The catalogue's rows in a store's database and what they stand for in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, cast

from lorebank.storage.knowledge_ports import CatalogueRow
from lorebank.storage.tree.ports import FileState
from lorebank.vaults.record.stored import dump_findings, dump_record, load_findings, load_record
from lorebank.vaults.record.values import Finding, Record
from lorebank.vaults.store.values import Entry, Stamp

RowKind = Literal["record", "descriptor", "source", "ontology", "other"]
SETTLE_NS: Final = 2_000_000_000
"""A file that changed less than this before it was read may have changed again within the same tick of
the file system's clock without showing it: it is read again next time, as git does with its index."""
UNSETTLED: Final = -1
"""The time of change in the row of such a file; no file has it."""


@dataclass(frozen=True, slots=True)
class Known:
    """One file as the catalogue knows it. `path` is relative to the partition. `data` is a descriptor's
    text; `settled` is false while the stamp cannot be relied upon."""

    key: int
    path: str
    kind: RowKind
    stamp: Stamp
    sha256: str
    revision: int
    record: Record | None = None
    findings: tuple[Finding, ...] = ()
    data: str = ""
    settled: bool = True

    def entry(self, record: Record | None) -> Entry:
        """What a view shows of it, with the record as the whole partition makes it."""
        return Entry(self.key, self.path, self.stamp, self.sha256, record, self.revision)


def stamp_of(state: FileState) -> Stamp:
    """The same fields without the path."""
    return Stamp(state.inode, state.size, state.mtime_ns, state.ctime_ns)


def is_settled(stamp: Stamp, read_at_ns: int) -> bool:
    """Whether a file read at this moment (nanoseconds since 1970) cannot have changed unnoticed since."""
    return max(stamp.mtime_ns, stamp.ctime_ns) + SETTLE_NS < read_at_ns


def to_row(known: Known, folder: str) -> CatalogueRow:
    """An unsettled stamp is written as one that no file has, so that the next start reads the file again."""
    stamp = known.stamp
    return CatalogueRow(
        key=known.key,
        folder=folder,
        path=known.path,
        kind=known.kind,
        inode=stamp.inode,
        size=stamp.size,
        mtime_ns=stamp.mtime_ns if known.settled else UNSETTLED,
        ctime_ns=stamp.ctime_ns,
        sha256=known.sha256,
        revision=known.revision,
        record=known.data or None if known.kind == "descriptor" else dump_record(known.record),
        findings=dump_findings(known.findings) if known.findings else "[]",
    )


def from_row(row: CatalogueRow) -> Known:
    """The file that a row stands for."""
    described = row.kind == "descriptor"
    return Known(
        key=row.key,
        path=row.path,
        kind=cast(RowKind, row.kind),
        stamp=Stamp(row.inode, row.size, row.mtime_ns, row.ctime_ns),
        sha256=row.sha256,
        revision=row.revision,
        record=None if described else load_record(row.record),
        findings=() if row.findings == "[]" else load_findings(row.findings),
        data=(row.record or "") if described else "",
        settled=row.mtime_ns != UNSETTLED,
    )
