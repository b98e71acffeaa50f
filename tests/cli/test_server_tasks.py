"""Work on the whole data directory, one piece at a time."""

from __future__ import annotations

import threading
import time

import pytest

from lorebank.errors import Conflict, Unavailable
from lorebank.service.tasks import Progress, Task, Tasks


def ended(tasks: Tasks, task: Task) -> Task:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        found = tasks.get(task.id)
        assert found is not None
        if found.status != "processing":
            return found
        time.sleep(0.005)
    raise AssertionError("the task did not end")


def test_a_task_tells_its_progress_and_its_result() -> None:
    tasks, go, told = Tasks(), threading.Event(), threading.Event()

    def work(progress: Progress) -> dict[str, int]:
        progress("copy", 3, 9)
        told.set()
        go.wait(10)
        return {"copied": 9}

    task = tasks.start("backup", work)
    assert told.wait(10)
    running = tasks.running()
    assert [(t.kind, t.stage, t.done, t.total) for t in running] == [("backup", "copy", 3, 9)]
    with pytest.raises(Conflict, match="backup is running"):
        tasks.start("doctor", work)
    go.set()
    assert ended(tasks, task).result == {"copied": 9}
    assert tasks.running() == []


def test_a_refusal_is_told_and_an_accident_is_not() -> None:
    tasks = Tasks()

    def refuse(progress: Progress) -> dict[str, int]:
        raise Unavailable("the disk is full")

    assert ended(tasks, tasks.start("backup", refuse)).error == "the disk is full"

    def fall(progress: Progress) -> dict[str, int]:
        raise ZeroDivisionError("secret detail")

    found = ended(tasks, tasks.start("backup", fall))
    assert found.status == "failed"
    assert "secret" not in str(found.error)


def test_closing_stops_the_task_at_its_next_step() -> None:
    tasks, begun = Tasks(), threading.Event()

    def work(progress: Progress) -> dict[str, int]:
        while True:
            progress("copy", 0, 0)
            begun.set()
            time.sleep(0.001)

    task = tasks.start("backup", work)
    assert begun.wait(10)
    tasks.close()
    assert ended(tasks, task).error == "the server ended before the work was done; start it again"
    with pytest.raises(Unavailable):
        tasks.start("backup", work)


def test_an_unknown_task_is_none() -> None:
    assert Tasks().get("nope") is None
