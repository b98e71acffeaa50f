"""Work on the whole data directory that takes longer than a request: one piece at a time, watched by id.

A task lives as long as the process. Each kind of task can be started again after a restart and
then goes on, or begins anew, without harm.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lorebank.clock import Clock, Micros, now
from lorebank.errors import Conflict, LorebankError, Unavailable
from lorebank.ids import new_uuid

log = logging.getLogger(__name__)

REMEMBERED = 100
"""Ended tasks that can still be asked for."""

Progress = Callable[[str, int, int], None]
"""Told (stage, done, total) while a task runs, total 0 when unknown. It raises `Unavailable` when
the task should stop, because the server is ending; what was done until then stays."""
Work = Callable[[Progress], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """A task's state; `status` is one of processing, completed, failed."""

    id: str
    kind: str
    status: str
    started_at: Micros
    ended_at: Micros | None = None
    stage: str = ""
    done: int = 0
    total: int = 0
    result: Mapping[str, Any] | None = None
    error: str | None = None


class Tasks:
    """The tasks of this process. Safe to use from several threads."""

    def __init__(self, clock: Clock = now) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._running: threading.Thread | None = None
        self._closing = threading.Event()

    def start(self, kind: str, work: Work) -> Task:
        """Begin `work` on a thread of its own; `Conflict` while another task runs."""
        task = Task(new_uuid(), kind, "processing", self._clock())
        thread = threading.Thread(target=self._run, args=(task.id, work), name=f"task-{kind}", daemon=True)
        with self._lock:
            busy = next((t for t in self._tasks.values() if t.status == "processing"), None)
            if busy is not None:
                raise Conflict(
                    f"{busy.kind} is running; wait until it has ended ('lorebank status' shows it)"
                )
            if self._closing.is_set():
                raise Unavailable("the server is ending")
            self._tasks[task.id] = task
            while len(self._tasks) > REMEMBERED:
                self._tasks.popitem(last=False)
            self._running = thread
        thread.start()
        return task

    def get(self, task_id: str) -> Task | None:
        """A task by id; None when this process does not know it."""
        with self._lock:
            return self._tasks.get(task_id)

    def running(self) -> list[Task]:
        """The tasks that have not ended."""
        with self._lock:
            return [task for task in self._tasks.values() if task.status == "processing"]

    def close(self, timeout_s: float = 10.0) -> None:
        """Ask the running task to stop and wait for it a while."""
        self._closing.set()
        thread = self._running
        if thread is not None and thread.is_alive():
            thread.join(timeout_s)

    def _run(self, task_id: str, work: Work) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            if self._closing.is_set():
                raise Unavailable("the server ended before the work was done; start it again")
            self._change(task_id, stage=stage, done=done, total=total)

        try:
            result = work(progress)
            self._change(task_id, status="completed", result=result, ended_at=self._clock())
        except LorebankError as exc:
            self._change(task_id, status="failed", error=exc.message, ended_at=self._clock())
        except Exception:  # thread edge: the failure is told, the server lives on
            log.exception("a task failed")
            told = "it failed for a reason that the server's log tells"
            self._change(task_id, status="failed", error=told, ended_at=self._clock())

    def _change(self, task_id: str, **changes: Any) -> None:
        with self._lock:
            if task_id in self._tasks:
                self._tasks[task_id] = replace(self._tasks[task_id], **changes)
