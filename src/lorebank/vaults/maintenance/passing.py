"""One pass over all stores: every partition, page by page, each store on its own (seed 002, Schedule)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from lorebank.access.audience import PRIVATE, Partition
from lorebank.access.knowledge import KnowledgeData, KnowledgeFacts
from lorebank.access.reasons import MISSING_STORE
from lorebank.clock import Clock, Micros, now
from lorebank.errors import LorebankError, NotCreated, StoreUnavailable
from lorebank.storage.knowledge_ports import KnowledgeRegistry, StoreRow
from lorebank.vaults.maintenance import review
from lorebank.vaults.maintenance.results import (
    PassResult,
    StoreOutcome,
    StoreResult,
    Trigger,
    pass_id,
    totals,
)
from lorebank.vaults.maintenance.visits import Visits

log = logging.getLogger(__name__)
UNEXPECTED: Final = "bug"


@dataclass(frozen=True, slots=True)
class Site:
    """What a pass works with."""

    facts: KnowledgeFacts
    registry: KnowledgeRegistry
    visits: Visits
    clock: Clock = now


def run_pass(site: Site, trigger: Trigger, slot: Micros | None, stopped: Callable[[], bool]) -> PassResult:
    """Go through every ready store. The pass ends early when `stopped` says so, when writes are turned off,
    and when the settings or the assignment of stores change."""
    begun, basis = site.clock(), site.facts.data

    def go_on() -> bool:
        return not stopped() and _unchanged(basis, site.facts.data)

    bound = {vault: binding for binding, vault in basis.bindings.items()}
    results: list[StoreResult] = []
    for row in sorted(site.registry.stores(), key=lambda row: row.vault):
        if not go_on():
            break
        results.append(_store(site, row, bound.get(row.vault, ""), go_on))
    ended = not go_on()
    note = None
    if not ended:
        left = sum(result.left or 0 for result in results)
        passed = pass_id(trigger, slot, begun)
        note = review.ask(site.registry, basis.settings.maintenance.review_job_id, passed, left, site.clock())
    result = PassResult(trigger, slot, begun, site.clock(), ended, tuple(results), note)
    _tell(result)
    return result


def _unchanged(before: KnowledgeData, after: KnowledgeData) -> bool:
    """Whether a pass may go on: a store that was made meanwhile is no reassignment."""
    return (
        after.problem is None
        and after.settings.writes_enabled
        and after.settings == before.settings
        and _kept(before.bindings, after.bindings)
    )


def _kept(before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    return all(after.get(binding) == vault for binding, vault in before.items())


def _store(site: Site, row: StoreRow, binding: str, go_on: Callable[[], bool]) -> StoreResult:
    result = StoreResult(row.vault, binding)
    if row.state != "ready":
        result.outcome, result.reason = "skipped", "not_created"
        return result
    with _noting(result, go_on):
        for partition in site.visits.partitions(row.vault):
            with _noting(result, go_on):
                _partition(site, row, result, partition, go_on)
            if result.outcome in ("skipped", "ended"):
                break
    return result


def _partition(
    site: Site, row: StoreRow, result: StoreResult, partition: Partition, go_on: Callable[[], bool]
) -> None:
    from lorebank.vaults.relink.run import every_page, unlinked  # the rules only once there is a pass

    handle = site.visits.open(row.vault, result.binding, partition)
    for report in every_page(handle, clock=site.clock, go_on=go_on):
        result.add(report)
    if not go_on():
        result.outcome = "ended"
    elif partition == PRIVATE:
        with handle.reading() as view:
            left = unlinked(view)
        result.left = left
    else:
        result.conversations += 1


@contextmanager
def _noting(result: StoreResult, go_on: Callable[[], bool]) -> Iterator[None]:
    """What goes wrong in a store is written into its result and stops nothing else."""
    try:
        yield
    except LorebankError as exc:
        result.reason = exc.reason if isinstance(exc, StoreUnavailable) else exc.code
        result.outcome = _outcome(exc, go_on())
    except Exception:  # the edge of one store's work: the other stores are still visited
        log.exception("knowledge maintenance: the store %s", result.vault)
        result.reason, result.outcome = UNEXPECTED, "failed"


def _outcome(error: LorebankError, unchanged: bool) -> StoreOutcome:
    if not unchanged:
        return "ended"
    missing = isinstance(error, StoreUnavailable) and error.reason == MISSING_STORE
    return "skipped" if missing or isinstance(error, NotCreated) else "failed"


def _tell(result: PassResult) -> None:
    """The one line of a pass."""
    failed = [one for one in result.stores if one.outcome == "failed"]
    sums = totals(result.stores)
    log.log(
        logging.WARNING if failed else logging.INFO,
        "knowledge maintenance (%s) %s: %d stores, %d claims examined, %d linked, %d left alone, "
        "%d links failed%s",
        result.trigger,
        "ended early" if result.ended else "done",
        len(result.stores),
        sums["examined"],
        sums["linked"],
        sums["ambiguous"] + sums["no_subject"],
        sums["failed"],
        _causes(failed),
    )


def _causes(failed: Sequence[StoreResult]) -> str:
    if not failed:
        return ""
    reasons = ", ".join(sorted({str(one.reason) for one in failed}))
    return f"; {len(failed)} stores failed ({reasons})"
