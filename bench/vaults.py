"""Knowledge stores over HTTP at 10,000 records: opening, searching with and without the watcher, saving."""

from __future__ import annotations

import itertools
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from running import Running, server
from vault_files import Made, questions

from client import Reply, spread
from lorebank import clock
from lorebank.access.audience import PRIVATE, Partition
from lorebank.access.audience_token import make_token

Note = Callable[[str, Any], None]
_TOOLS = "/v1/lorebank/knowledge/tools"
_SESSION = str(uuid.UUID(int=7, version=4))
_CROWD = str(uuid.UUID(int=8, version=4))
_MOST_FILES = 100_000
_UNWATCHED = {"LOREBANK_WATCH_VAULTS": "false"}


class Agent:
    """An agent on one connection; each call has a token of its own, made before the clock runs."""

    def __init__(self, run: Running, data: Path, session: str | None = None) -> None:
        self._run, self._client = run, run.connect()
        self._secret = (data / "audience.key").read_text().strip()
        self._claims = {"agent": "main", "visibility": "owner-private", "invocation": "bench"}
        if session is not None:
            self._claims |= {
                "visibility": "conversation",
                "session_key": f"agent:main:bench:{session}",
                "session_id": session,
            }

    def tool(self, name: str, **body: Any) -> Reply:
        """One call, which may fail."""
        self._client.use(make_token(self._claims, self._secret, 300, clock.now()))
        return self._client.call("POST", f"{_TOOLS}/knowledge_{name}", body)

    def must(self, name: str, **body: Any) -> Reply:
        """One call, which may not."""
        reply = self.tool(name, **body)
        if reply.status != 200:
            raise SystemExit(f"knowledge_{name} answered {reply.status}: {reply.body[:300]!r}")
        return reply

    def timed(self, calls: Iterable[tuple[str, dict[str, Any]]], seconds: float = 30.0) -> dict[str, Any]:
        """The calls one after another, at most `seconds` long."""
        began, taken, before = time.perf_counter(), [], self._run.cpu_ms()
        for name, body in calls:
            taken.append(self.must(name, **body).ms)
            if time.perf_counter() - began > seconds:
                break
        used = (self._run.cpu_ms() - before) / len(taken)
        return {**spread(taken), "per_s": round(1000 * len(taken) / sum(taken), 1), "cpu_ms": round(used, 1)}


def measure(folder: Path, cache: Path, note: Note) -> None:
    """Everything, in a data directory below `folder`."""
    data = folder / "vaults"
    with server(data, cache) as run:
        Agent(run, data).must("remember", text="The first record makes the store.")
    vault = next((data / "knowledge" / "stores").iterdir()) / "vault"
    made = Made(PRIVATE, "private").whole()
    made.write(vault / "private")
    talk = Made(Partition(_SESSION), "talk").some_claims(1_000, 250)
    talk.write(vault / "conversations" / _SESSION)
    with _opened(data, cache, note, "vault: first index of 10,000 records, s"):
        pass
    time.sleep(2.5)  # stamps younger than two seconds are not relied upon
    with _opened(data, cache, note, "vault: opened again, unchanged, s") as (run, agent):
        note("vault: resident MB with 10,000 records open", run.resident_mb())
        note("vault: search, watched", agent.timed(_searches(400)))
        _reading(agent, made, note)
        _saving(agent, made, note)
        note("vault: search between saves, watched", _between_saves(agent))
        talking = Agent(run, data, _SESSION)
        talking.must("search", query="first")
        note("vault: search of a conversation of 1,000 records", talking.timed(_searches(200)))
        note("vault: resident MB after saves", run.resident_mb())
    with server(data, cache, **_UNWATCHED) as run:
        agent = Agent(run, data)
        agent.must("search", query="first")
        note("vault: search, watcher off", agent.timed(_searches(200)))
        _saving(agent, made, note, ", watcher off")
    _crowd(data, vault, cache, note)


@contextmanager
def _opened(data: Path, cache: Path, note: Note, name: str) -> Iterator[tuple[Running, Agent]]:
    """A new server process; noted is how long its first search takes."""
    with server(data, cache) as run:
        agent = Agent(run, data)
        found = agent.must("search", query="who measured the ledger")
        if not found.json()["total"]:
            raise SystemExit("the vault's records were not found")
        note(name, round(found.ms / 1000, 2))
        yield run, agent


def _searches(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    return (("search", {"query": text}) for text in questions(count))


def _reading(agent: Agent, made: Made, note: Note) -> None:
    ids = itertools.islice(itertools.cycle(made.claims), 0, 200 * 37, 37)
    note("vault: get a claim with its evidence", agent.timed(("get", {"ids": [one]}) for one in ids))
    note("vault: get 20 records", agent.timed(("get", {"ids": made.claims[n : n + 20]}) for n in range(40)))
    note("vault: context for a prompt", agent.timed(("context", {}) for _ in range(60)))


def _saving(agent: Agent, made: Made, note: Note, mode: str = "") -> None:
    mark = f"{os.getpid()}{mode}"
    texts = [f"Number {n} of {mark} was noted by {made.name()}." for n in range(120)]
    note(f"vault: remember{mode}", agent.timed((("remember", {"text": text}) for text in texts), 20))
    revision = 1 if not mode else 81
    pages = ((made.pages[3], at) for at in range(revision, revision + 80))
    note(f"vault: save a page's section{mode}", agent.timed((_section(*page) for page in pages), 20))
    claims = [
        ("save_claim", {"id": one, "expectedRevision": 1, "text": f"Corrected: {mark} {one}."})
        for one in (made.claims[-80:] if mode else made.claims[:80])
    ]
    note(f"vault: save a claim{mode}", agent.timed(claims, 20))


def _section(page: str, revision: int) -> tuple[str, dict[str, Any]]:
    section = {"heading": "State", "text": f"Now at number {revision}."}
    return "save_page", {"id": page, "expectedRevision": revision, "section": section}


def _between_saves(agent: Agent) -> dict[str, Any]:
    taken = []
    for number, text in enumerate(questions(60)):
        agent.must("remember", text=f"Between searches, number {number}.")
        taken.append(agent.must("search", query=text).ms)
    return {**spread(taken), "per_s": round(1000 * len(taken) / sum(taken), 1)}


def _crowd(data: Path, vault: Path, cache: Path, note: Note) -> None:
    """A partition with as many files as it may have, and with one more."""
    folder = vault / "conversations" / _CROWD
    for at in range(_MOST_FILES // 500):
        place = folder / "attachments" / f"{at:04}"
        place.mkdir(parents=True)
        for number in range(500 - 1 if at else 500 - 2):  # folders count as entries too
            (place / f"{number}.bin").touch()
    with server(data, cache) as run:
        agent = Agent(run, data, _CROWD)
        agent.must("search", query="first")
        note("vault: search of a partition with 100,000 entries", agent.timed(_searches(10)))
        (folder / "one-more.bin").touch()
        refused = agent.tool("search", query="first")
        note("vault: with one entry more", f"{refused.status} {refused.json().get('reason', '')}".strip())
