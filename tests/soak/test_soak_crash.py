"""Two hundred kills at random moments."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from crash_run import crash
from soak_report import write_part

KILLS = int(os.environ.get("SOAK_KILLS", "200"))


@pytest.mark.soak
def test_two_hundred_kills_lose_nothing_and_bring_nothing_back(tmp_path: Path) -> None:
    outcome = crash(tmp_path, kills=KILLS, seed=int(os.environ.get("SOAK_SEED", "2")))
    rows = [
        f"| {kind.replace('_', ' ')} | {outcome.kills[kind]} | {outcome.requests[kind]} |"
        for kind in sorted(outcome.kills)
    ]
    total = f"| all | {sum(outcome.kills.values())} | {sum(outcome.requests.values())} |"
    head = ["| killed while | kills | steps of work finished before |", "| --- | ---: | ---: |"]
    told = (
        f"{outcome.between_models} kills left banks on their way from one model to the other. "
        f"{outcome.seconds:.0f} seconds; findings: none."
    )
    assert outcome.between_models
    write_part("crash", [*head, *rows, total, "", told])
