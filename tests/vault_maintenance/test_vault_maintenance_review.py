"""What is left for an agent: one request a pass, taken and answered once; and what operators see."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from maintenance_kit import MINUTE, House, at

from lorebank.errors import InvalidInput, NotFound
from lorebank.vaults.maintenance import review
from lorebank.vaults.maintenance.review import Reviews
from lorebank.vaults.maintenance.status import status

LINKED = "Mara Olsen prefers tea."
UNLINKED = "Somebody is ill."


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path / "knowledge")
    house.facts.settings(maintenance={"review_job_id": "weekly-review"})
    return house


def everybody(agents: Iterable[str]) -> bool:
    return True


def seen(house: House) -> dict[str, object]:
    last = status(house.service, house.facts, house.registry, everybody)["lastRun"]
    assert isinstance(last, dict)
    found = last["review"]
    assert isinstance(found, dict)
    return found


@pytest.mark.statement("5.13")
def test_5_13_a_pass_that_leaves_claims_asks_once(house: House) -> None:
    house.store("main", LINKED, UNLINKED, UNLINKED)
    house.store("research", UNLINKED)
    house.service.run_now()
    reviews = Reviews(house.registry, lambda: house.now)
    [row] = reviews.waiting()
    assert (row.job_id, row.claims_left, row.outcome) == ("weekly-review", 3, None)
    assert seen(house) == {"id": row.id, "outcome": "requested", "left": 3}
    assert reviews.take(row.id).taken_at == house.now
    assert seen(house)["outcome"] == "taken"
    assert reviews.answer(row.id, "enqueued").outcome == "enqueued"
    assert reviews.answer(row.id, "failed").outcome == "enqueued", "the first answer stays"
    assert seen(house) == {"id": row.id, "outcome": "enqueued", "left": 3}
    assert reviews.waiting() == []


@pytest.mark.statement("5.13")
@pytest.mark.parametrize("outcome", ["enqueued", "skipped", "unavailable", "failed"])
def test_5_13_a_gateway_says_what_became_of_it(house: House, outcome: str) -> None:
    """A disabled automation is one that the gateway answers as skipped."""
    house.store("main", UNLINKED)
    house.service.run_now()
    reviews = Reviews(house.registry)
    reviews.answer(reviews.waiting()[0].id, outcome)
    assert seen(house)["outcome"] == outcome


@pytest.mark.statement("5.13")
def test_5_13_nothing_is_asked_when_nothing_is_left_or_no_job_is_set(house: House) -> None:
    house.store("main", LINKED)
    house.service.run_now()
    assert seen(house) == {"id": None, "outcome": "not_needed", "left": 0}
    house.store("other", UNLINKED)
    house.facts.settings(maintenance={"review_job_id": None})
    house.service.run_now()
    assert status(house.service, house.facts, house.registry, everybody)["lastRun"]["review"] is None
    assert house.registry.reviews(open_only=False) == []


@pytest.mark.statement("5.13")
def test_5_13_a_pass_that_is_taken_up_again_asks_with_the_same_id(house: House) -> None:
    house.store("main", UNLINKED)
    house.service.tick()
    house.now = at("2026-12-01T03:30Z")
    plan = house.registry.value("maintenance.plan")
    house.service.tick()
    [row] = Reviews(house.registry).waiting()
    Reviews(house.registry).take(row.id)
    house.registry.set_value("maintenance.plan", plan)  # killed before the slot was given up
    again = house.restarted()
    again.tick()
    house.now += MINUTE
    again.tick()
    last = again.last()
    assert last is not None and last.trigger == "catch_up"
    assert [one.id for one in house.registry.reviews(open_only=False)] == [row.id]


def test_a_request_that_no_gateway_took_gives_way_to_the_next(house: House) -> None:
    house.store("main", UNLINKED)
    house.service.run_now()
    first = Reviews(house.registry).waiting()[0]
    house.now += MINUTE
    house.service.run_now()
    [second] = Reviews(house.registry).waiting()
    answered = {row.id: row.outcome for row in house.registry.reviews(open_only=False)}
    assert second.id != first.id and answered == {first.id: "unavailable", second.id: None}


@pytest.mark.statement("5.14")
def test_5_14_conversations_never_lead_to_a_review(house: House) -> None:
    house.store("main", LINKED, chat=[UNLINKED, UNLINKED])
    house.service.run_now()
    assert seen(house)["outcome"] == "not_needed"


def test_claims_that_other_tools_saved_count_as_left(house: House) -> None:
    vault = house.store("main")
    private = next(iter(house.vaults[vault].values()))
    private.claim("Rolf is ill.", private.source("A file."))
    house.service.run_now()
    assert seen(house)["left"] == 1


def test_a_wrong_answer_or_id_is_named(house: House) -> None:
    reviews = Reviews(house.registry)
    with pytest.raises(InvalidInput, match="outcome must be one of"):
        reviews.answer("x", "not_needed")
    for call in (lambda: reviews.take("x"), lambda: reviews.answer("x", "failed")):
        with pytest.raises(NotFound):
            call()
    assert review.SKILL == "knowledge-unlinked-claims"


@pytest.mark.statement("5.11")
def test_5_11_status_shows_schedule_runs_and_the_counts_of_the_operators_agents(house: House) -> None:
    main, other = house.store("main", LINKED, UNLINKED), house.store("other", UNLINKED)
    house.service.tick()
    house.service.run_now()
    found = status(house.service, house.facts, house.registry, everybody)
    assert (found["schedule"], found["timezone"], found["error"]) == ("30 3 * * *", "UTC", None)
    assert found["nextRun"] == "2026-12-01T03:30:00+00:00"
    assert [one["vaultId"] for one in found["lastRun"]["stores"]] == [main, other]
    assert (found["lastRun"]["linked"], found["lastRun"]["left"]) == (1, 2)
    mine = status(house.service, house.facts, house.registry, lambda agents: "main" in set(agents))["lastRun"]
    assert [one["vaultId"] for one in mine["stores"]] == [main]
    assert (mine["examined"], mine["left"], mine["review"]["left"]) == (2, 1, 1)


def test_status_before_the_first_pass_and_with_a_wrong_schedule(house: House) -> None:
    found = status(house.service, house.facts, house.registry, everybody)
    assert (found["lastRun"], found["nextRun"]) == (None, "2026-12-01T03:30:00+00:00")
    house.facts.settings(maintenance={"schedule": "never"})
    found = status(house.service, house.facts, house.registry, everybody)
    assert found["nextRun"] is None and "five fields" in found["error"]
    house.facts.settings(maintenance={"enabled": False})
    found = status(house.service, house.facts, house.registry, everybody)
    assert (found["enabled"], found["error"], found["nextRun"]) == (False, None, None)
