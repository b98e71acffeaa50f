"""A process that is killed while turns wait, are queued and are stored loses and doubles none of them."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from access_house import ROOT, House, allow, talk

HERE = Path(__file__).parent


def killed_sender(folder: Path, first: int, seconds: float) -> list[int]:
    """The turns that a sender had acknowledged when it was killed after so many seconds of sending."""
    paths = f"import sys; sys.path[:0] = {[str(HERE), str(HERE.parents[1] / 'src')]!r}; "
    code = f"{paths}import turn_sender; turn_sender.main({str(folder)!r}, {first})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as sender:
        assert sender.stdout is not None and sender.stdout.readline() == "ready\n"
        time.sleep(seconds)
        sender.kill()
        rest = sender.stdout.read()
    return [int(line) for line in rest.split("\n")[:-1]]


def stored_in(house: House) -> list[dict[str, Any]]:
    """Every memory, page by page."""
    pages: list[dict[str, Any]] = []
    while more := house.call("list_memories", "team", who=ROOT, limit=1000, offset=len(pages))["items"]:
        pages += more
    return pages


def check(folder: Path, kills: int) -> None:
    chance = random.Random(7)
    told: list[int] = []
    begun = 0
    for _ in range(kills):
        numbers = killed_sender(folder, begun, chance.uniform(0.05, 0.4))
        told += numbers
        begun = (numbers[-1] if numbers else begun) + 100
    house = House(folder)
    try:
        anna = house.user("anna", allow("bank:retain"))
        house.retain("team", talk(("user", "Crate 999999 ends it.")), who=anna)
        assert set(house.run_jobs("team", most=10_000)) <= {"completed"}
        assert house.run_jobs("team") == []
        listed = stored_in(house)
    finally:
        house.close()
    stored = Counter(int(memory["text"].split("Crate ")[1].split()[0]) for memory in listed)
    assert set(stored.values()) == {1} and {memory["proof_count"] for memory in listed} == {1}
    assert set(told) <= set(stored)
    # What was stored without having been acknowledged: at most the turn in flight at each kill.
    assert len(set(stored) - set(told) - {999999}) <= kills


def test_two_kills_lose_and_double_no_turn(tmp_path: Path) -> None:
    check(tmp_path / "data", kills=2)


@pytest.mark.soak
def test_many_kills_lose_and_double_no_turn(tmp_path: Path) -> None:
    check(tmp_path / "data", kills=25)
