"""A few threads that run model calls: questions first, alike calls together, a bounded queue.

Model calls release the interpreter lock, so more threads than cores would only make each one slower.
While questions arrive, one thread is kept free of documents, so that a question never waits for more
than the calls before it in its own lane.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from lorebank.errors import LorebankError, Unavailable

_BUSY = "The model is busy and did not answer in time; try again later."
_CLOSED = "The model is shutting down."


class Lane(IntEnum):
    """What runs first: a lower number before a higher one."""

    QUERY = 0
    RERANK = 1
    DOCUMENTS = 2


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of call: `run` takes up to `most` payloads and returns a result for each, in order."""

    lane: Lane
    run: Callable[[Sequence[Any]], Sequence[Any]]
    most: int = 1


@dataclass(slots=True, eq=False)
class _Task:
    work: Work
    payload: Any
    done: threading.Event = field(default_factory=threading.Event)
    result: Any = None
    error: BaseException | None = None
    abandoned: bool = False

    def finish(self, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error = result, error
        self.done.set()

    def wait(self, deadline: float) -> Any:
        if not self.done.wait(max(0.0, deadline - time.monotonic())):
            raise Unavailable(_BUSY)
        if self.error is not None:
            raise self.error
        return self.result


class WorkerPool:
    """`workers` threads (by default as many as cores, at most 2) over one queue.

    At most `queue_limit` calls wait; a caller beyond that waits for room. One thread stays free of
    documents until `question_window_s` seconds after the last question.
    """

    def __init__(
        self, workers: int | None = None, *, queue_limit: int = 256, question_window_s: float = 0.25
    ) -> None:
        self._queue_limit = queue_limit
        self._question_window_s = question_window_s
        self._lanes: dict[Lane, deque[_Task]] = {lane: deque() for lane in Lane}
        self._changed = threading.Condition()
        self._closed = False
        self._busy_documents = 0
        self._last_question = float("-inf")
        self._threads = [
            threading.Thread(target=self._work, name=f"model worker {n}", daemon=True)
            for n in range(workers or min(2, os.cpu_count() or 1))
        ]
        for thread in self._threads:
            thread.start()

    def call(self, work: Work, payload: Any, deadline: float) -> Any:
        """The result for one payload; as `call_many`."""
        return self.call_many(work, [payload], deadline)[0]

    def call_many(self, work: Work, payloads: Sequence[Any], deadline: float) -> list[Any]:
        """A result for each payload, in order, by `deadline` (a `time.monotonic` value).

        Waits while the queue is full. Raises `Unavailable` at the deadline or when the pool is
        closed, and whatever error a call itself raised; what still waits is then given up.
        """
        tasks: list[_Task] = []
        try:
            for payload in payloads:
                tasks.append(self._enqueue(_Task(work, payload), deadline))
            return [task.wait(deadline) for task in tasks]
        finally:
            for task in tasks:
                task.abandoned = True

    def close(self) -> None:
        """Refuse what waits, let running calls end, and join the threads. Safe to call twice."""
        with self._changed:
            self._closed = True
            waiting = [task for lane in self._lanes.values() for task in lane]
            for lane in self._lanes.values():
                lane.clear()
            self._changed.notify_all()
        for task in waiting:
            task.finish(error=Unavailable(_CLOSED))
        for thread in self._threads:
            thread.join()

    def _enqueue(self, task: _Task, deadline: float) -> _Task:
        with self._changed:
            room = self._changed.wait_for(self._has_room, max(0.0, deadline - time.monotonic()))
            if self._closed:
                raise Unavailable(_CLOSED)
            if not room:
                raise Unavailable(_BUSY)
            if task.work.lane is not Lane.DOCUMENTS:
                self._last_question = time.monotonic()
            self._lanes[task.work.lane].append(task)
            self._changed.notify_all()
        return task

    def _has_room(self) -> bool:
        return self._closed or sum(map(len, self._lanes.values())) < self._queue_limit

    def _work(self) -> None:
        while tasks := self._take():
            try:
                results = tasks[0].work.run([task.payload for task in tasks])
                for task, result in zip(tasks, results, strict=True):
                    task.finish(result)
            except Exception as exc:  # edge of the worker thread: the error belongs to its callers only
                _fail(tasks, exc)
            finally:
                self._release(tasks[0])

    def _take(self) -> list[_Task]:
        """The next calls to run together; empty when the pool is closed."""
        with self._changed:
            while True:
                if self._closed:
                    return []
                for lane in Lane:
                    if lane is Lane.DOCUMENTS and not self._may_take_documents():
                        continue
                    if tasks := self._take_from(lane):
                        self._busy_documents += lane is Lane.DOCUMENTS
                        self._changed.notify_all()  # there is room in the queue again
                        return tasks
                self._changed.wait(self._question_window_s if self._lanes[Lane.DOCUMENTS] else None)

    def _take_from(self, lane: Lane) -> list[_Task]:
        waiting, tasks = self._lanes[lane], list[_Task]()
        while waiting and (not tasks or waiting[0].work is tasks[0].work):
            if tasks and len(tasks) >= tasks[0].work.most:
                break
            task = waiting.popleft()
            if not task.abandoned:
                tasks.append(task)
        return tasks

    def _may_take_documents(self) -> bool:
        quiet = time.monotonic() - self._last_question >= self._question_window_s
        free = len(self._threads) - self._busy_documents
        return quiet or free > 1 or len(self._threads) == 1

    def _release(self, task: _Task) -> None:
        with self._changed:
            self._busy_documents -= task.work.lane is Lane.DOCUMENTS
            self._changed.notify_all()


def _fail(tasks: Sequence[_Task], cause: Exception) -> None:
    for task in tasks:
        if isinstance(cause, LorebankError):
            task.finish(error=type(cause)(cause.message, cause=cause.cause or cause))
        else:
            task.finish(error=Unavailable("The model failed on this input.", cause=cause))
