"""Signs of life: one thread renews the leases of all running jobs, and ends those past their deadline."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

from lorebank.clock import Clock
from lorebank.errors import LorebankError
from lorebank.jobs.kinds import Job

log = logging.getLogger(__name__)
_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class _Held:
    job: Job
    ends: float
    deadline_s: float


class Leases:
    """The jobs that this process holds. A job that is not renewed is taken again by somebody else."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._held: dict[str, _Held] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="leases", daemon=True)

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def close(self) -> None:
        """Stop renewing."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=10)

    def hold(self, job: Job, deadline_s: float) -> None:
        """Renew this job's lease from now on, for at most `deadline_s` seconds."""
        with self._changed:
            self._held[job.operation.id] = _Held(job, time.monotonic() + deadline_s, deadline_s)
            self._changed.notify_all()

    def release(self, job: Job) -> None:
        """The job has ended."""
        with self._changed:
            self._held.pop(job.operation.id, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or bool(self._held))
                self._changed.wait_for(lambda: self._closed, self._seconds / 3)
                if self._closed:
                    return
                held = list(self._held.values())
            for one in held:
                self._attend(one)

    def _attend(self, held: _Held) -> None:
        job = held.job
        try:
            if time.monotonic() < held.ends:
                with job.handle.write() as writer:
                    until = self._clock() + int(self._seconds * _SECOND)
                    writer.renew_lease(job.operation.id, job.token, until)
            else:
                self._expire(held)
        except LorebankError as exc:
            log.warning("the lease of a job could not be renewed: %s", exc.message)
        except Exception:  # thread edge: the other jobs' leases must go on
            log.exception("the lease of a job could not be renewed")

    def _expire(self, held: _Held) -> None:
        job = held.job
        told = f"it took longer than {held.deadline_s:.0f} seconds; retry it, or send less at once"
        with job.handle.write() as writer:
            writer.finish_operation(job.operation.id, job.token, "failed", self._clock(), error=told)
        self.release(job)
