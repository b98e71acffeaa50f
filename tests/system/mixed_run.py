"""Many client processes against one server, and whether a single write was lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from live_server import Client, Server
from mixed_client import BANKS

_SCRIPT = Path(__file__).with_name("mixed_client.py")
_LONGEST_S = 1800


def run_mixed(server: Server, clients: int, operations: int, seed: int) -> int:
    """Let `clients` processes do `operations` each; how many requests they sent. Fails on any loss."""
    client = server.client()
    for bank in BANKS:
        client.retain(bank, {"content": "The cellar of the old mill is dry.", "document_id": "first"})
    own, shared, sent = _told(server, clients, operations, seed)
    client = server.client()  # the server has closed the idle connection by now
    _check_shared(client, shared)
    documents = sum(len(client.documents(bank)) for bank in BANKS)
    assert documents == own + len(BANKS) + len({(bank, name) for bank, name, _ in shared})
    client.settled()
    client.doctor()
    assert "ERROR" not in server.log, server.log[-3000:]
    return sent


def _told(
    server: Server, clients: int, operations: int, seed: int
) -> tuple[int, list[tuple[str, str, str]], int]:
    arguments = [str(server.port), str(server.data_dir / "root.key")]
    running = [
        subprocess.Popen(
            [sys.executable, str(_SCRIPT), *arguments, str(number), str(operations), str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(clients)
    ]
    own, shared, sent = 0, [], 0
    for process in running:
        out, err = process.communicate(timeout=_LONGEST_S)
        assert process.returncode == 0, err[-3000:]
        told = json.loads(out)
        assert told["wrong"] == [], told["wrong"]
        assert {int(status) for status in told["statuses"]} == {200}, told["statuses"]
        own += told["own"]
        sent += told["operations"]
        shared += [tuple(entry) for entry in told["shared"]]
    return own, shared, sent


def _check_shared(client: Client, shared: list[tuple[str, str, str]]) -> None:
    """Every acknowledged addition to a shared document is in its text once, and in one memory."""
    wanted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for bank, name, token in shared:
        wanted[bank, name][token] += 1
    for (bank, name), tokens in wanted.items():
        text = client.bank(bank, f"/documents/{name}")["original_text"]
        held = " ".join(row["text"] for row in client.memories(bank, document_id=name))
        lost = [token for token in tokens if text.count(token) != 1 or held.count(token) != 1]
        assert not lost, (
            f"{bank} {name}: {len(lost)} of {len(tokens)} additions are lost or doubled: {lost[:10]}"
        )
