"""Kills in a row: start, work, kill, start, look; with figures for the soak's report."""

from __future__ import annotations

import random
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from crash_ledger import Bank, Ledger, sentence
from crash_load import KINDS, Load, work_until_killed
from embeddings import Embeddings
from live_server import Server

_LONGEST_S = {"reembed": 1.5}
_USUALLY_S = 0.5
_ARCHIVED, _FACTS = 8, 12


@dataclass
class Outcome:
    """What was done."""

    kills: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    between_models: int = 0
    """Kills that left a bank on its way from one model to another."""
    seconds: float = 0.0


def crash(home: Path, kills: int, seed: int) -> Outcome:
    """Kill a server `kills` times at random moments and compare it with the ledger after each restart."""
    outcome, began = Outcome(), time.monotonic()
    order = random.Random(seed)
    with Embeddings() as embeddings:
        server = Server(home, embeddings.settings(LOREBANK_LOG_LEVEL="warning"))
        with server.start():
            archive, held = _archive(server)
            ledger = Ledger()
            loads = [
                Load(str(number), random.Random(f"{seed}-{number}"), ledger, archive, held)
                for number in (1, 2)
            ]
            kinds = [KINDS[place % len(KINDS)] for place in range(kills)]
            order.shuffle(kinds)
            for kind in kinds:
                embeddings.wait_s = 0.03 if kind == "reembed" else 0.0
                _round(server, loads, kind, order.uniform(0.0, _LONGEST_S.get(kind, _USUALLY_S)), outcome)
                embeddings.wait_s = 0.0
                _look(server, ledger)
            _look(server, ledger, everything=True)
    outcome.seconds = time.monotonic() - began
    return outcome


def _archive(server: Server) -> tuple[bytes, Bank]:
    """An exported bank and what it holds; the bank itself is deleted again."""
    client, bank = server.client(), Bank()
    items = []
    for number in range(_ARCHIVED):
        name, tokens = f"archived-{number}", [f"tok0{number:03d}{fact:03d}" for fact in range(_FACTS)]
        bank = bank.put(name, tokens)
        items.append({"content": "\n\n".join(map(sentence, tokens)), "document_id": name})
    client.retain("source", *items)
    client.settled()
    archive = client.exported("source")
    client.request("DELETE", "/v1/default/banks/source").ok()
    client.close()
    return archive, bank


def _round(server: Server, loads: list[Load], kind: str, delay_s: float, outcome: Outcome) -> None:
    before = sum(load.requests for load in loads)
    clients = [server.client() for _ in loads]

    def kill() -> None:
        time.sleep(delay_s)
        server.kill()

    work_until_killed(loads, kind, clients, kill)
    for client in clients:
        client.close()
    outcome.kills[kind] += 1
    outcome.requests[kind] += sum(load.requests for load in loads) - before
    outcome.between_models += _between_models(server)
    server.start()


def _between_models(server: Server) -> bool:
    """Whether a bank of the killed server was being re-embedded; looked up in copies, to disturb nothing."""
    copies = server.home / "copies"
    found = False
    for store in server.data_dir.glob("banks/*"):
        shutil.copytree(store, copies)
        db = sqlite3.connect(copies / "state.sqlite")
        with suppress(sqlite3.OperationalError):  # a bank that was only being made has no tables yet
            found |= bool(db.execute("SELECT count(*) FROM meta WHERE name = 'reembed_target'").fetchone()[0])
        db.close()
        shutil.rmtree(copies)
    return found


def _look(server: Server, ledger: Ledger, *, everything: bool = False) -> None:
    client = server.client()
    client.settled()
    ledger.verify(client, everything=everything)
    status = client.get("/v1/lorebank/status")
    assert status["pending"]["failed_operations"] == 0, status
    assert client.doctor()["checked"] == status["banks"] + 1
    client.close()
    _check_vectors(server.data_dir)
    assert "ERROR" not in server.log, server.log[-3000:]


def _check_vectors(data_dir: Path) -> None:
    """Every valid memory has a vector, all of a bank from one model."""
    for store in data_dir.glob("banks/*/state.sqlite"):
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
            found = db.execute(
                "SELECT (SELECT count(DISTINCT model_key) FROM vectors),"
                " (SELECT count(*) FROM memories WHERE state = 'valid' AND key NOT IN"
                " (SELECT memory_key FROM vectors))"
            ).fetchone()
        db.close()
        assert found[0] <= 1, f"{store.parent.name}: vectors of {found[0]} models"
        assert found[1] == 0, f"{store.parent.name}: {found[1]} memories without a vector"
