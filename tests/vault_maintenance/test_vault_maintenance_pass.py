"""The scheduled pass: which stores it visits, what ends it, when it runs, and what is kept of it."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from maintenance_kit import CHAT, MINUTE, House, at

from lorebank.access.audience import PRIVATE, Partition
from lorebank.access.knowledge import NamedStore
from lorebank.errors import Conflict, NotCreated, StoreUnavailable, WritesDisabled
from lorebank.vaults.maintenance import service as scheduling
from lorebank.vaults.maintenance.results import PassResult, from_kept
from lorebank.vaults.maintenance.service import LAST, LOOK_SECONDS, PLAN
from lorebank.vaults.relink import run as relinking

LINKED = "Mara Olsen prefers tea."
UNLINKED = "Somebody is ill."


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "knowledge")


def outcomes(result: PassResult | None) -> dict[str, tuple[str, str | None]]:
    assert result is not None
    return {one.vault: (one.outcome, one.reason) for one in result.stores}


@pytest.mark.statement("5.4")
def test_5_4_every_store_and_every_conversation_partition_is_visited(house: House) -> None:
    one = house.store("main", LINKED, UNLINKED, chat=[LINKED])
    two = house.store("research", LINKED)
    result = house.service.run_now()
    assert house.visited == [(one, PRIVATE), (one, CHAT), (two, PRIVATE)]
    assert [(store.linked, store.conversations, store.left) for store in result.stores] == [
        (2, 1, 1),
        (1, 0, 0),
    ]


@pytest.mark.statement("5.4")
def test_5_4_claims_come_in_pages_of_500(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.store("main", *[UNLINKED] * 5)
    limits = []
    real = relinking.relink

    def spied(handle, ask, **more):  # type: ignore[no-untyped-def]
        limits.append(ask.limit)
        return real(handle, replace(ask, limit=2), **more)

    monkeypatch.setattr(relinking, "relink", spied)
    [store] = house.service.run_now().stores
    assert (limits, store.examined) == ([500, 500, 500], 5)


@pytest.mark.statement("5.5")
def test_5_5_stores_that_are_missing_or_not_ready_are_skipped(house: House) -> None:
    making = house.store("making", LINKED, state="creating")
    lost, unused = house.store("lost", LINKED), house.store("unused", LINKED)
    good = house.store("good", LINKED)
    house.broken = {
        lost: StoreUnavailable("missing_store", "it is gone"),
        unused: NotCreated("nobody used it"),
    }
    result = house.service.run_now()
    assert outcomes(result) == {
        making: ("skipped", "not_created"),
        lost: ("skipped", "missing_store"),
        unused: ("skipped", "not_created"),
        good: ("done", None),
    }
    assert house.row(making).state == "creating"


@pytest.mark.statement("5.6", "5.12")
@pytest.mark.parametrize(
    "error", [StoreUnavailable("damaged", "it is damaged"), ZeroDivisionError()], ids=str
)
def test_5_6_one_failing_store_does_not_stop_the_others(
    house: House, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = house.store("bad", LINKED), house.store("good", LINKED)
    house.broken = {bad: error}
    caplog.set_level(logging.INFO, "lorebank.vaults.maintenance")
    result = house.service.run_now()
    assert outcomes(result)[good] == ("done", None)
    assert outcomes(result)[bad][0] == "failed"
    lines = [one for one in caplog.records if "claims examined" in one.getMessage()]
    assert [one.levelno for one in lines] == [logging.WARNING]
    assert "1 stores failed" in lines[0].getMessage()


def test_a_failing_conversation_does_not_stop_the_rest_of_its_store(house: House) -> None:
    vault = house.store("main", LINKED, chat=[LINKED])

    def opened(at: str, partition: Partition) -> None:
        if partition == PRIVATE:
            raise StoreUnavailable("scan_limit", "too many files")

    house.on_open = opened
    [store] = house.service.run_now().stores
    assert (store.vault, store.outcome, store.reason, store.conversations) == (
        vault,
        "failed",
        "scan_limit",
        1,
    )
    assert store.left is None


@pytest.mark.statement("5.12")
def test_5_12_a_pass_logs_one_line(house: House, caplog: pytest.LogCaptureFixture) -> None:
    house.store("main", LINKED, UNLINKED, chat=[LINKED])
    caplog.set_level(logging.INFO, "lorebank.vaults.maintenance")
    house.service.run_now()
    assert [(one.levelno, one.getMessage()) for one in caplog.records] == [
        (
            logging.INFO,
            "knowledge maintenance (manual) done: 1 stores, 3 claims examined, 2 linked, 1 left alone, "
            "0 links failed",
        )
    ]


CHANGES = {
    "a reload": lambda house: house.facts.settings(maintenance={"schedule": "0 5 * * *"}),
    "writes off": lambda house: house.facts.settings(writes_enabled=False),
    "an assignment": lambda house: house.facts.settings(
        stores={"team": NamedStore("team", "Team", ("main",))}
    ),
    "another store": lambda house: setattr(
        house.facts, "data", replace(house.facts.data, bindings={"own:main": "another"})
    ),
    "a broken file": lambda house: setattr(house.facts, "data", replace(house.facts.data, problem="broken")),
    "a stop": lambda house: house.service.close(),
}


@pytest.mark.statement("5.7", "5.3")
@pytest.mark.parametrize("change", CHANGES)
def test_5_7_a_reload_or_reassignment_ends_the_pass(house: House, change: str) -> None:
    first = house.store("main", LINKED, LINKED, LINKED)
    house.store("research", LINKED)
    house.facts.settings(maintenance={"review_job_id": "job"})
    vault = house.vaults[first][PRIVATE]

    def meanwhile() -> None:
        if len(vault.receipts) == 1:
            CHANGES[change](house)

    vault.before_publish = meanwhile
    result = house.service.run_now()
    assert result.ended and result.review is None
    assert len(vault.receipts) == 2, "the link that had begun is finished, the next does not begin"
    assert outcomes(result) == {first: ("ended", None)}


def test_5_7_a_store_that_was_made_meanwhile_ends_nothing(house: House) -> None:
    house.store("main", LINKED)
    house.on_open = lambda vault, partition: setattr(
        house.facts,
        "data",
        replace(house.facts.data, bindings={**house.facts.data.bindings, "own:new": "new"}),
    )
    assert not house.service.run_now().ended


@pytest.mark.statement("5.1", "5.3", "5.15")
def test_5_1_the_pass_runs_at_its_slot_and_5_3_only_while_writes_are_on(house: House) -> None:
    house.store("main", LINKED)
    assert house.service.tick() == LOOK_SECONDS
    house.now = at("2026-12-01T03:29:50Z")
    assert house.service.tick() == 10
    house.facts.settings(writes_enabled=False)
    house.now = at("2026-12-01T03:30:00Z")
    assert house.service.tick() == 0
    assert house.service.last() is None
    house.facts.settings(writes_enabled=True)
    assert house.service.tick() == LOOK_SECONDS
    house.now = at("2026-12-02T03:30:05Z")
    house.service.tick()
    last = house.service.last()
    assert last is not None and (last.trigger, last.slot) == ("schedule", at("2026-12-02T03:30Z"))


@pytest.mark.statement("5.2")
@pytest.mark.parametrize("wrong", [{"schedule": "@daily"}, {"timezone": "Mars/Base"}], ids=str)
def test_5_2_a_wrong_schedule_unschedules_the_pass_with_one_warning(
    house: House, wrong: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    house.store("main", LINKED)
    house.facts.settings(maintenance=wrong)
    for _ in range(3):
        assert house.service.tick() == LOOK_SECONDS
        house.now += 1440 * MINUTE
    assert house.service.next_run() is None
    assert house.service.error is not None
    assert [one.levelno for one in caplog.records] == [logging.WARNING]
    assert house.service.run_now().stores[0].linked == 1, "by hand it runs all the same"
    house.facts.settings(maintenance={"schedule": "0 4 * * *", "timezone": "UTC"})
    house.service.tick()
    assert house.service.error is None and house.service.next_run() is not None


@pytest.mark.statement("5.8")
def test_5_8_next_slot_and_results_are_kept(house: House) -> None:
    vault = house.store("main", LINKED, UNLINKED)
    house.service.tick()
    assert house.registry.value(PLAN)["next"] == at("2026-12-01T03:30Z")
    result = house.service.run_now()
    again = house.restarted()
    assert again.last() == result == from_kept(house.registry.value(LAST))
    assert outcomes(again.last()) == {vault: ("done", None)}


def test_what_another_release_kept_is_no_pass(house: House) -> None:
    for said in (None, {}, {"review": None, "stores": 7}, [], "x"):
        assert from_kept(said) is None


@pytest.mark.statement("5.9")
def test_5_9_missed_slots_are_caught_up_once_60_s_after_the_start(house: House) -> None:
    house.store("main", LINKED)
    house.service.tick()
    house.now = at("2026-12-05T10:00Z")  # five slots later
    started = house.restarted()
    assert started.tick() == LOOK_SECONDS
    assert started.next_run() == house.now + MINUTE
    house.now += MINUTE - 1
    assert started.tick() > 0 and started.last() is None
    house.now += 1
    assert started.tick() == 0
    last = started.last()
    assert last is not None and (last.trigger, last.slot) == ("catch_up", at("2026-12-01T03:30Z"))
    assert started.next_run() == at("2026-12-06T03:30Z")
    assert house.restarted().tick() == LOOK_SECONDS, "a start after that has nothing to catch up"
    assert house.service.next_run() == at("2026-12-06T03:30Z")


@pytest.mark.statement("5.9")
def test_5_9_a_pass_that_was_killed_is_caught_up(house: House) -> None:
    """The slot is given up when its pass is over, not before."""
    vault = house.store("main", LINKED)
    house.service.tick()
    house.now = at("2026-12-01T03:30Z")

    def killed(at: str, partition: Partition) -> None:
        raise KeyboardInterrupt

    house.on_open = killed
    with pytest.raises(KeyboardInterrupt):
        house.service.tick()
    house.on_open = None
    house.now += MINUTE
    again = house.restarted()
    again.tick()
    house.now += MINUTE
    again.tick()
    assert outcomes(again.last()) == {vault: ("done", None)}


def test_a_slot_that_passes_while_the_pass_is_off_is_not_missed(house: House) -> None:
    house.store("main", LINKED)
    house.service.tick()
    house.facts.settings(maintenance={"enabled": False})
    house.service.tick()
    assert house.service.next_run() is None
    house.now = at("2026-12-05T10:00Z")
    house.facts.settings(maintenance={"enabled": True})
    started = house.restarted()
    started.tick()
    assert started.next_run() == at("2026-12-06T03:30Z")


def test_a_store_that_is_made_later_gets_its_slot_kept(house: House) -> None:
    house.service.tick()
    assert house.registry.stores() == []
    house.store("main", LINKED)
    house.service.tick()
    assert house.registry.value(PLAN)["next"] == at("2026-12-01T03:30Z")


@pytest.mark.statement("5.5", "1.1.9")
def test_1_1_9_maintenance_makes_nothing(house: House, tmp_path: Path) -> None:
    house.service.tick()
    house.service.next_run()
    assert house.service.last() is None
    house.now = at("2026-12-01T03:30Z")
    house.service.tick()
    house.service.run_now()
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.statement("5.10")
def test_5_10_two_passes_never_run_at_once(house: House) -> None:
    house.store("main", LINKED)
    house.service.tick()
    house.now = at("2026-12-01T03:30Z")
    refused: list[str] = []

    def meanwhile(vault: str, partition: Partition) -> None:
        with pytest.raises(Conflict, match="never run at once"):
            house.service.run_now()
        assert house.service.running
        assert house.service.tick() == LOOK_SECONDS, "the slot waits for the one by hand"
        refused.append(vault)

    house.on_open = meanwhile
    house.service.run_now()
    house.on_open = None
    assert len(refused) == 1 and not house.service.running
    house.service.tick()
    last = house.service.last()
    assert last is not None and last.trigger == "schedule"


def test_by_hand_it_says_why_it_cannot_run(house: House) -> None:
    house.facts.settings(writes_enabled=False)
    with pytest.raises(WritesDisabled):
        house.service.run_now()
    house.facts.data = replace(house.facts.data, problem="the file is broken")
    with pytest.raises(StoreUnavailable, match="the file is broken"):
        house.service.run_now()
    assert house.service.tick() == LOOK_SECONDS


def test_the_thread_runs_the_pass_and_ends_when_told(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "LOOK_SECONDS", 0.01)
    house.store("main", LINKED)
    house.service.tick()
    house.now = at("2026-12-01T03:30Z")
    seen = threading.Event()
    house.on_open = lambda vault, partition: seen.set()
    house.service.start()
    assert seen.wait(10)
    house.service.close()
    assert not house.service.running
