"""Runs the operations of all banks: leased, retried within bounds, cancellable, found again after a kill."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lorebank.access.audit import Origin
from lorebank.access.grant import Ticket
from lorebank.access.principal import principal_from_json
from lorebank.access.resolve import Resolver, coming_from
from lorebank.clock import Clock
from lorebank.errors import Conflict, LorebankError, NotFound, Unavailable
from lorebank.ids import BankId
from lorebank.jobs.kinds import Job, JobKind
from lorebank.jobs.leases import Leases
from lorebank.jobs.turns import Turns
from lorebank.storage.ports import BankHandle, Banks
from lorebank.storage.rows import Lease, OperationStatus

log = logging.getLogger(__name__)

MARK = "jobs"
"""The kind of work under which a bank with operations to run is marked in the registry."""
_SECOND = 1_000_000
_TROUBLE_PAUSE_S = 5.0
_LONGEST_PAUSE_S = 3600.0


@dataclass(frozen=True, slots=True)
class Policy:
    """How hard a job is tried: `retries` more attempts, the first after about `backoff_s` seconds, doubled
    each time; `lease_s` without a sign of life frees it; `threads` jobs run at once."""

    threads: int = 2
    retries: int = 3
    backoff_s: float = 60.0
    lease_s: float = 60.0
    grace_s: float = 10.0


class Worker:
    """The threads that run jobs. Waiting costs nothing; a bank is looked at when it is told of, and when
    its next retry is due."""

    def __init__(
        self,
        banks: Banks,
        resolver: Resolver,
        kinds: Mapping[str, JobKind],
        policy: Policy,
        clock: Clock,
        ended: Callable[[str, str], None] = lambda kind, status: None,
    ) -> None:
        self._banks = banks
        self._resolver = resolver
        self._kinds = kinds
        self._policy = policy
        self._clock = clock
        self._ended = ended
        self._leases = Leases(clock, policy.lease_s)
        self._turns = Turns()
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"job worker {n}", daemon=True)
            for n in range(policy.threads)
        ]
        self._threads.append(threading.Thread(target=self._sweep, name="job sweep", daemon=True))

    def start(self) -> None:
        """Begin, with the banks that were marked when the last process ended, and a look at all others.

        A mark only says where to look first: it can be cleared between the mark and the commit of an
        operation, so a kill right then would leave an operation that no mark tells of.
        """
        for bank, kind in self._banks.marked_work(self._resolver.ticket(Ticket.RECOVER)):
            if kind == MARK:
                self._add(bank)
        self._leases.start()
        for thread in self._threads:
            thread.start()

    def notify(self, handle: BankHandle) -> None:
        """Say that the bank has operations to run."""
        self._add(BankId(handle.bank.bank_id))

    def close(self) -> None:
        """Take no more work; running jobs get `grace_s` seconds, then their leases lapse."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=self._policy.grace_s)
        self._leases.close()

    def _add(self, bank: BankId) -> None:
        with self._changed:
            self._turns.add(bank)
            self._changed.notify()

    def _later(self, bank: BankId, seconds: float) -> None:
        with self._changed:
            self._turns.later(bank, min(seconds, _LONGEST_PAUSE_S))
            self._changed.notify()

    def _next(self) -> BankId | None:
        with self._changed:
            while not self._closed:
                bank = self._turns.take()
                if bank is not None:
                    if len(self._turns):  # several pauses may have ended at once
                        self._changed.notify()
                    return bank
                self._changed.wait(self._turns.pause())
            return None

    def _work(self) -> None:
        while (bank := self._next()) is not None:
            try:
                self._attend(bank)
            except NotFound:
                log.info("a bank was deleted while it had work")
            except LorebankError as exc:
                log.warning("the jobs of a bank wait: %s", exc.message)
                self._later(bank, _TROUBLE_PAUSE_S)
            except Exception:  # thread edge: one bank must not end the work of all others
                log.exception("the jobs of a bank could not be run")
                self._later(bank, _TROUBLE_PAUSE_S)

    def _sweep(self) -> None:
        """Look once at every bank for operations that the last process left behind."""
        try:
            for row in self._banks.all_rows(self._resolver.ticket(Ticket.RECOVER)):
                if self._closed:
                    return
                if self._left_behind(BankId(row.bank_id)):
                    self._add(BankId(row.bank_id))
        except Exception:  # thread edge: marked and new work goes on without the sweep
            log.exception("the banks could not be searched for work that was left behind")

    def _left_behind(self, bank: BankId) -> bool:
        try:
            handle = self._banks.open(self._resolver.ticket(Ticket.RECOVER, bank))
            with handle.read() as reader:
                return reader.runnable_at(self._clock()) is not None
        except LorebankError as exc:  # one damaged bank must not hide the work of the others
            log.warning("a bank could not be searched for work: %s", exc.message)
            return False

    def _attend(self, bank: BankId) -> None:
        """Run one operation of the bank, then let other banks have their turn."""
        handle = self._banks.open(self._resolver.ticket(Ticket.RECOVER, bank))
        with handle.write() as writer:
            lease = writer.lease_operation(self._clock(), self._policy.lease_s)
        if lease is None:
            self._settle(bank, handle)
            return
        self._add(bank)
        self._run(bank, handle, lease)
        self._add(bank)

    def _settle(self, bank: BankId, handle: BankHandle) -> None:
        """Nothing can run now: come back when a retry is due, or forget the bank's mark."""
        with handle.read() as reader:
            due = reader.runnable_at(self._clock())
        if due is not None:
            self._later(bank, (due - self._clock()) / _SECOND)
        elif not self._banks.clear_work(handle, MARK):
            self._add(bank)

    def _run(self, bank: BankId, handle: BankHandle, lease: Lease) -> None:
        kind = self._kinds.get(lease.operation.type)
        job = Job(handle, lease.operation, lease.token)
        if kind is None:
            unknown = f"this version does not know jobs of type {lease.operation.type}"
            self._finish(job, "failed", error=unknown)
            return
        self._leases.hold(job, kind.deadline_s)
        try:
            with coming_from(Origin(lease.operation.id, "job")):
                result = kind.run(self._authorised(bank, kind, lease))
        except Conflict:
            # Cancelled, or lost to another holder: then this finish changes nothing.
            self._finish(job, "failed", error="the operation contradicts what is stored by now")
        except Unavailable as exc:
            self._again(job, exc.message)
        except LorebankError as exc:
            self._finish(job, "failed", error=exc.message)
        except Exception:  # job edge: the failure is told, the worker lives on
            log.exception("a job of type %s failed", kind.name)
            self._again(job, "it failed for a reason that the server's log tells")
        else:
            self._finish(job, "completed", result=result)
        finally:
            self._leases.release(job)

    def _authorised(self, bank: BankId, kind: JobKind, lease: Lease) -> Job:
        """The job with the bank as its principal may see it now, not as it might when it asked."""
        principal = principal_from_json(lease.operation.principal)
        grant = self._resolver.resolve(principal, kind.action, bank)
        return Job(self._banks.open(grant), lease.operation, lease.token)

    def _again(self, job: Job, reason: str) -> None:
        tried = job.operation.retry_count
        if tried >= self._policy.retries:
            self._finish(job, "failed", error=reason)
            return
        pause = min(self._policy.backoff_s * 2**tried, _LONGEST_PAUSE_S) * random.uniform(0.8, 1.2)
        due = self._clock() + int(pause * _SECOND)
        self._finish(job, "pending", error=reason, next_retry_at=due)

    def _finish(
        self,
        job: Job,
        status: OperationStatus,
        *,
        result: Mapping[str, Any] | None = None,
        error: str | None = None,
        next_retry_at: int | None = None,
    ) -> None:
        with job.handle.write() as writer:
            done = writer.finish_operation(
                job.operation.id,
                job.token,
                status,
                self._clock(),
                result=result,
                error=error,
                next_retry_at=next_retry_at,
            )
        if done:
            self._ended(job.operation.type, status)
