"""Data directories with and without a server."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_process import Lorebank

START_SECONDS = 60


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
    process = lorebank.start("serve", "--port", "0")
    try:
        _await(lorebank, process)
        yield lorebank
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=START_SECONDS)


def _await(lorebank: Lorebank, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(process.communicate())
        told = lorebank.run("version", "--json")
        if told.returncode == 0 and json.loads(told.stdout)["server"]:
            return
        time.sleep(0.05)
    raise AssertionError("the server did not answer")
