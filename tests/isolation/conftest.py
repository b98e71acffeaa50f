"""One server with planted banks and all kinds of callers, for the whole folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "system"))

from access_world import SETTINGS, World
from live_server import Server


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server process."""
    home = tmp_path_factory.mktemp("isolation")
    knowledge = home / "knowledge.json5"
    knowledge.write_text("{operatorRead: true}", encoding="utf-8")
    settings = {**SETTINGS, "LOREBANK_KNOWLEDGE_CONFIG": str(knowledge)}
    with Server(home, settings).start() as server:
        yield server


@pytest.fixture(scope="session")
def world(running: Server) -> World:
    """Everything planted in it."""
    return World(running)
