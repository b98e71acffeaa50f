"""One pass over the files that a look has found: read, decide what happened, write it down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final, TypeVar

from lorebank.storage.knowledge_ports import HistoryLine
from lorebank.vaults.record.extension import MAX_ONTOLOGY_BYTES, ONTOLOGY_FILE, load_extension
from lorebank.vaults.record.shipped import SHIPPED
from lorebank.vaults.store.files import Fresh, parsed, read_file
from lorebank.vaults.store.holdings import Holdings
from lorebank.vaults.store.looking import Look
from lorebank.vaults.store.outcomes import Losses, Outcome, arrived, deletion, line
from lorebank.vaults.store.rows import Known, RowKind

BATCH: Final = 1_000
"""Files that are read and written down at once: what a large import holds in memory."""

T = TypeVar("T")


class Turn:
    """`changed`: a new view is needed. `lines`: history got something that git does not have."""

    def __init__(self, holdings: Holdings, found: Look, *, record: bool) -> None:
        self._holdings, self._found, self._record = holdings, found, record
        self._folder, self._at = holdings.partition.folder, holdings.now()
        self._gone = {known.path: known for known in found.gone}
        self._losses = Losses.of(found.gone)
        self._displaced: list[Known] = []
        self._last: Mapping[str, int] | None = None
        self.changed = self.lines = False

    def run(self) -> None:
        """File by file in batches; deletions last, when all renames are known."""
        for batch in _batches(self._ontology_first(), BATCH):
            fresh = [one for path, kind in batch if (one := self._read(path, kind)) is not None]
            self._arrive(fresh)
        self._depart()
        self._holdings.note_reader(record=self._record)

    def _read(self, path: str, kind: RowKind) -> Fresh | None:
        held = self._holdings
        fresh = read_file(held.tree, held.partition, path, kind)
        if fresh is None and path in held.files:
            self._gone[path] = held.files[path]
        return fresh

    def _ontology_first(self) -> list[tuple[str, RowKind]]:
        """What is to be read. Another ontology concerns every record of the partition."""
        touched = list(self._found.touched)
        place = next((n for n, (path, _) in enumerate(touched) if path == ONTOLOGY_FILE), None)
        if place is not None:
            fresh = self._read(*touched.pop(place))
            if fresh is not None:
                return self._extended(fresh, touched)
        if ONTOLOGY_FILE in self._gone and self._holdings.ontology is not SHIPPED:
            self._holdings.ontology, self._holdings.ontology_findings = SHIPPED, ()
            return self._everything(touched)
        return touched

    def _extended(self, fresh: Fresh, touched: list[tuple[str, RowKind]]) -> list[tuple[str, RowKind]]:
        held = self._holdings
        before = held.files.get(ONTOLOGY_FILE)
        # One that is too large is given on as it is: the rule that refuses it is the extension's.
        raw = fresh.raw if fresh.raw is not None else bytes(MAX_ONTOLOGY_BYTES + 1)
        held.ontology, held.ontology_findings = load_extension(raw)
        self._arrive([fresh])
        same = before is not None and before.sha256 == fresh.sha256 and fresh.raw is not None
        return touched if same else self._everything(touched)

    def _everything(self, touched: list[tuple[str, RowKind]]) -> list[tuple[str, RowKind]]:
        self._holdings.stale = True
        self.changed = True
        known = {path: one.kind for path, one in self._holdings.files.items() if one.kind == "record"}
        for path in (*self._gone, *self._found.refused):
            known.pop(path, None)
        return list({**known, **dict(touched)}.items())

    def _arrive(self, fresh: list[Fresh]) -> None:
        held = self._holdings
        outcomes: list[Outcome] = []
        contents: dict[str, bytes] = {}
        for one in fresh:
            before = held.files.get(one.path)
            known = self._understood(one, before)
            outcome = arrived(known, before, self._losses, self._revisions(before), one.raw is not None)
            if before is not None and _other_record(before, known):
                self._displaced.append(before)
            if self._settles_only(outcome):
                held.settled(outcome.known)
                continue
            outcomes.append(outcome)
            if outcome.change is not None and one.raw is not None:
                contents[one.sha256] = one.raw
        self._keep(outcomes, contents)

    def _understood(self, fresh: Fresh, before: Known | None) -> Known:
        """What the file says; known already when its contents are what they were."""
        held = self._holdings
        if before is not None and before.sha256 == fresh.sha256 and fresh.raw is not None and not held.stale:
            return replace(before, stamp=fresh.stamp, settled=fresh.settled)
        return parsed(fresh, held.partition, held.ontology)

    def _settles_only(self, outcome: Outcome) -> bool:
        """Whether a file was read again and is what it was, and the database says so already."""
        known, before = outcome.known, outcome.before
        if before is None or outcome.change is not None or self._holdings.stale:
            return False
        return before.stamp == known.stamp and (before.settled or not known.settled)

    def _keep(self, outcomes: list[Outcome], contents: Mapping[str, bytes]) -> None:
        lines = [said for one in outcomes if (said := line(one, self._folder, self._at)) is not None]
        moved = [one.before for one in outcomes if one.change == "external_rename" and one.before is not None]
        for source in moved:
            self._gone.pop(source.path, None)
            self._holdings.drop(source.path)
        self._write([one.known for one in outcomes], [], lines, contents)

    def _depart(self) -> None:
        """What is gone and was not found again under another path."""
        gone = list(self._gone.values())
        lines = [deletion(known, self._folder, self._at) for known in gone if known.sha256]
        if self._displaced:
            here = {one.record.id for one in self._holdings.files.values() if one.record is not None}
            lost = [one for one in self._displaced if one.record is not None and one.record.id not in here]
            lines += [deletion(known, self._folder, self._at) for known in lost]
        self._write([], gone, lines, {})

    def _write(
        self, files: list[Known], gone: list[Known], lines: list[HistoryLine], contents: Mapping[str, bytes]
    ) -> None:
        if not (files or gone or lines):
            return
        self.changed = True
        if self._record:
            self._holdings.write(files, gone, lines, contents)
            self.lines = self.lines or bool(lines)
        else:
            self._holdings.remember(files, gone)

    def _revisions(self, before: Known | None) -> Mapping[str, int]:
        """The highest known revisions, looked up once, and only when something new arrives."""
        if self._last is None and before is None:
            self._last = self._holdings.state.last_revisions(self._folder)
        return self._last or {}


def _other_record(before: Known, now: Known) -> bool:
    return before.record is not None and now.record is not None and before.record.id != now.record.id


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
