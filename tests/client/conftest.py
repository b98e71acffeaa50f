"""A real server process on an empty data directory, and the published client library to speak with it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hindsight_client import Hindsight

KEY = "hc_u_" + "5" * 32
START_SECONDS = 30.0
STOP_SECONDS = 10.0
SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Server:
    """Where the server listens, its key, and its log."""

    url: str
    key: str
    port: int
    log: Path


@contextmanager
def run_server(folder: Path, *options: str) -> Iterator[Server]:
    """A server process on `folder`, ended at the end of the block."""
    port = _free_port()
    command = [sys.executable, "-m", "lorebank", "serve", "--data-dir", str(folder / "data")]
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    environ = os.environ | {"LOREBANK_ROOT_API_KEY": KEY, "PYTHONPATH": path}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port), *options], stdout=log, stderr=subprocess.STDOUT, env=environ
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process, folder / "log")
        yield Server(url, KEY, port, folder / "log")
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with run_server(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture
def open_server(tmp_path: Path) -> Iterator[Server]:
    """A server that was started without keys."""
    with run_server(tmp_path, "--no-auth") as started:
        yield started


@pytest.fixture
def plain_loop() -> Iterator[None]:
    """The event loop that the library's plain methods run on; they never close one of their own."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def client(server: Server, plain_loop: None) -> Iterator[Hindsight]:
    with Hindsight(base_url=server.url, api_key=server.key, timeout=60.0) as made:
        yield made


@pytest.fixture
async def aclient(server: Server) -> AsyncIterator[Hindsight]:
    made: Any = Hindsight(base_url=server.url, api_key=server.key, timeout=60.0)
    yield made
    await made.aclose()


@pytest.fixture
def bank() -> str:
    """A bank id that no other test uses, with characters that need care."""
    return f"team/räume::{uuid.uuid4().hex[:8]}"


@pytest.fixture
def ended() -> Any:
    """`await ended(client, bank, operation_id)`: the status of an operation once it has ended."""

    async def wait(client: Hindsight, bank_id: str, operation_id: str) -> Any:
        for _ in range(300):
            status = await client.operations.get_operation_status(bank_id, operation_id)
            if status.status not in ("pending", "processing"):
                return status
            await asyncio.sleep(0.05)
        raise AssertionError(f"operation is still {status.status}: {status.to_dict()}")

    return wait


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise AssertionError(f"the server ended with {process.returncode}:\n{log.read_text()[-4000:]}")
        try:
            with urllib.request.urlopen(url + "/health/ready", timeout=2):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise AssertionError(f"the server was not ready in time:\n{log.read_text()[-4000:]}")
