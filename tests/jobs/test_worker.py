"""The worker on real stores: retries, cancelling, leases, deadlines, restarts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from lorebank import clock
from lorebank.access.audit import AuditQuery
from lorebank.access.grant import Ticket
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision, Resolver
from lorebank.errors import InvalidInput, Unavailable
from lorebank.ids import BankId, new_uuid
from lorebank.jobs.kinds import Job, JobKind
from lorebank.jobs.worker import MARK, Policy, Worker
from lorebank.storage.ports import BankHandle, Banks, Page
from lorebank.storage.rows import Operation
from lorebank.storage.sqlite.directory import DataDirectory

ANNA = Principal("user", "anna")
QUICK = Policy(threads=2, retries=2, backoff_s=0.01, lease_s=0.6, grace_s=5)


@dataclass
class Rules:
    denied: set[str] = field(default_factory=set)

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        return Decision(principal.id not in self.denied)

    def shows(self, principal: Principal, bank: BankId) -> bool:
        return self.decide(principal, "bank:list", bank).allowed


@dataclass
class Server:
    """A data directory with one bank and a worker whose only kind of job is `work`."""

    directory: DataDirectory
    banks: Banks
    resolver: Resolver
    rules: Rules
    handle: BankHandle
    ended: list[tuple[str, str]] = field(default_factory=list)

    def submit(self, **changes: Any) -> str:
        at = clock.now()
        plain = Operation(
            id=new_uuid(),
            type="work",
            status="pending",
            items_count=1,
            created_at=at,
            updated_at=at,
            payload={"n": 1},
            principal=ANNA.to_json(),
        )
        one = replace(plain, **changes)
        self.banks.mark_work(self.handle, MARK)
        with self.handle.write() as writer:
            writer.put_operation(one)
        return one.id

    def operation(self, id: str) -> Operation:
        with self.handle.read() as reader:
            found = reader.operation(id)
        assert found is not None
        return found

    def wait(self, id: str, *statuses: str) -> Operation:
        until(lambda: self.operation(id).status in statuses)
        return self.operation(id)

    @contextmanager
    def worker(
        self, run: Callable[[Job], Mapping[str, Any]], policy: Policy = QUICK, deadline_s: float = 60
    ) -> Iterator[Worker]:
        kinds = {"work": JobKind("work", "bank:work", run, deadline_s)}
        note = self.ended.append
        made = Worker(
            self.banks, self.resolver, kinds, policy, clock.now, lambda kind, status: note((kind, status))
        )
        made.start()
        try:
            yield made
        finally:
            made.close()


def serve(path: Path) -> Server:
    directory = DataDirectory.open(path)
    rules = Rules()
    resolver = Resolver(rules, directory.epoch, directory.audit)
    banks = directory.banks(resolver)
    grant = resolver.resolve(ANNA, "bank:work", BankId("Team"))
    return Server(directory, banks, resolver, rules, banks.create(grant, None, clock.now()))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    opened = serve(tmp_path / "data")
    yield opened
    opened.directory.close()


def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within ten seconds")


def marks(server: Server) -> list[tuple[BankId, str]]:
    return list(server.banks.marked_work(server.resolver.ticket(Ticket.RECOVER)))


def test_a_job_runs_as_the_principal_that_asked_and_its_mark_goes(server: Server) -> None:
    seen: list[tuple[Principal, str, Mapping[str, Any] | None]] = []

    def run(job: Job) -> Mapping[str, Any]:
        seen.append((job.handle.grant.principal, job.handle.grant.action, job.operation.payload))
        return {"stored": 3}

    with server.worker(run) as worker:
        id = server.submit()
        worker.notify(server.handle)
        done = server.wait(id, "completed")
        until(lambda: marks(server) == [])
    assert (done.result, done.payload, done.retry_count) == ({"stored": 3}, None, 0)
    assert seen == [(ANNA, "bank:work", {"n": 1})] and server.ended == [("work", "completed")]


def test_what_a_job_decides_is_written_down_as_of_its_operation(server: Server) -> None:
    def run(job: Job) -> Mapping[str, Any]:
        server.resolver.resolve(ANNA, "bank:other", BankId("Team"))
        return {}

    with server.worker(run) as worker:
        id = server.submit()
        worker.notify(server.handle)
        server.wait(id, "completed")
    rows = server.directory.audit.rows(AuditQuery(request_id=id), Page(9)).rows
    assert [(row.event.action, row.event.transport, row.event.principal) for row in rows] == [
        ("bank:other", "job", ANNA.name),
        ("bank:work", "job", ANNA.name),
    ]


def test_what_may_work_later_is_tried_again_and_then_given_up_with_its_input_kept(server: Server) -> None:
    tries = {"flaky": 0, "dead": 0}

    def run(job: Job) -> Mapping[str, Any]:
        name = (job.operation.payload or {})["name"]
        tries[name] += 1
        if name == "dead" or tries[name] < 3:
            raise Unavailable(f"{name} does not answer")
        return {}

    flaky, dead = (server.submit(payload={"name": name}) for name in ("flaky", "dead"))
    with server.worker(run):
        server.wait(flaky, "completed")
        given_up = server.wait(dead, "failed")
    assert tries == {"flaky": 3, "dead": 3}
    assert (given_up.error, given_up.payload) == ("dead does not answer", {"name": "dead"})


def test_a_failed_job_can_be_given_back_and_then_succeeds(server: Server) -> None:
    broken = [True]

    def run(job: Job) -> Mapping[str, Any]:
        if broken:
            raise InvalidInput("the input is wrong")
        return {}

    id = server.submit()
    with server.worker(run) as worker:
        failed = server.wait(id, "failed")
        assert (failed.error, failed.retry_count) == ("the input is wrong", 0)
        broken.clear()
        with server.handle.write() as writer:
            writer.put_operation(replace(failed, status="pending", error=None, completed_at=None))
        worker.notify(server.handle)
        server.wait(id, "completed")


def test_a_job_that_fails_never_holds_up_the_others(server: Server) -> None:
    def run(job: Job) -> Mapping[str, Any]:
        if (job.operation.payload or {}).get("bad"):
            raise ZeroDivisionError("internal detail")
        return {}

    bad = server.submit(payload={"bad": True})
    good = [server.submit() for _ in range(3)]
    with server.worker(run, replace(QUICK, backoff_s=30)):
        for id in good:
            server.wait(id, "completed")
        waiting = server.operation(bad)
    assert waiting.status == "pending" and waiting.next_retry_at is not None
    assert "internal" not in (waiting.error or "")


def test_an_unknown_type_fails_with_a_sentence(server: Server) -> None:
    id = server.submit(type="future")
    with server.worker(lambda job: {}):
        assert "future" in (server.wait(id, "failed").error or "")


def test_a_cancelled_job_stops_at_its_next_sign_of_life(server: Server) -> None:
    started, cancelled, stopped = (threading.Event() for _ in range(3))

    def run(job: Job) -> Mapping[str, Any]:
        started.set()
        cancelled.wait(5)
        try:
            with job.handle.write() as writer:
                writer.set_meta("half", True)
                job.checkpoint(writer, "facts", 1, 2)
        finally:
            stopped.set()
        return {}

    id = server.submit()
    with server.worker(run):
        assert started.wait(5)
        with server.handle.write() as writer:
            assert writer.finish_operation(id, None, "cancelled", clock.now())
        cancelled.set()
        assert stopped.wait(5)
    ended = server.operation(id)
    assert (ended.status, ended.payload) == ("cancelled", None)
    with server.handle.read() as reader:
        assert reader.meta("half") is None


def test_a_job_longer_than_its_lease_is_not_taken_by_another_thread(server: Server) -> None:
    runs: list[str] = []

    def run(job: Job) -> Mapping[str, Any]:
        runs.append(job.operation.id)
        time.sleep(1.5)
        return {}

    id = server.submit()
    with server.worker(run) as worker:
        for _ in range(14):
            worker.notify(server.handle)
            time.sleep(0.1)
        server.wait(id, "completed")
    assert runs == [id]


def test_a_job_past_its_deadline_fails_and_what_it_says_later_counts_for_nothing(server: Server) -> None:
    release, returned = threading.Event(), threading.Event()

    def run(job: Job) -> Mapping[str, Any]:
        release.wait(5)
        returned.set()
        return {"late": True}

    id = server.submit()
    with server.worker(run, deadline_s=0.1):
        failed = server.wait(id, "failed")
        release.set()
        assert returned.wait(5)
    assert "longer than" in (failed.error or "") and server.operation(id).result is None


def test_after_a_restart_waiting_and_half_done_jobs_run_without_a_new_write(tmp_path: Path) -> None:
    server = serve(tmp_path / "data")
    waiting, half = server.submit(), server.submit()
    with server.handle.write() as writer:
        assert writer.lease_operation(clock.now(), 3600) is not None
    server.directory.close()
    server = serve(tmp_path / "data")
    with server.worker(lambda job: {}):
        for id in (waiting, half):
            server.wait(id, "completed")
        until(lambda: marks(server) == [])
    server.directory.close()


def test_a_job_whose_mark_was_lost_is_found_after_a_restart(tmp_path: Path) -> None:
    server = serve(tmp_path / "data")
    id = server.submit()
    # As when a worker finds nothing to run between the mark and the commit, and the server is killed then.
    assert server.banks.clear_work(server.banks.open(server.handle.grant), MARK)
    assert marks(server) == []
    server.directory.close()
    server = serve(tmp_path / "data")
    with server.worker(lambda job: {}):
        server.wait(id, "completed")
    server.directory.close()


def test_a_principal_that_lost_its_right_meanwhile_does_not_run(server: Server) -> None:
    id = server.submit()
    server.rules.denied.add("anna")
    server.directory.epoch.advance()
    with server.worker(lambda job: {"ran": True}):
        until(lambda: bool(server.ended))
    server.rules.denied.clear()
    refused = server.operation(id)
    assert (refused.status, refused.result) == ("failed", None)


def test_an_operation_without_a_readable_principal_fails(server: Server) -> None:
    id = server.submit(principal=None)
    with server.worker(lambda job: {"ran": True}):
        assert "principal" in (server.wait(id, "failed").error or "")


def test_deleting_the_bank_of_a_running_job_ends_it_quietly(server: Server) -> None:
    started, deleted = threading.Event(), threading.Event()

    def run(job: Job) -> Mapping[str, Any]:
        started.set()
        deleted.wait(5)
        with job.handle.write() as writer:
            writer.set_meta("late", True)
        return {}

    server.submit()
    with server.worker(run) as worker:
        assert started.wait(5)
        server.banks.delete(server.resolver.resolve(ANNA, "bank:delete", BankId("Team")))
        deleted.set()
        other = server.banks.create(
            server.resolver.resolve(ANNA, "bank:work", BankId("other")), None, clock.now()
        )
        server.handle = other
        id = server.submit()
        worker.notify(other)
        server.wait(id, "completed")


def test_stopping_lets_the_running_job_end(server: Server) -> None:
    started = threading.Event()

    def run(job: Job) -> Mapping[str, Any]:
        started.set()
        time.sleep(0.2)
        return {"whole": True}

    first, second = server.submit(), server.submit()
    with server.worker(run, replace(QUICK, threads=1)):
        assert started.wait(5)
    assert server.operation(first).result == {"whole": True}
    assert server.operation(second).status == "pending"


def test_an_idle_worker_looks_at_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    id = server.submit()
    with server.worker(lambda job: {}):
        server.wait(id, "completed")
        until(lambda: marks(server) == [])
        opened: list[object] = []
        monkeypatch.setattr(server.banks, "open", opened.append)
        time.sleep(0.5)
        assert opened == []
