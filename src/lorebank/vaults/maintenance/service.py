"""The scheduled pass: when it runs, that it never runs twice at once, and what operators see of it.

One thread looks at the settings every half minute (a file that nobody touched costs one `stat`) and runs the
pass when its slot has come. `tick` is that look; everything that depends on time goes through the clock.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any, Final

from lorebank.access.knowledge import KnowledgeFacts, MaintenanceSettings
from lorebank.clock import Clock, Micros, now
from lorebank.errors import Conflict, InvalidInput, LorebankError, StoreUnavailable, WritesDisabled
from lorebank.storage.knowledge_ports import KnowledgeRegistry
from lorebank.vaults.maintenance.passing import Site, run_pass
from lorebank.vaults.maintenance.results import PassResult, Trigger, from_kept
from lorebank.vaults.maintenance.schedule import Schedule, parse_schedule
from lorebank.vaults.maintenance.visits import Visits

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 30.0
"""The longest time between two looks at settings and clock."""
CATCH_UP: Final = 60 * 1_000_000
"""Microseconds after the start at which a missed slot is caught up (seed 002)."""
PLAN: Final = "maintenance.plan"
LAST: Final = "maintenance.last"
_STOP_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Due:
    """The next pass: the slot that it is for, and when it runs."""

    slot: Micros
    at: Micros
    trigger: Trigger


class Maintenance:
    """Runs the pass. Safe from any thread."""

    def __init__(
        self, facts: KnowledgeFacts, registry: KnowledgeRegistry, visits: Visits, *, clock: Clock = now
    ) -> None:
        self._site = Site(facts, registry, visits, clock)
        self._passing = threading.Lock()
        self._planning = threading.Lock()
        self._wake = threading.Condition()
        self._stopping = False
        self._started: Micros | None = None
        self._settings: MaintenanceSettings | None = None
        self._schedule: Schedule | None = None
        self._due: Due | None = None
        self._unkept: Any = None
        self.error: str | None = None
        """Why nothing is scheduled although it should be."""
        self._thread = threading.Thread(target=self._run, name="knowledge-maintenance", daemon=True)

    # the thread

    def start(self) -> None:
        """Begin. A slot that was missed is caught up 60 s from now."""
        self._thread.start()

    def close(self) -> None:
        """End the current pass at its next step, and the thread."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    @property
    def running(self) -> bool:
        """Whether a pass runs now."""
        return self._passing.locked()

    def _run(self) -> None:
        while not self._stopping:
            try:
                pause = self.tick()
            except Exception:  # the edge of the thread: maintenance goes on with the next look
                log.exception("knowledge maintenance")
                pause = LOOK_SECONDS
            with self._wake:
                if not self._stopping:
                    self._wake.wait(pause)

    def tick(self) -> float:
        """One look: run the pass if it is due. Seconds until the next look."""
        data, moment = self._site.facts.data, self._site.clock()
        with self._planning:
            if self._started is None:
                self._started = moment
            due = None if data.problem is not None else self._look(data.settings.maintenance, moment)
        if due is None:
            return LOOK_SECONDS
        if moment < due.at:
            return min(LOOK_SECONDS, (due.at - moment) / 1_000_000)
        if data.settings.writes_enabled and not self._scheduled(due):
            return LOOK_SECONDS  # one by hand runs now; the slot comes after it
        with self._planning:
            if self._due == due and self._schedule is not None:
                self._plan(self._schedule, max(self._site.clock(), due.slot))
        return 0.0

    def _look(self, settings: MaintenanceSettings, moment: Micros) -> Due | None:
        """The pass that comes next under these settings; None when none is scheduled."""
        self._read(settings)
        if self._schedule is None:
            self._forget()
            return None
        if self._due is None:
            self._next(self._schedule, moment)
        elif self._unkept is not None and self._keep(PLAN, self._unkept):
            self._unkept = None
        return self._due

    def _scheduled(self, due: Due) -> bool:
        """Run the pass of a slot; False when another one runs."""
        if not self._passing.acquire(blocking=False):
            return False
        try:
            self._pass(due.trigger, due.slot)
        finally:
            self._passing.release()
        return True

    # by hand

    def run_now(self) -> PassResult:
        """A pass at once, whether or not one is scheduled. `Conflict` while one runs, `WritesDisabled`,
        `StoreUnavailable` when the configuration or the registry cannot be read."""
        data = self._site.facts.data
        if data.problem is not None:
            raise StoreUnavailable(data.reason, data.problem)
        if not data.settings.writes_enabled:
            raise WritesDisabled("`writesEnabled` is false: a pass has nothing that it may change")
        if not self._passing.acquire(blocking=False):
            raise Conflict("a pass is running; two never run at once")
        try:
            return self._pass("manual", None)
        finally:
            self._passing.release()

    def _pass(self, trigger: Trigger, slot: Micros | None) -> PassResult:
        result = run_pass(self._site, trigger, slot, lambda: self._stopping)
        self._keep(LAST, result.kept())
        return result

    # the plan

    def _read(self, settings: MaintenanceSettings) -> None:
        """The schedule of these settings; looked at again only when they change, so one warning is one."""
        if settings == self._settings:
            return
        self._settings, self._due, self._schedule, self.error = settings, None, None, None
        if not settings.enabled:
            return
        try:
            self._schedule = parse_schedule(settings.schedule, settings.timezone)
        except InvalidInput as exc:
            self.error = exc.message
            log.warning("knowledge maintenance is not scheduled: %s", exc.message)

    def _next(self, schedule: Schedule, moment: Micros) -> None:
        """The slot that was kept, if it still stands or was missed while nobody was here; else the next."""
        kept = self._site.registry.value(PLAN)
        said, slot = (kept.get("schedule"), kept.get("next")) if isinstance(kept, dict) else (None, None)
        if isinstance(slot, int) and self._started is not None and slot <= self._started:
            self._due = Due(slot, self._started + CATCH_UP, "catch_up")
        elif isinstance(slot, int) and slot > moment and said == _key(schedule):
            self._due = Due(slot, slot, "schedule")
        else:
            self._plan(schedule, moment)

    def _plan(self, schedule: Schedule, moment: Micros) -> None:
        slot = schedule.after(moment)
        self._due = Due(slot, slot, "schedule")
        plan = {"schedule": _key(schedule), "next": slot}
        self._unkept = None if self._keep(PLAN, plan) else plan

    def _forget(self) -> None:
        """A slot that passes while nothing is scheduled is none that was missed."""
        if self._site.registry.value(PLAN) is not None:
            self._keep(PLAN, None)

    def _keep(self, name: str, value: Any) -> bool:
        """Write down, but make no registry where nobody has a store yet: maintenance makes nothing."""
        if not self._site.registry.stores():
            return False
        self._site.registry.set_value(name, value)
        return True

    # for operators

    def next_run(self) -> Micros | None:
        """When the next pass runs; None when none is scheduled."""
        with self._planning:
            self._read(self._site.facts.data.settings.maintenance)
            if self._due is not None:
                return self._due.at
            return None if self._schedule is None else self._schedule.after(self._site.clock())

    @property
    def schedule(self) -> Schedule | None:
        """The schedule in force."""
        return self._schedule

    def last(self) -> PassResult | None:
        """The last pass; None before the first."""
        try:
            return from_kept(self._site.registry.value(LAST))
        except LorebankError:
            return None


def _key(schedule: Schedule) -> list[str]:
    return [schedule.expression, schedule.zone.name]
