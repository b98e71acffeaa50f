"""Waiting for the parts of lorebank that come a moment later: the model, and the vectors of new memories.

A server has them ready. A command that does the work itself starts cold and would otherwise search
by keyword only, or end before the vectors of what it retained are made.
"""

from __future__ import annotations

import time
from typing import Any

from lorebank.cli.api import Api

SECONDS = 30.0
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5


def wait_for_model(api: Api, seconds: float = SECONDS) -> None:
    """Wait until the embedder is loaded, off or failed, or the time is over."""
    _wait(api, seconds, vectors=False)


def wait_for_vectors(api: Api, seconds: float = SECONDS) -> None:
    """Wait until every memory has its vector, unless there is no embedder or the time is over."""
    _wait(api, seconds, vectors=True)


def _wait(api: Api, seconds: float, *, vectors: bool) -> None:
    deadline = time.monotonic() + seconds
    pause = FIRST_PAUSE
    while (
        not _settled(api.get("/v1/lorebank/status", counts=vectors), vectors=vectors)
        and time.monotonic() < deadline
    ):
        time.sleep(pause)
        pause = min(pause * 1.3, LONGEST_PAUSE)


def _settled(status: dict[str, Any], *, vectors: bool) -> bool:
    state = status["models"]["embedder"]["state"]
    if state == "ready":
        return not (vectors and status["pending"]["vectors"])
    return bool(state != "loading")
