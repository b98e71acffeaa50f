"""The policy engine against an evaluator that was written without it, on random worlds."""

from __future__ import annotations

import multiprocessing
import time

import pytest
import raw_world
from comparing import Tally, compare, explained, minimal
from naive_evaluator import FIELDS, World

PAIRS, SOAK_PAIRS, PROCESSES, BATCH = 50_000, 1_000_000, 2, 10_000


def test_fifty_thousand_random_requests_are_decided_as_the_reference_does() -> None:
    tally = compare(1, PAIRS)
    assert tally.pairs == PAIRS
    # Neither side of the comparison may be won by worlds in which nothing happens.
    assert tally.allowed > PAIRS // 5 and tally.denied > PAIRS // 10


@pytest.mark.soak
def test_a_million_random_requests_are_decided_as_the_reference_does() -> None:
    from soak_report import write_part

    began = time.monotonic()
    batches = [(seed, BATCH) for seed in range(2, 2 + SOAK_PAIRS // BATCH)]
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        tally = sum(pool.starmap(compare, batches, chunksize=1), Tally())
    assert tally.pairs == SOAK_PAIRS
    told = (
        f"{tally.pairs:,} pairs of policies and a request in {time.monotonic() - began:.0f} seconds "
        f"({tally.allowed:,} allowed, {tally.denied:,} denied by a statement); differences: none."
    )
    write_part("policies", [told])


def test_a_difference_is_told_as_a_small_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: with an engine that forgets budgets it must fail, and readably."""
    right = raw_world.plain
    monkeypatch.setattr(raw_world, "plain", lambda given: {**right(given), "recall_budget": None})
    with pytest.raises(AssertionError, match=r"(?s)differ \(seed.*recall_budget.*reference") as failed:
        compare(1, 500)
    assert str(failed.value).count('"effect"') == 1


def test_a_case_is_made_small_without_losing_the_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_world, "plain", lambda given: dict.fromkeys(FIELDS))
    allow = {"effect": "allow", "actions": ["bank:recall"], "banks": ["*"], "recall_max_tokens": 7}
    noise = {"effect": "allow", "actions": ["bank:stats"], "banks": ["a"], "retain_tags": ["x"]}
    made: World = {
        "policies": {"p": {"version": "2026-03-24", "statements": [noise, allow]}},
        "attachments": [
            {"policy_id": "p", "principal_type": "user", "principal_id": "ann", "priority": 0},
            {"policy_id": "p", "principal_type": "group", "principal_id": "g", "priority": 0},
        ],
        "members": [{"group_id": "g", "user_id": "ann"}],
        "accounts": {},
        "bank_policies": {},
    }
    asked = {"kind": "user", "id": "ann", "action": "bank:recall", "bank": "a", "provider": "web"}
    small, question = minimal(made, {**asked, "channel": None, "topic": None, "sender": None})
    assert small["policies"]["p"]["statements"] == [allow]
    assert len(small["attachments"]) == 1 and question["provider"] is None
    assert "recall_max_tokens" in explained(small, question, 0)
