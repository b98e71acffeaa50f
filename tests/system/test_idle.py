"""A server that nobody asks does nothing, and leaves no process behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from live_server import Server, until

_WATCHED_S = 5.0


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[str]:
    """The processes that a process has started."""
    found: list[str] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += (task / "children").read_text().split()
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("settings", [{"LOREBANK_IDLE_TIMEOUT": "600"}, {"LOREBANK_EMBEDDER": "none"}])
def test_an_idle_server_uses_no_processor_and_has_no_child(
    make_server: Callable[..., Server], settings: dict[str, str]
) -> None:
    with make_server(**settings).start() as server:
        client = server.client()
        client.retain("a", {"content": "Mara keeps the spare key under the blue pot."})
        client.retain("a", {"content": "Mara feeds the heron at noon."}, **{"async": True})
        client.recall("a", "spare key", budget="high")
        if not settings.get("LOREBANK_EMBEDDER"):
            client.settled()
        until(lambda: not client.bank("a", "/stats")["pending_operations"], "the batch")
        time.sleep(1.0)
        before = cpu_seconds(server.pid)
        time.sleep(_WATCHED_S)
        assert cpu_seconds(server.pid) - before < 0.01 * _WATCHED_S
        assert children(server.pid) == []


def test_waiting_for_a_retry_costs_nothing(make_server: Callable[..., Server]) -> None:
    settings = {
        "LOREBANK_EMBEDDER": "hosted",
        "LOREBANK_EMBED_BASE_URL": "http://127.0.0.1:9/v1",
        "LOREBANK_EMBED_MODEL": "nobody",
        "LOREBANK_EMBED_DIMENSION": "8",
    }
    with make_server(**settings).start() as server:
        client = server.client()
        client.retain("a", {"content": "Mara keeps the spare key under the blue pot."})
        time.sleep(1.0)
        before = cpu_seconds(server.pid)
        time.sleep(_WATCHED_S)
        assert cpu_seconds(server.pid) - before < 0.05 * _WATCHED_S
        assert client.recall("a", "spare key"), "keyword recall works without vectors"


def test_restarts_leave_no_process_and_no_lock(make_server: Callable[..., Server]) -> None:
    server = make_server(LOREBANK_EMBEDDER="none")
    for how in ("kill", "stop", "kill"):
        server.start()
        pid = server.pid
        started = set(children(pid))
        getattr(server, how)()
        assert not Path(f"/proc/{pid}").exists()
        assert not any(Path(f"/proc/{child}").exists() for child in started)
