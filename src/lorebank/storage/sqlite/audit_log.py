"""The audit log: rows in a chain of hashes, appended cheaply, read beside the writer, removed by age only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lorebank import clock
from lorebank.access.audit import AuditEvent, AuditQuery, AuditRow, Verified, canonical, link
from lorebank.clock import Micros
from lorebank.errors import Corrupt, InvalidInput, printable
from lorebank.storage.ports import Listing, Page
from lorebank.storage.sqlite.audit_file import SQL, AuditFile, log_row
from lorebank.storage.sqlite.connect import translated
from lorebank.storage.sqlite.reader_base import both_clauses, window

Progress = Callable[[str, int, int], None]
"""Told (stage, done, total); it may raise to stop the work."""
WIDTHS = {"minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000}
_TRIM = "audit:trim"
_TRIM_BATCH = 1_000
_PROGRESS_EVERY = 10_000
_MOST_PROBLEMS = 100
_COLUMNS = ("at", "principal", "action", "outcome", "transport", "bank", "request_id")
"""The parts of an event that have a column of their own, in the order of the statements."""
_COMPARED = {name: name for name in _COLUMNS if name != "at"}


class AuditLog:
    """The sink of every decision, and the log as it is read (`service.context.AuditLog`).

    `noted` tells (seq, hash) of a row that was once the newest, as the registry knows it: a log
    whose end was cut off is found by it.
    """

    def __init__(self, file: AuditFile, noted: Callable[[], tuple[int, str] | None]) -> None:
        self._file = file
        self._noted = noted
        self._head: tuple[int, str] | None = None

    def record(self, event: AuditEvent, *, durable: bool) -> None:
        """Append a row. `Unavailable` when the disk refuses; the next attempt begins afresh."""
        text = canonical(event)
        try:
            text.encode()
        except UnicodeEncodeError:  # a hostile id must not keep itself out of the log
            event = _encodable(event)
            text = canonical(event)
        columns = [getattr(event, name) for name in _COLUMNS]
        with self._file.lock:
            seq, previous = self._head or self._stored_head()
            hash = link(previous, seq + 1, text)
            # Unknown until the row is in: after an error the next record looks it up.
            self._head = None
            with translated():
                self._file.db.execute(SQL.append, (seq + 1, *columns, text, hash))
            self._head = (seq + 1, hash)
            commit = self._file.committed()
        if durable:
            self._file.sync(commit)

    def head(self) -> tuple[int, str]:
        """(seq, hash) of the newest row ever; (0, zeros) when there was none."""
        with self._file.lock:
            return self._head or self._stored_head()

    def knows(self, seq: int, hash: str) -> bool:
        """Whether the row of this number has this hash, as far as that can be told: rows removed
        because of their age are believed."""
        with self._file.reading() as db:
            _, anchor, anchor_hash = log_row(db)
            found = db.execute(SQL.hash_at, {"seq": seq}).fetchone()
        return bool(seq < anchor or hash == (anchor_hash if seq == anchor else found and found[0]))

    def rows(self, query: AuditQuery, page: Page) -> Listing[AuditRow]:
        """The rows that match, newest first."""
        where, asked = _where(query)
        with self._file.reading() as db:
            found = db.execute(SQL.page.replace("{where}", where), asked | window(page)).fetchall()
            total = db.execute(SQL.total.replace("{where}", where), asked).fetchone()[0]
        return Listing([_row(*row) for row in found], total)

    def row(self, seq: int) -> AuditRow | None:
        """One row; None when there is none of this number, or not any more."""
        with self._file.reading() as db:
            asked = {"seq": seq, "limit": 1, "offset": 0}
            found = db.execute(SQL.page.replace("{where}", "e.seq = :seq"), asked).fetchone()
        return None if found is None else _row(*found)

    def buckets(self, query: AuditQuery, width: str) -> Sequence[tuple[str, str, int]]:
        """(bucket ISO start, action, count) by time; `width` is minute, hour or day, else `InvalidInput`."""
        if width not in WIDTHS:
            raise InvalidInput(f"width must be one of {', '.join(WIDTHS)}")
        where, asked = _where(query)
        with self._file.reading() as db:
            found = db.execute(SQL.buckets.replace("{where}", where), asked | {"width": WIDTHS[width]})
            return [(clock.to_iso(start) or "", action, count) for start, action, count in found]

    def verify(self, progress: Progress) -> Verified:
        """Walk the whole chain, one row at a time in memory; at most 100 problems are told."""
        with self._file.reading() as db:
            _, seq, hash = log_row(db)
            noted = self._noted()
            total = db.execute(SQL.count).fetchone()[0]
            walk = Walk(seq, hash, noted)
            rows = db.execute(SQL.walk)
            try:
                for row in rows:
                    walk.step(row)
                    if walk.rows % _PROGRESS_EVERY == 0:
                        progress("audit", walk.rows, total)
            finally:
                rows.close()
        progress("audit", total, total)
        return walk.verified()

    def trim(self, before: Micros) -> int:
        """Remove the rows older than `before`, up to the first that is not; how many went.

        The log first says what goes; then rows go batch by batch, so that nobody waits long. A kill
        in between leaves a whole chain, and the next trim goes on.
        """
        with self._file.reading() as db:
            last = db.execute(SQL.last_before, {"before": before}).fetchone()[0]
            anchor = log_row(db)[1]
        if last is None or last <= anchor:
            return 0
        gone = int(last - anchor)
        self.record(_trimmed(before, last, gone), durable=True)
        while anchor < last:
            anchor = min(anchor + _TRIM_BATCH, last)
            with self._file.writing() as db:
                db.execute(SQL.raise_anchor, {"seq": anchor})
                db.execute(SQL.drop_rows)
        return gone

    def _stored_head(self) -> tuple[int, str]:
        with translated():
            seq, hash = self._file.db.execute(SQL.head).fetchone()
        return int(seq), str(hash)


class Walk:
    """The state of a walk along the chain, from the anchor's (seq, hash) on."""

    def __init__(self, seq: int, hash: str, noted: tuple[int, str] | None) -> None:
        self.rows = 0
        self._removed = seq
        self._accounted = 0
        self._seq = seq
        self._hash = hash
        self._noted = noted
        self._problems: list[str] = []

    def step(self, row: Sequence[Any]) -> None:
        """Take the next row: number, columns, text, hash."""
        seq, *columns, text, hash = row
        self.rows += 1
        if seq != self._seq + 1:
            self._tell(f"rows {self._seq + 1} to {seq - 1} are missing")
        if hash != link(self._hash, seq, text):
            self._tell(f"row {seq} or the one before it was changed")
        event = _read(text)
        if event is None or [event[name] for name in _COLUMNS] != columns:
            self._tell(f"row {seq}: its columns do not say what its event says")
        self._accounted = max(self._accounted, _removed_through(event))
        if self._noted is not None and self._noted[0] == seq and self._noted[1] != hash:
            self._tell(f"row {seq} is not the row that the registry knows")
        self._seq, self._hash = seq, hash

    def verified(self) -> Verified:
        """What was found."""
        if self._accounted < self._removed:
            self._tell(f"rows up to {self._removed} were removed, and no later row says that they were")
        if self._noted is not None and self._noted[0] > self._seq:
            self._tell(f"rows {self._seq + 1} to {self._noted[0]} at the end are missing")
        return Verified(self.rows, self._seq, self._hash, tuple(self._problems))

    def _tell(self, problem: str) -> None:
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems.append(problem)


def _read(text: str) -> dict[str, Any] | None:
    """The event of a row with all that its columns repeat; None where it cannot be read."""
    try:
        event = json.loads(text)
    except (ValueError, TypeError):
        return None
    return event if isinstance(event, dict) and all(name in event for name in _COLUMNS) else None


def _removed_through(event: Mapping[str, Any] | None) -> int:
    """Up to which row a note of `trim` says that rows go; 0 for any other event. `trim` notes before it
    removes, and a later trim that takes the note has one of its own, which reaches further."""
    if event is None or event["action"] != _TRIM or event["outcome"] != "note":
        return 0
    extra = event.get("extra")
    through = extra.get("through") if isinstance(extra, dict) else None
    return through if isinstance(through, int) else 0


def _where(query: AuditQuery) -> tuple[str, dict[str, Any]]:
    asked = {name: getattr(query, name) for name in _COMPARED}
    clauses = [f"e.{name} = :{name}" for name, value in asked.items() if value is not None]
    if query.on_banks:
        clauses.append("e.action NOT LIKE 'knowledge:%'")
    if query.operation is not None:
        clauses.append("instr(e.event, :operation) > 0")
        # As `canonical` writes it: inside of another text the quotes would have backslashes.
        asked["operation"] = f'"operation":{json.dumps(query.operation, ensure_ascii=False)}'
    if query.start is not None:
        clauses.append("e.at >= :start")
    if query.end is not None:
        clauses.append("e.at < :end")
    return both_clauses(clauses), asked | {"start": query.start, "end": query.end}


def _row(seq: int, text: str, previous: str, hash: str) -> AuditRow:
    try:
        stored = json.loads(text)
        event = AuditEvent(**stored | {"determining": tuple(stored["determining"])})
    except (ValueError, KeyError, TypeError) as exc:
        raise Corrupt(
            f"row {seq} of the audit log cannot be read; run 'lorebank audit verify'", cause=exc
        ) from exc
    return AuditRow(seq, event, previous, hash)


def _encodable(event: AuditEvent) -> AuditEvent:
    return AuditEvent(**{name: _clean(value) for name, value in _fields(event)})


def _fields(event: AuditEvent) -> Iterator[tuple[str, Any]]:
    return ((name, getattr(event, name)) for name in AuditEvent.__slots__)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, tuple | list):
        return tuple(map(_clean, value))
    return {_clean(k): _clean(v) for k, v in value.items()} if isinstance(value, Mapping) else value


def _trimmed(before: Micros, through: int, gone: int) -> AuditEvent:
    return AuditEvent(
        at=clock.now(),
        principal="local:server",
        action=_TRIM,
        outcome="note",
        operation="trim_audit_log",
        reason=f"{gone} rows were removed because of their age",
        extra={"before": before, "through": through, "rows": gone},
    )
