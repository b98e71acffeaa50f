"""Banks take turns: each once, in order, and after its pause."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from test_worker import Job, Policy, Server, serve, until

from lorebank.errors import Unavailable
from lorebank.ids import BankId
from lorebank.jobs.turns import Turns

A, B = BankId("a"), BankId("b")


def test_a_bank_waits_once_and_the_first_told_comes_first() -> None:
    turns = Turns()
    for bank in (A, B, A):
        turns.add(bank)
    assert len(turns) == 2 and A in turns
    assert [turns.take(), turns.take(), turns.take()] == [A, B, None]


def test_a_pause_ends_once_at_the_earliest_of_its_times() -> None:
    turns = Turns()
    for seconds in (3600.0, 0.0, 3600.0):
        turns.later(A, seconds)
    assert turns.take() is None and len(turns) == 0
    pause = turns.pause()
    assert pause is not None and pause <= 0.05
    time.sleep(0.06)
    assert [turns.take(), turns.take(), turns.pause()] == [A, None, None]


def test_pausing_takes_no_threads_however_often_a_bank_is_told_of(tmp_path: Any) -> None:
    def fails(job: Job) -> Mapping[str, Any]:
        raise Unavailable("not now")

    with_pause = Policy(threads=2, retries=1, backoff_s=3000, lease_s=60, grace_s=1)
    server: Server = serve(tmp_path / "data")
    with server.worker(fails, with_pause) as worker:
        ids = [server.submit() for _ in range(5)]
        for _ in range(30):
            worker.notify(server.handle)
            time.sleep(0.005)
        until(lambda: all(server.operation(id).retry_count == 1 for id in ids))
        assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer)]
        assert sum(one.name.startswith("job worker") for one in threading.enumerate()) == 2
    server.directory.close()
