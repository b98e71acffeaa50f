"""The audit log through its ports: what is recorded stays, in order, provably, and is found again."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from storage_kit import ALL, NOW, SECOND, Engine, open_engine

from lorebank.access.audit import GENESIS, AuditEvent, AuditQuery, canonical, link
from lorebank.access.builtins import BUILTINS
from lorebank.clock import to_iso
from lorebank.errors import Corrupt, InvalidInput, Unavailable
from lorebank.storage.ports import Page
from lorebank.storage.sqlite import audit_log
from lorebank.storage.sqlite.audit_log import AuditLog

ANY = AuditQuery()
HOUR = 3600 * SECOND


def event(n: int = 0, **changes: Any) -> AuditEvent:
    plain = AuditEvent(
        at=NOW + n * SECOND,
        principal=f"user:u{n % 3}",
        action="bank:recall" if n % 2 else "bank:retain",
        outcome="allow",
        client="gateway",
        operation="recall_memories",
        bank=f"bank {n % 4}",
        target=f"t{n}",
        determining=("bank:admin#0", "é\u2028#1"),
        reason="",
        request_id=f"r{n}",
        transport="http",
        status=200,
        duration_us=n,
        extra={"n": n},
    )
    return replace(plain, **changes)


def filled(engine: Engine, rows: int = 20) -> AuditLog:
    for n in range(rows):
        engine.directory.audit.record(event(n), durable=n % 5 == 0)
    return engine.directory.audit


def problems(log: AuditLog) -> tuple[str, ...]:
    return log.verify(lambda stage, done, total: None).problems


def test_rows_come_back_whole_newest_first_and_chained(engine: Engine) -> None:
    log = filled(engine)
    listing = log.rows(ANY, ALL)
    assert [row.event for row in listing.rows] == [event(n) for n in range(19, -1, -1)]
    assert [row.seq for row in listing.rows] == list(range(20, 0, -1)) and listing.total == 20
    previous = GENESIS
    for row in reversed(listing.rows):
        assert row.previous == previous and row.hash == link(previous, row.seq, canonical(row.event))
        previous = row.hash
    assert log.head() == (20, previous)
    assert log.row(7) == listing.rows[13] and log.row(0) is None and log.row(21) is None
    page = log.rows(ANY, Page(3, 4))
    assert (list(page.rows), page.total) == (list(listing.rows[4:7]), 20)


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        (AuditQuery(bank="bank 1"), lambda n: n % 4 == 1),
        (AuditQuery(principal="user:u2"), lambda n: n % 3 == 2),
        (AuditQuery(action="bank:recall", bank="bank 3"), lambda n: n % 4 == 3),
        (AuditQuery(outcome="deny"), lambda n: False),
        (AuditQuery(outcome="allow", transport="http"), lambda n: True),
        (AuditQuery(transport="job"), lambda n: False),
        (AuditQuery(request_id="r7"), lambda n: n == 7),
        (AuditQuery(start=NOW + 5 * SECOND, end=NOW + 8 * SECOND), lambda n: 5 <= n < 8),
    ],
)
def test_rows_are_found_by_what_was_asked(
    engine: Engine, query: AuditQuery, matches: Callable[[int], bool]
) -> None:
    log = filled(engine)
    wanted = [event(n) for n in range(19, -1, -1) if matches(n)]
    found = log.rows(query, ALL)
    assert ([row.event for row in found.rows], found.total) == (wanted, len(wanted))
    assert sum(count for _, _, count in log.buckets(query, "day")) == len(wanted)


def test_rows_are_counted_by_time_and_action(engine: Engine) -> None:
    log, start = engine.directory.audit, NOW - NOW % HOUR
    for at, action in ((0, "a"), (1, "b"), (2, "a"), (HOUR, "a"), (HOUR - 1, "b"), (-HOUR - 1, "a")):
        log.record(event(at=start + at, action=action), durable=False)
    hours = [to_iso(start + n * HOUR) for n in (-2, 0, 1)]
    assert list(log.buckets(ANY, "hour")) == [
        *((hours[0], "a", 1), (hours[1], "a", 2), (hours[1], "b", 2), (hours[2], "a", 1)),
    ]
    assert list(log.buckets(AuditQuery(action="b"), "minute")) == [
        (to_iso(start), "b", 1),
        (to_iso(start + HOUR - 60 * SECOND), "b", 1),
    ]
    log.record(event(at=-1, action="c"), durable=False)
    assert ("1969-12-31T00:00:00+00:00", "c", 1) in log.buckets(ANY, "day")
    with pytest.raises(InvalidInput, match="minute, hour, day"):
        log.buckets(ANY, "week")


def test_odd_values_are_recorded_all_the_same(engine: Engine) -> None:
    log = engine.directory.audit
    log.record(event(bank="\ud800x", extra={"k": ["\udfff"]}, determining=("\ud800",)), durable=False)
    log.record(event(extra=MappingProxyType({"a": 1}), reason="x" * 100_000), durable=True)
    newest, oldest = log.rows(ANY, ALL).rows
    assert (oldest.event.bank, oldest.event.determining) == ("\ufffdx", ("\ufffd",))
    assert oldest.event.extra == {"k": ["\ufffd"]}
    assert newest.event.extra == {"a": 1} and problems(log) == ()


def test_rows_of_many_threads_make_one_chain(engine: Engine) -> None:
    log = engine.directory.audit

    def work(thread: int) -> None:
        for n in range(50):
            log.record(event(n, principal=f"user:{thread}"), durable=n % 10 == 0)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert (log.head()[0], problems(log)) == (300, ())
    for thread in range(6):
        found = log.rows(AuditQuery(principal=f"user:{thread}"), ALL).rows
        assert [row.event.duration_us for row in found] == list(range(49, -1, -1))


def test_a_walk_tells_how_far_it_is_and_can_be_stopped(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "_PROGRESS_EVERY", 8)
    log, told = filled(engine), []
    found = log.verify(lambda *step: told.append(step))
    assert (found.rows, found.head_seq, found.head_hash, found.problems) == (20, *log.head(), ())
    assert told == [("audit", 8, 20), ("audit", 16, 20), ("audit", 20, 20)]

    def stop(*_: object) -> None:
        raise Unavailable("stopping")

    with pytest.raises(Unavailable):
        log.verify(stop)
    assert problems(log) == ()


def test_old_rows_go_and_the_chain_still_holds(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "_TRIM_BATCH", 4)
    log = filled(engine)
    kept = log.rows(ANY, Page(9)).rows
    assert log.trim(NOW + 11 * SECOND) == 11 and log.trim(NOW + 11 * SECOND) == 0
    note, *rest = log.rows(ANY, ALL).rows
    assert rest == list(kept) and (note.event.outcome, note.seq) == ("note", 21)
    assert note.event.extra == {"before": NOW + 11 * SECOND, "through": 11, "rows": 11}
    assert log.row(11) is None and log.row(12) == kept[-1]
    found = log.verify(lambda *_: None)
    assert (found.rows, found.head_seq, found.problems) == (10, 21, ())
    log.record(event(30), durable=False)
    # Everything goes but what came after the newest old row; the note of the trim itself always stays.
    far = 2 * NOW
    assert log.trim(far) == 11 and [row.seq for row in log.rows(ANY, ALL).rows] == [23]
    assert problems(log) == () and log.head()[0] == 23


def test_a_row_that_is_out_of_order_in_time_stops_the_trim(engine: Engine) -> None:
    log = engine.directory.audit
    for at in (5, 1, 9, 2):
        log.record(event(at), durable=False)
    assert log.trim(NOW + 4 * SECOND) == 0 and log.trim(NOW + 7 * SECOND) == 2
    assert problems(log) == ()


def test_the_log_goes_on_after_a_restart(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    head = filled(engine).head()
    engine.directory.close()
    engine = open_engine(tmp_path / "data")
    log = engine.directory.audit
    assert log.head() == head
    log.record(event(20), durable=True)
    newest = log.row(21)
    assert newest is not None and newest.previous == head[1] and engine.directory.check() == []
    engine.directory.close()


FORGERIES = {
    "at": "UPDATE events SET at = at + 1 WHERE seq = :seq",
    "principal": "UPDATE events SET principal = 'user:x' WHERE seq = :seq",
    "action": "UPDATE events SET action = 'x' WHERE seq = :seq",
    "outcome": "UPDATE events SET outcome = 'deny' WHERE seq = :seq",
    "transport": "UPDATE events SET transport = 'cli' WHERE seq = :seq",
    "bank": "UPDATE events SET bank = NULL WHERE seq = :seq",
    "request": "UPDATE events SET request_id = '' WHERE seq = :seq",
    "event": "UPDATE events SET event = replace(event, 'gateway', 'getaway') WHERE seq = :seq",
    "spacing": "UPDATE events SET event = event || ' ' WHERE seq = :seq",
    "no JSON": "UPDATE events SET event = 'x' WHERE seq = :seq",
    "hash": "UPDATE events SET hash = replace(hash, substr(hash, 1, 1), 'g') WHERE seq = :seq",
    "row": "DELETE FROM events WHERE seq = :seq",
    "number": "UPDATE events SET seq = seq + 100 WHERE seq = :seq",
    "rest": "DELETE FROM events WHERE seq >= :seq",
    "anchor": "UPDATE log SET anchor_hash = 'f' || substr(anchor_hash, 2)",
    "beginning": "DELETE FROM events WHERE seq <= :seq",
}


@pytest.mark.parametrize("seq", [1, 5, 8])
@pytest.mark.parametrize("what", FORGERIES)
def test_every_forgery_is_found(what: str, seq: int, tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    filled(engine, 8)
    engine.directory.close()
    with sqlite3.connect(tmp_path / "data" / "audit.sqlite") as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        assert db.execute(FORGERIES[what], {"seq": seq} if ":seq" in FORGERIES[what] else {}).rowcount > 0
    db.close()
    engine = open_engine(tmp_path / "data")
    engine.directory.audit.record(event(), durable=False)
    assert problems(engine.directory.audit) != ()
    assert any(problem.startswith("audit log: ") for problem in engine.directory.check())
    engine.directory.close()


def test_rows_below_the_anchor_that_no_note_tells_of_are_a_problem(tmp_path: Path) -> None:
    """No trigger stops whoever raises the anchor first, as retention does."""
    engine = open_engine(tmp_path / "data")
    filled(engine, 8)
    engine.directory.audit.trim(NOW + 2 * SECOND)
    assert problems(engine.directory.audit) == ()
    engine.directory.close()
    with sqlite3.connect(tmp_path / "data" / "audit.sqlite") as db:
        db.execute("UPDATE log SET anchor_seq = 5, anchor_hash = (SELECT hash FROM events WHERE seq = 5)")
        db.execute("DELETE FROM events WHERE seq <= 5")
    db.close()
    engine = open_engine(tmp_path / "data")
    [problem] = problems(engine.directory.audit)
    assert "rows up to 5" in problem
    engine.directory.close()


def test_a_log_that_does_not_say_which_one_it_is_is_refused_with_a_sentence(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    filled(engine, 3)
    engine.directory.close()
    with sqlite3.connect(tmp_path / "data" / "audit.sqlite") as db:
        db.execute("DROP TRIGGER log_is_never_deleted")
        db.execute("DELETE FROM log")
    db.close()
    with pytest.raises(Corrupt, match="lorebank restore"):
        open_engine(tmp_path / "data")


@pytest.mark.parametrize(
    "statement",
    [
        *(text for name, text in FORGERIES.items() if name != "anchor"),
        "INSERT OR REPLACE INTO events SELECT 3, at, 'x', action, outcome, transport, bank, request_id,"
        " event, hash FROM events WHERE seq = :seq",
        "UPDATE log SET anchor_seq = :seq",
        "UPDATE log SET uuid = :seq",
        "DELETE FROM log WHERE :seq",
    ],
)
def test_the_database_itself_refuses_to_change_rows(statement: str, tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    filled(engine, 8)
    engine.directory.close()
    db = sqlite3.connect(tmp_path / "data" / "audit.sqlite")
    with pytest.raises(sqlite3.IntegrityError), db:
        db.execute(statement, {"seq": 5})
    db.close()
    engine = open_engine(tmp_path / "data")
    assert problems(engine.directory.audit) == ()
    engine.directory.close()


def test_a_full_or_readonly_disk_is_unavailable_and_the_log_goes_on_afterwards(engine: Engine) -> None:
    log = filled(engine, 3)
    db = engine.directory._audit_file.db
    for off, on in (
        ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"),
        ("PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
    ):
        db.execute(off)
        with pytest.raises(Unavailable):
            log.record(event(reason="x" * 100_000), durable=False)
        with pytest.raises(Unavailable):
            log.record(event(reason="x" * 100_000), durable=True)
        db.execute(on)
        log.record(event(9), durable=True)
    assert (log.head()[0], problems(log)) == (5, ())


def test_uses_of_keys_wait_in_memory_while_the_disk_refuses(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    engine.directory.ensure_root("root", None)
    engine.directory.access.note_use("root-root-key", NOW)
    db = engine.directory._audit_file.db
    db.execute("PRAGMA query_only = ON")
    engine.directory._credentials.flush()
    db.execute("PRAGMA query_only = OFF")
    engine.directory.close()
    engine = open_engine(tmp_path / "data")
    assert dict(engine.directory.access.last_uses()) == {"root-root-key": NOW}
    engine.directory.close()


def test_after_closing_nothing_is_recorded_or_read(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    log = filled(engine, 3)
    engine.directory.close()
    engine.directory._audit_file.close()
    for use in (
        lambda: log.record(event(), durable=False),
        lambda: log.rows(ANY, ALL),
        lambda: engine.directory.access.claim_token("t", "d", NOW, NOW),
    ):
        with pytest.raises(Unavailable, match="stopping"):
            use()


def test_compacting_gives_back_the_room_of_what_was_removed(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    log, file = engine.directory.audit, tmp_path / "data" / "audit.sqlite"
    for n in range(300):
        log.record(event(n, reason="gone with age " * 20), durable=False)
    engine.directory.compact()
    large = file.stat().st_size
    log.trim(NOW + 290 * SECOND)
    engine.directory.compact()
    assert file.stat().st_size < large / 2 and problems(log) == ()
    assert b'"t17"' not in file.read_bytes()
    assert (tmp_path / "data" / "audit.sqlite-wal").stat().st_size == 0
    engine.directory.close()


WRITER = """
import sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from storage_kit import open_engine
from test_audit_port import event
from lorebank.access.directory import Policy, User, nothing_more

engine = open_engine(Path(sys.argv[1]))
lock = threading.Lock()
EMPTY = '{"version": "2026-03-24", "statements": []}'

def say(text):
    with lock:
        print(text, flush=True)

def audit(thread):
    n = 0
    while True:
        engine.directory.audit.record(event(n, principal=f"user:{thread}"), durable=n % 7 == 0)
        say(f"audit {thread} {n}")
        n += 1

def access():
    n = 0
    while True:
        with engine.directory.access.change(nothing_more) as writer:
            writer.add_user(User(f"u{n}", "x"), 0)
            writer.add_policy(Policy(f"p{n}", "x", EMPTY), 0)
        engine.directory.access.claim_token(f"t{n}", "digest", 1 << 60, 0)
        say(f"access 0 {n}")
        n += 1

for target in (lambda: audit(1), lambda: audit(2), access):
    threading.Thread(target=target, daemon=True).start()
threading.Event().wait()
"""


@pytest.mark.parametrize("lines", [1, 40, 400])
def test_a_kill_at_any_moment_loses_nothing_acknowledged_and_leaves_a_whole_chain(
    lines: int, tmp_path: Path
) -> None:
    script = [sys.executable, "-c", WRITER, str(tmp_path / "data"), str(Path(__file__).parent)]
    said: list[list[str]] = []
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(lines):
            said.append(process.stdout.readline().split())
        process.kill()
        said += [line.split() for line in process.stdout if line.endswith("\n")]
    engine = open_engine(tmp_path / "data")
    log, data = engine.directory.audit, engine.directory.access.data
    assert engine.directory.check() == [] and problems(log) == ()
    for thread in ("1", "2"):
        stored = log.rows(AuditQuery(principal=f"user:{thread}"), Page(1_000_000)).rows
        numbers = [row.event.duration_us for row in reversed(stored)]
        acknowledged = [int(n) for kind, who, n in said if (kind, who) == ("audit", thread)]
        assert numbers == list(range(len(numbers))) and len(numbers) >= len(acknowledged)
    changes = [int(n) for kind, _, n in said if kind == "access"]
    assert len(data.users) == len(data.policies) - len(BUILTINS) == data.epoch >= len(changes)
    for n in changes:
        assert not engine.directory.access.claim_token(f"t{n}", "another", 1 << 60, 0)
    engine.directory.close()


TRIMMER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from storage_kit import NOW, open_engine
from lorebank.storage.sqlite import audit_log

audit_log._TRIM_BATCH = 3
engine = open_engine(Path(sys.argv[1]))
print("ready", flush=True)
engine.directory.audit.trim(2 * NOW)
print("done", flush=True)
"""


@pytest.mark.parametrize("pause_s", [0, 0.004, 0.02])
def test_a_kill_in_the_middle_of_a_trim_leaves_a_whole_chain_and_the_next_one_ends_it(
    pause_s: float, tmp_path: Path
) -> None:
    engine = open_engine(tmp_path / "data")
    filled(engine, 200)
    engine.directory.close()
    script = [sys.executable, "-c", TRIMMER, str(tmp_path / "data"), str(Path(__file__).parent)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(pause_s)
        process.kill()
    engine = open_engine(tmp_path / "data")
    log = engine.directory.audit
    assert problems(log) == () and engine.directory.warnings == ()
    log.trim(2 * NOW)
    assert all(row.event.outcome == "note" for row in log.rows(ANY, ALL).rows) and problems(log) == ()
    engine.directory.close()
