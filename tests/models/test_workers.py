"""The worker pool: questions first, alike calls together, deadlines kept, errors to their caller only."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from lorebank.errors import LimitExceeded, Unavailable
from lorebank.models.workers import Lane, Work, WorkerPool


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    one = WorkerPool(1, queue_limit=4)
    yield one
    one.close()


class Gate:
    """Work that holds its worker until the gate opens."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.open = threading.Event()
        self.work = Work(Lane.QUERY, self._run)

    def _run(self, payloads: Sequence[Any]) -> Sequence[Any]:
        self.started.set()
        self.open.wait(5)
        return payloads


def soon(seconds: float = 5.0) -> float:
    return time.monotonic() + seconds


def waiting(pool: WorkerPool) -> int:
    return sum(map(len, pool._lanes.values()))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "the expected state was never reached"
        time.sleep(0.002)


def queue_behind_gate(
    pool: WorkerPool, threads: ThreadPoolExecutor, gate: Gate, calls: Sequence[tuple[Work, Any]]
) -> list[Future[Any]]:
    """Occupy the one worker, then let each call queue up, in order."""
    futures = [threads.submit(pool.call, gate.work, "gate", soon())]
    assert gate.started.wait(5)
    for count, (work, payload) in enumerate(calls, start=1):
        futures.append(threads.submit(pool.call, work, payload, soon()))
        until(lambda expected=count: waiting(pool) == expected)  # type: ignore[misc]
    return futures


def test_waiting_questions_of_one_kind_run_together_up_to_the_limit(pool: WorkerPool) -> None:
    seen: list[list[str]] = []

    def run(payloads: Sequence[str]) -> Sequence[str]:
        seen.append(list(payloads))
        return [payload.upper() for payload in payloads]

    work, gate = Work(Lane.QUERY, run, most=3), Gate()
    with ThreadPoolExecutor(8) as threads:
        futures = queue_behind_gate(pool, threads, gate, [(work, text) for text in "abcd"])
        gate.open.set()
        assert [future.result() for future in futures] == ["gate", "A", "B", "C", "D"]
    assert seen == [["a", "b", "c"], ["d"]]


def test_a_question_overtakes_documents_that_wait(pool: WorkerPool) -> None:
    order: list[str] = []

    def run(payloads: Sequence[str]) -> Sequence[str]:
        order.extend(payloads)
        return payloads

    documents, queries, gate = Work(Lane.DOCUMENTS, run), Work(Lane.QUERY, run), Gate()
    with ThreadPoolExecutor(8) as threads:
        calls = [(documents, "document 1"), (documents, "document 2"), (queries, "question")]
        futures = queue_behind_gate(pool, threads, gate, calls)
        gate.open.set()
        for future in futures:
            future.result()
    assert order == ["question", "document 1", "document 2"]


def test_while_questions_arrive_documents_leave_one_worker_free() -> None:
    pool, held = WorkerPool(2, question_window_s=60), threading.Event()
    answered = Work(Lane.QUERY, lambda payloads: payloads)
    running = threading.Semaphore(0)

    def hold(payloads: Sequence[str]) -> Sequence[str]:
        running.release()
        held.wait(5)
        return payloads

    work = Work(Lane.DOCUMENTS, hold)
    with ThreadPoolExecutor(4) as threads:
        pool.call(answered, "first", soon())
        futures = [threads.submit(pool.call, work, name, soon(10)) for name in ("a", "b")]
        assert running.acquire(timeout=5)
        until(lambda: waiting(pool) == 1)
        assert pool.call(answered, "second", soon()) == "second"
        held.set()
        assert [future.result() for future in futures] == ["a", "b"]
    pool.close()


def test_without_questions_documents_use_every_worker() -> None:
    pool, together = WorkerPool(2, question_window_s=0.01), threading.Barrier(2, timeout=5)

    def meet(payloads: Sequence[str]) -> Sequence[str]:
        together.wait()
        return payloads

    pool.call(Work(Lane.QUERY, lambda payloads: payloads), "question", soon())
    assert pool.call_many(Work(Lane.DOCUMENTS, meet), ["a", "b"], soon()) == ["a", "b"]
    pool.close()


def test_a_call_that_takes_too_long_ends_at_its_deadline_and_the_pool_goes_on(pool: WorkerPool) -> None:
    gate = Gate()
    with pytest.raises(Unavailable, match="did not answer in time"):
        pool.call(gate.work, "slow", soon(0.02))
    gate.open.set()
    assert pool.call(Work(Lane.QUERY, lambda payloads: payloads), "next", soon()) == "next"


def test_a_call_given_up_while_waiting_is_never_run(pool: WorkerPool) -> None:
    ran: list[str] = []

    def run(payloads: Sequence[str]) -> Sequence[str]:
        ran.extend(payloads)
        return payloads

    work, gate = Work(Lane.QUERY, run), Gate()
    with ThreadPoolExecutor(2) as threads:
        queue_behind_gate(pool, threads, gate, [])
        with pytest.raises(Unavailable):
            pool.call(work, "given up", soon(0.02))
        gate.open.set()
        assert pool.call(work, "wanted", soon()) == "wanted"
    assert ran == ["wanted"]


def test_an_error_reaches_its_caller_and_nobody_else(pool: WorkerPool) -> None:
    def run(payloads: Sequence[str]) -> Sequence[str]:
        if "bad" in payloads:
            raise ValueError("private detail")
        return payloads

    work = Work(Lane.QUERY, run)
    with pytest.raises(Unavailable, match="failed on this input") as caught:
        pool.call(work, "bad", soon())
    assert "private" not in caught.value.message
    assert isinstance(caught.value.cause, ValueError)
    assert pool.call(work, "good", soon()) == "good"


def test_a_typed_error_keeps_its_type(pool: WorkerPool) -> None:
    def run(payloads: Sequence[str]) -> Sequence[str]:
        raise LimitExceeded("the month's spend is used up")

    with pytest.raises(LimitExceeded, match="spend is used up"):
        pool.call(Work(Lane.QUERY, run), "x", soon())


def test_a_full_queue_makes_callers_wait_for_room_until_their_deadline(pool: WorkerPool) -> None:
    gate, work = Gate(), Work(Lane.QUERY, lambda payloads: payloads)
    with ThreadPoolExecutor(8) as threads:
        futures = queue_behind_gate(pool, threads, gate, [(work, n) for n in range(4)])
        with pytest.raises(Unavailable, match="busy"):
            pool.call(work, "no room", soon(0.02))
        patient = threads.submit(pool.call, work, "patient", soon())
        gate.open.set()
        assert patient.result() == "patient"
        assert [future.result() for future in futures[1:]] == [0, 1, 2, 3]


def test_call_many_returns_results_in_order(pool: WorkerPool) -> None:
    work = Work(Lane.DOCUMENTS, lambda payloads: [payload * 2 for payload in payloads])
    assert pool.call_many(work, list(range(20)), soon()) == [n * 2 for n in range(20)]


def test_closing_refuses_what_waits_and_what_comes_after() -> None:
    pool, gate = WorkerPool(1), Gate()
    with ThreadPoolExecutor(4) as threads:
        futures = queue_behind_gate(pool, threads, gate, [(gate.work, "waits")])
        closing = threads.submit(pool.close)
        with pytest.raises(Unavailable, match="shutting down"):
            futures[1].result()
        gate.open.set()
        closing.result()
        assert futures[0].result() == "gate"
    with pytest.raises(Unavailable, match="shutting down"):
        pool.call(gate.work, "late", soon())
    pool.close()
