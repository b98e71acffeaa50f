"""Waiting for the parts of lorebank that come a moment later: the model, and the vectors of new memories.

A server has them ready. A command that does the work itself starts cold and would otherwise search
by keyword only, or end before the vectors of what it retained are made.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from lorebank.cli.api import Api
from lorebank.cli.failures import CliError

SECONDS = 30.0
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5


def wait_for_model(api: Api, seconds: float = SECONDS) -> None:
    """Wait until the embedder is loaded, off or failed, or the time is over."""
    _wait(lambda: api.get("/health/ready")["models"]["embedder"] != "loading", seconds)


def wait_for_vectors(api: Api, seconds: float = SECONDS) -> None:
    """Wait until every memory has its vector, unless there is no embedder or the time is over.

    Who may not read the server's state waits for nothing: a command that ends makes the vectors of
    what it retained in any case."""
    try:
        _wait(lambda: _settled(api.get("/v1/lorebank/status", counts=True)), seconds)
    except CliError as exc:
        if exc.code != "forbidden":
            raise


def _wait(done: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    pause = FIRST_PAUSE
    while not done() and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.3, LONGEST_PAUSE)


def _settled(status: dict[str, Any]) -> bool:
    state = status["models"]["embedder"]["state"]
    return bool(not status["pending"]["vectors"] if state == "ready" else state != "loading")
