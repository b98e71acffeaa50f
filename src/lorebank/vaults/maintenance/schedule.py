"""When the pass runs: a cron expression of five fields in a time zone (seed 002, Schedule).

Where clocks are put forward, a slot in the hour that is left out comes at the next minute that exists; where
they are put back, a slot in the hour that comes twice runs the first time only (statement 5.16). This is
decided here, on local times: a local time is a pure function of the expression.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import Final

from lorebank.clock import Micros, to_datetime, to_micros
from lorebank.errors import InvalidInput
from lorebank.vaults.maintenance.zones import Zone, host_zone, named_zone

FIELDS: Final = 5
MAX_CHARS: Final = 200
_MOST_SLOTS: Final = 5_000
"""Slots that one time change can put on one minute, with room to spare."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A valid schedule."""

    expression: str
    zone: Zone

    def after(self, moment: Micros) -> Micros:
        """The first slot after `moment` (both in UTC). `InvalidInput` when none ever comes."""
        local = to_datetime(moment).astimezone(self.zone.rules).replace(tzinfo=None)
        for slot in islice(_local_slots(self.expression, local), _MOST_SLOTS):
            found = to_micros(_instant(slot, self.zone.rules))
            if found > moment:
                return found
        raise InvalidInput(f"the schedule {self.expression!r} never comes")


def parse_schedule(expression: str, timezone: str | None) -> Schedule:
    """The schedule in the named zone, or the host's. `InvalidInput` says what is wrong with either."""
    if len(expression) > MAX_CHARS or len(expression.split()) != FIELDS:
        raise InvalidInput(
            f"the schedule {expression[:MAX_CHARS]!r} must have five fields (minute, hour, day, month, "
            "weekday), for example '30 3 * * *'"
        )
    zone = host_zone() if timezone is None else named_zone(timezone)
    schedule = Schedule(" ".join(expression.split()), zone)
    schedule.after(to_micros(datetime(2026, 1, 1, tzinfo=UTC)))
    return schedule


def _local_slots(expression: str, local: datetime) -> Iterator[datetime]:
    from cronsim import CronSim, CronSimError  # only where knowledge is used

    try:
        yield from CronSim(expression, local)
    except (CronSimError, ValueError, AssertionError) as exc:
        raise InvalidInput(
            f"the schedule {expression!r} is not a cron expression: {exc or 'a field is wrong'}", cause=exc
        ) from exc


def _instant(local: datetime, zone: tzinfo) -> datetime:
    """When a local time comes: the first time if it comes twice, the end of the gap if it does not come."""
    first = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) == local:
        return first
    early = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    before, after = early, first
    offset = after.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after
