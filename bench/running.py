"""A server process under measurement."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from client import Client

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Running:
    """A server process under measurement."""

    base_url: str
    key: str
    pid: int
    ready_s: float

    def connect(self) -> Client:
        """A fresh connection."""
        return Client(self.base_url, self.key)

    def connect_as(self, key: str) -> Client:
        """A fresh connection of somebody else."""
        return Client(self.base_url, key)

    def resident_mb(self) -> int:
        """Resident memory of the process in MiB."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) // 1024
        return 0

    def cpu_ms(self) -> float:
        """Processor time that the process has used, in milliseconds: what other work on the machine does
        not change."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(data: Path, cache: Path, **settings: str) -> Iterator[Running]:
    """The server on `data`, started and stopped; `ready_s` runs until health answers. `settings` are
    variables of its environment."""
    port = _free_port()
    command = [sys.executable, str(_HERE / "serve.py"), "--data-dir", str(data), "--port", str(port)]
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OPENBLAS_CORETYPE", "OPENBLAS_L2"))}
    began = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--cache", str(cache)], env={**environ, **settings}, stdout=subprocess.DEVNULL
    )
    try:
        _wait_healthy(port, process)
        ready = time.perf_counter() - began
        key = (data / "root.key").read_text().strip()
        yield Running(f"http://127.0.0.1:{port}", key, process.pid, ready)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_healthy(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(3000):
        if process.poll() is not None:
            raise SystemExit("the server ended at once")
        try:
            if Client(f"http://127.0.0.1:{port}", "", 5).call("GET", "/health").status == 200:
                return
        except OSError:
            time.sleep(0.01)
    raise SystemExit("the server did not become healthy")
