"""Five hundred kills of a process that publishes into a vault."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from soak_report import write_part
from vault_publish_kills import random_kills

KILLS = int(os.environ.get("SOAK_VAULT_KILLS", "500"))


@pytest.mark.soak
def test_five_hundred_kills_of_publications_lose_nothing(tmp_path: Path) -> None:
    began = time.monotonic()
    found = random_kills(tmp_path, KILLS, seed=int(os.environ.get("SOAK_SEED", "3")), edits=0.2)
    told = (
        f"{found.kills} kills among {len(found.acknowledged):,} acknowledged publications. After "
        f"{found.finished_by_recovery} of them recovery finished an accepted one, after {found.conflicts} it "
        f"was conflicted with one of {found.edits} edits by hand and was resolved; {found.commits_caught_up} "
        f"commits were caught up, {found.behind_a_lock} times only after git's own lock was old enough. "
        f"{time.monotonic() - began:.0f} seconds; torn files, lost texts, records without their commit: none."
    )
    assert found.finished_by_recovery
    write_part("vault", [told])
