"""Killed at any moment, the server keeps what it acknowledged and only that (200 kills: `make soak`)."""

from __future__ import annotations

from pathlib import Path

from crash_load import KINDS
from crash_run import crash


def test_twenty_kills_lose_nothing_and_bring_nothing_back(tmp_path: Path) -> None:
    outcome = crash(tmp_path, kills=20, seed=20_261_129)
    assert sum(outcome.kills.values()) == 20
    assert set(outcome.kills) == set(KINDS)
