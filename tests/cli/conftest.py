"""Data directories with and without a server."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_process import Lorebank

STOP_SECONDS = 60


@pytest.fixture
def alone(tmp_path: Path) -> Lorebank:
    """A data directory that no server runs on."""
    return Lorebank(tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> Lorebank:
    """The same without an embedder and in this process, which is faster."""
    return Lorebank(tmp_path, spawn=False, embedder="none")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lorebank]:
    """A data directory with a server of its own."""
    lorebank = Lorebank(tmp_path_factory.mktemp("served"), spawn=False)
    process = lorebank.start("serve", "--port", "0", "--json")
    try:
        assert process.stdout is not None
        announced = process.stdout.readline()
        assert announced, process.communicate(timeout=STOP_SECONDS)
        assert json.loads(announced)["url"].startswith("http://127.0.0.1:")
        yield lorebank
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=STOP_SECONDS)
    assert process.returncode in (0, -signal.SIGTERM)
