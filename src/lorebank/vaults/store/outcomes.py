"""What happened to the files of a partition between two looks, as a pure decision.

Identity is a record's id, never its path (specs, Record formats): a known id under a new path, whose old path
is gone, was renamed. A content that changed counts as the next revision, also when the number in the file was
left as it was, so that an expected revision notices it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from lorebank.clock import Micros
from lorebank.storage.knowledge_ports import HistoryLine
from lorebank.vaults.record.values import Record
from lorebank.vaults.store.rows import Known


@dataclass(slots=True)
class Losses:
    """Known files whose path is empty now or has another record, by record id: a rename takes one out."""

    by_id: dict[str, list[Known]] = field(default_factory=dict)

    @classmethod
    def of(cls, gone: Iterable[Known]) -> Losses:
        """The losses that `gone` are."""
        losses = cls()
        for known in gone:
            if known.record is not None:
                losses.by_id.setdefault(known.record.id, []).append(known)
        return losses

    def take(self, record: Record | None) -> Known | None:
        """The lost file that had this record."""
        waiting = self.by_id.get(record.id) if record is not None else None
        return waiting.pop(0) if waiting else None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file: what the catalogue will say, and how history calls it (None: nothing that
    it would tell). `before` is what a rename or an edit started from."""

    known: Known
    change: str | None
    before: Known | None = None


def arrived(
    fresh: Known, before: Known | None, losses: Losses, last: Mapping[str, int], readable: bool
) -> Outcome:
    """What it means that `fresh` is at its path, where `before` was. `last` are the highest revisions that
    history knows; a file that is not `readable` (too large) leaves no line in it."""
    if before is not None and before.sha256 == fresh.sha256 and readable:
        return Outcome(replace(fresh, key=before.key, revision=before.revision), None, before)
    if before is not None:
        number = _following(fresh, before) if _same(fresh, before) else _newcomer(fresh, last)
        known = replace(fresh, key=before.key, revision=number)
        return Outcome(known, "external_edit" if readable else None, before)
    source = losses.take(fresh.record)
    if source is not None:
        same = source.sha256 == fresh.sha256
        number = source.revision if same else _following(fresh, source)
        return Outcome(replace(fresh, key=source.key, revision=number), "external_rename", source)
    known = replace(fresh, revision=_newcomer(fresh, last))
    return Outcome(known, "external_add" if readable else None)


def line(outcome: Outcome, folder: str, at: Micros) -> HistoryLine | None:
    """The line of history for an outcome."""
    if outcome.change is None:
        return None
    known, before = outcome.known, outcome.before
    record = known.record or (before.record if before is not None else None)
    return HistoryLine(
        seq=0,
        folder=folder,
        record_id=None if record is None else record.id,
        revision=None if record is None else known.revision,
        path=known.path,
        title="" if record is None else record.title,
        change=outcome.change,
        agent=None,
        at=at,
        sha256=known.sha256,
        blob=None,
        commit=None,
        request_id=None,
        message="",
        old_path=before.path if outcome.change == "external_rename" and before is not None else None,
    )


def deletion(known: Known, folder: str, at: Micros) -> HistoryLine:
    """The line of history for a file that is gone."""
    gone = line(Outcome(replace(known), "external_delete"), folder, at)
    assert gone is not None
    return replace(gone, sha256=None)


def _same(fresh: Known, before: Known) -> bool:
    """Whether an edit left the record what it was; a withheld file keeps its place in the count."""
    return fresh.record is None or before.record is None or fresh.record.id == before.record.id


def _following(fresh: Known, before: Known) -> int:
    said = before.revision + 1 if fresh.record is None else fresh.record.revision
    return max(said, before.revision + 1)


def _newcomer(fresh: Known, last: Mapping[str, int]) -> int:
    if fresh.record is None:
        return 1
    return max(fresh.record.revision, last.get(fresh.record.id, 0) + 1)
