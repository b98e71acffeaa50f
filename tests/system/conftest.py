"""Servers for the tests: one for a module, or one of a test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from live_server import Client, Server


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Makes servers that end with the test: `make_server(name="a", LOREBANK_X="…")`, not started."""
    made: list[Server] = []

    def make(name: str = "server", **settings: str) -> Server:
        home = tmp_path / name
        home.mkdir(exist_ok=True)
        made.append(Server(home, settings))
        return made[-1]

    yield make
    for server in made:
        server.__exit__()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running server that the tests of a module share; each uses banks of its own."""
    with Server(tmp_path_factory.mktemp("served"), {"LOREBANK_JOB_BACKOFF": "0"}).start() as server:
        yield server


@pytest.fixture
def client(served: Server) -> Iterator[Client]:
    """A client of the shared server with the root key."""
    client = served.client()
    yield client
