"""The registry of knowledge over SQLite: one connection behind one lock, made when it is first needed."""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from lorebank import clock
from lorebank.access.knowledge import ConversationGrant
from lorebank.access.reasons import BUSY, DAMAGED
from lorebank.clock import Micros
from lorebank.errors import Conflict, LorebankError, NotFound, StoreUnavailable
from lorebank.ids import new_uuid
from lorebank.storage.knowledge_ports import (
    AssignmentRow,
    ConversationRow,
    RegistryPicture,
    ReviewOutcome,
    ReviewRow,
    StoreRow,
)
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.connect import transaction, translated, vacuum
from lorebank.storage.sqlite.foreign import needs_recovery
from lorebank.storage.sqlite.knowledge_file import (
    SQL,
    OpenRegistry,
    create_registry,
    open_registry,
    still_there,
)

_KEPT_SESSIONS = 10_000
_NOTHING = RegistryPicture({}, (), None, frozenset(), frozenset(), None)


class SqliteKnowledgeRegistry:
    """Opening never raises: `problem` tells, and every method raises it. One that is given is why this
    process must not touch the folder at all."""

    def __init__(self, folder: Path, problem: StoreUnavailable | None = None) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._listeners: list[Callable[[bool], None]] = []
        self._recorded: dict[str, str] = {}
        # A registry that will be made later gets this one, so that ids seen before stay as they were.
        self._namespace = new_uuid()
        self._problem = problem
        self._open: OpenRegistry | None = None
        if problem is None:
            self._try_to_open()

    @property
    def folder(self) -> Path:
        """The knowledge folder."""
        return self._folder

    @property
    def problem(self) -> StoreUnavailable | None:
        """See the port."""
        opened = self._open  # without the lock: every decision asks, and must not wait for a write
        if self._problem is None and opened is not None and not still_there(self._folder, opened):
            self._problem = needs_recovery("registry.sqlite was taken away or emptied while lorebank ran")
        return self._problem

    def listen(self, changed: Callable[[bool], None]) -> None:
        """See the port."""
        self._listeners.append(changed)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._open is not None:
                self._open.db.close()

    def backup(self, target: sqlite3.Connection) -> bool:
        """Copy the registry as it is at this moment; False when there is none yet."""
        with self._reading() as db:
            if db is not None:
                db.backup(target)
            return db is not None

    def compact(self) -> None:
        """Leave no byte of what was deleted. `Unavailable` when the log is in use."""
        with self._reading() as db:
            if db is not None:
                vacuum(db)

    def check(self) -> list[str]:
        """What SQLite finds wrong with the registry."""
        found = [row[0] for row in self._all("PRAGMA integrity_check")]
        strays = self._all("PRAGMA foreign_key_check")
        problems = [f"knowledge registry: {text}" for text in found if text != "ok"]
        return problems + [f"knowledge registry: {len(strays)} bindings name no store"] * bool(strays)

    def picture(self) -> RegistryPicture:
        """See the port."""
        with self._reading() as db:
            if db is None:
                return _NOTHING
            known, removed = self.host_agents()
            ended, planned = self.ended_invocations(), self.open_assignment()
            return RegistryPicture(self.bindings(), self.grants(), known, removed, ended, planned)

    # stores

    def stores(self) -> Sequence[StoreRow]:
        """Every physical store, the oldest first."""
        return [StoreRow(*row) for row in self._all(SQL.stores)]

    def bindings(self) -> Mapping[str, str]:
        """See the port."""
        return dict(self._all(SQL.bindings))

    def begin_store(self, vault: str, location: str, binding: str, at: Micros) -> StoreRow:
        """See the port."""
        with self._changing() as db:
            there = db.execute(SQL.store_of, {"binding": binding}).fetchone()
            if there is not None:
                return StoreRow(*there)
            if db.execute(SQL.open_assignment).fetchone() is not None:
                raise StoreUnavailable(BUSY, "stores are being assigned at this moment; try again")
            row = StoreRow(vault, location, "creating", _name_in(binding), at)
            db.execute(SQL.insert_store, asdict(row))
            db.execute(SQL.bind, {"binding": binding, "vault": vault})
        self._changed(rights=False)
        return row

    def store_ready(self, vault: str) -> None:
        """See the port."""
        with self._changing() as db:
            if db.execute(SQL.store_ready, {"vault": vault}).rowcount == 0:
                raise NotFound("there is no such knowledge store in the registry")

    def add_store(self, row: StoreRow, binding: str | None) -> None:
        """See the port."""
        with self._changing() as db, _taken("another knowledge store has this id, place or name already"):
            db.execute(SQL.insert_store, asdict(row))
            if binding is not None:
                db.execute(SQL.bind, {"binding": binding, "vault": row.vault})
        self._changed(rights=True)

    # assignments

    def plan_assignment(self, row: AssignmentRow) -> None:
        """See the port."""
        fields = asdict(row) | {"bindings": values.to_json(dict(row.bindings))}
        with self._changing() as db, _taken("another change of the store map is under way; try again"):
            db.execute(SQL.insert_assignment, fields)
        self._changed(rights=False)

    def settle_assignment(self, id: str, state: Literal["done", "cancelled"]) -> None:
        """See the port."""
        with self._changing() as db:
            row = db.execute(SQL.open_assignment).fetchone()
            if row is None or row[0] != id:
                return
            if state == "done":
                _apply(db, _assignment(row).bindings)
            db.execute(SQL.settle_assignment, {"id": id, "state": state})
        self._changed(rights=state == "done")

    def open_assignment(self) -> AssignmentRow | None:
        """The one that is planned and not settled."""
        rows = self._all(SQL.open_assignment)
        return _assignment(rows[0]) if rows else None

    def assignments(self, limit: int) -> Sequence[AssignmentRow]:
        """Newest first."""
        return [_assignment(row) for row in self._all(SQL.assignments, limit=limit)]

    # grants

    def grants(self) -> Sequence[ConversationGrant]:
        """By agent and key."""
        return [ConversationGrant(*row) for row in self._all(SQL.grants)]

    def set_grant(self, grant: ConversationGrant) -> None:
        """Add it, or replace that of the same conversation."""
        with self._changing() as db:
            db.execute(SQL.set_grant, asdict(grant))
        self._changed(rights=True)

    def drop_grant(self, agent: str, session_key: str) -> bool:
        """See the port."""
        with self._changing() as db:
            gone = db.execute(SQL.drop_grant, {"agent": agent, "session_key": session_key}).rowcount > 0
        if gone:
            self._changed(rights=True)
        return gone

    def session_uuid(self, session_id: str, *, record: bool) -> str:
        """See the port. A UUID in its 36-character form stands for itself, in lower case.

        Unless another session id was given it: records show it, and who names it must not come to that
        conversation's partition. Then it is a text like any other.
        """
        if _is_uuid(session_id):
            session_id = session_id.lower()
            made_here = uuid.UUID(session_id).version == 5
            if not (made_here and self._all(SQL.stands_for_a_session, uuid=session_id)):
                return session_id
        with self._reading():
            known = self._recorded.get(session_id)
            if known is None and record:
                known = self._record_session(session_id)
            return known or self._in_namespace(session_id)

    def _record_session(self, session_id: str) -> str:
        with self._changing() as db:
            made = self._in_namespace(session_id)
            db.execute(SQL.add_session, {"session_id": session_id, "uuid": made})
        if len(self._recorded) >= _KEPT_SESSIONS:
            self._recorded.clear()
        self._recorded[session_id] = made
        return made

    def _in_namespace(self, session_id: str) -> str:
        with translated():
            return str(uuid.uuid5(uuid.UUID(self._namespace), session_id))

    # the host

    def report_host(
        self, agents: Sequence[str], conversations: Sequence[ConversationRow], at: Micros
    ) -> None:
        """See the port."""
        before = self.host_agents()
        with self._changing() as db:
            db.execute(SQL.note_report, {"at": at})
            db.execute(SQL.forget_presence)
            db.executemany(SQL.add_host_agent, [{"agent": agent} for agent in agents])
            db.execute(SQL.forget_conversations)
            db.executemany(SQL.add_conversation, [asdict(row) | {"reported_at": at} for row in conversations])
        self._changed(rights=before != self.host_agents())

    def host_agents(self) -> tuple[frozenset[str] | None, frozenset[str]]:
        """See the port."""
        rows = self._all(SQL.host_agents)
        removed = frozenset(agent for agent, present in rows if not present)
        if not self._all(SQL.reported):
            return None, removed
        return frozenset(agent for agent, present in rows if present), removed

    def conversations(self, agent: str) -> Sequence[ConversationRow]:
        """An agent's, by key."""
        return [ConversationRow(*row) for row in self._all(SQL.conversations, agent=agent)]

    def end_invocation(self, invocation: str, until: Micros) -> None:
        """See the port."""
        with self._changing() as db:
            db.execute(SQL.forget_invocations, {"now": clock.now()})
            db.execute(SQL.end_invocation, {"invocation": invocation, "until": until})
        self._changed(rights=True)

    def ended_invocations(self) -> frozenset[str]:
        """All that are remembered."""
        return frozenset(row[0] for row in self._all(SQL.ended_invocations))

    # values and reviews

    def value(self, name: str) -> Any:
        """See the port."""
        rows = self._all(SQL.value, name=name)
        return values.from_json(rows[0][0]) if rows else None

    def set_value(self, name: str, value: Any) -> None:
        """Set it, durably."""
        with self._changing() as db:
            db.execute(SQL.set_value, {"name": name, "value": values.to_json(value)})

    def add_review(self, row: ReviewRow) -> bool:
        """See the port."""
        with self._changing() as db:
            return db.execute(SQL.add_review, asdict(row)).rowcount > 0

    def reviews(self, *, open_only: bool) -> Sequence[ReviewRow]:
        """The oldest first."""
        return [ReviewRow(*row) for row in self._all(SQL.reviews, open_only=int(open_only))]

    def take_review(self, id: str, at: Micros) -> ReviewRow | None:
        """See the port."""
        with self._changing() as db:
            db.execute(SQL.take_review, {"id": id, "at": at})
            row = db.execute(SQL.review, {"id": id}).fetchone()
            return None if row is None else ReviewRow(*row)

    def answer_review(self, id: str, outcome: ReviewOutcome, at: Micros) -> ReviewRow | None:
        """See the port."""
        with self._changing() as db:
            db.execute(SQL.answer_review, {"id": id, "outcome": outcome, "at": at})
            row = db.execute(SQL.review, {"id": id}).fetchone()
            return None if row is None else ReviewRow(*row)

    # the file

    def _try_to_open(self) -> None:
        try:
            self._open = open_registry(self._folder)
        except StoreUnavailable as exc:
            self._problem = exc
        except LorebankError as exc:  # the disk, or a schema that is not what it says
            self._problem = StoreUnavailable(DAMAGED, exc.message, cause=exc)
        if self._open is not None:
            self._namespace = self._open.namespace

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """The connection, alone; None while there is no registry."""
        with self._lock, translated():
            if (problem := self.problem) is not None:
                raise StoreUnavailable(problem.reason, problem.message, cause=problem.cause)
            yield None if self._open is None else self._open.db

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction; the first one makes the registry."""
        with self._reading() as db:
            if db is None:
                db = self._make()
            with transaction(db):
                yield db

    def _make(self) -> sqlite3.Connection:
        self._try_to_open()  # another process may have made it since
        if self._problem is not None:
            raise StoreUnavailable(self._problem.reason, self._problem.message)
        if self._open is None:
            self._open = create_registry(self._folder, self._namespace)
        return self._open.db

    def _changed(self, *, rights: bool) -> None:
        """Outside the lock: a listener reads the registry under a lock of its own."""
        for listener in self._listeners:
            listener(rights)

    def _all(self, sql: str, **parameters: Any) -> list[Any]:
        with self._reading() as db:
            return [] if db is None else db.execute(sql, parameters).fetchall()


@contextmanager
def _taken(message: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.IntegrityError as exc:
        raise Conflict(message, cause=exc) from exc


def _apply(db: sqlite3.Connection, bindings: Mapping[str, str | None]) -> None:
    """Set planned bindings: what goes first, because a store has at most one."""
    for binding in bindings:
        db.execute(SQL.unbind, {"binding": binding})
    for binding, vault in bindings.items():
        if vault is not None:
            db.execute(SQL.bind, {"binding": binding, "vault": vault})
            if (name := _name_in(binding)) is not None:
                db.execute(SQL.name_store, {"vault": vault, "name": name})


def _name_in(binding: str) -> str | None:
    kind, _, name = binding.partition(":")
    return name if kind == "named" else None


def _assignment(row: values.Columns) -> AssignmentRow:
    return AssignmentRow(*(*row[:4], values.from_json(row[4]), *row[5:]))


def _is_uuid(text: str) -> bool:
    """Whether it is a UUID in the form with hyphens; other notations count as any text."""
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
