"""Two agents publish at once, and a person edits the same file meanwhile."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vault_publish_store import Store, draft, sha, text

from lorebank.errors import Conflict, RevisionConflict
from lorebank.vaults.publish.history import content_of
from lorebank.vaults.publish.parts import Order
from lorebank.vaults.publish.publish import publish
from lorebank.vaults.store.values import Draft

SAVES, EDITS = 15, 8


def renamed_over(path: Path, raw: bytes) -> None:
    """As most editors save."""
    temporary = path.with_name(".s.md.swp")
    temporary.write_bytes(raw)
    os.replace(temporary, path)


def written_in_place(path: Path, raw: bytes) -> None:
    """As some others do."""
    with path.open("r+b") as file:
        file.truncate()
        file.write(raw)


class Everybody:
    """Agents and an editor on one record, `s.md`; every text that one of them finished saving is noted."""

    def __init__(self, store: Store) -> None:
        self.store, self.lane = store, threading.Lock()
        self.saved: list[bytes] = []
        self.refused = 0
        self.failures: list[BaseException] = []
        self.agents_left = 2

    def agent(self, name: str) -> None:
        for number in range(SAVES):
            while not self.one_save(name, number):
                self.refused += 1
        self.agents_left -= 1

    def one_save(self, name: str, number: int) -> bool:
        order = Order(f"{name}-{number}", "d", self.store.desk.partition, name)
        made: list[bytes] = []

        def plan(view: Any) -> Draft:
            last = self.store.state.last_revisions("private")["s"]
            made.append(text("s", last + 1, f"{name} {number}"))
            return draft(view, {"s.md": made[-1]})

        try:
            with self.lane:
                publish(self.store.parts, self.store.desk, order, plan)
        except (RevisionConflict, Conflict):
            return False
        self.saved.append(made[-1])
        return True

    def editor(self) -> None:
        path = self.store.root / "vault/private/s.md"
        ways: list[Callable[[Path, bytes], None]] = [renamed_over, written_in_place]
        for number in range(EDITS):
            raw = text("s", 1, f"by hand {number}")
            ways[number % 2](path, raw)
            self.saved.append(raw)
            self.wait_until_known(raw)

    def wait_until_known(self, raw: bytes) -> None:
        """A person who saves again would overwrite his own text. It must come into history by itself."""
        until = time.monotonic() + 20
        while sha(raw) not in {one.sha256 for one in self.store.state.history("private", "s", None, 9999)}:
            assert time.monotonic() < until, f"{raw!r} is lost"
            if not self.agents_left:
                with self.lane:
                    self.store.desk.refresh()
            time.sleep(0.001)

    def run(self) -> None:
        threads = [threading.Thread(target=self.guarded, args=one) for one in self.work()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    def work(self) -> list[tuple[Callable[..., None], str]]:
        return [(self.agent, "one"), (self.agent, "two"), (lambda _: self.editor(), "")]

    def guarded(self, work: Callable[..., None], name: str) -> None:
        try:
            work(name)
        except BaseException as exc:
            self.agents_left -= 1
            self.failures.append(exc)


@pytest.mark.statement("1.7.63")
def test_two_agents_and_an_editor_on_one_file_lose_nothing(store: Store) -> None:
    store.save({"s.md": text("s", 1, "first")})
    everybody = Everybody(store)
    everybody.run()
    store.desk.refresh()
    lines = store.state.history("private", "s", None, 9999)
    texts = {content_of(store.state, store.tree, store.git, one) for one in lines}
    assert len(everybody.saved) == 2 * SAVES + EDITS and set(everybody.saved) <= texts
    revisions = [one.revision for one in reversed(lines) if one.revision]
    assert revisions == sorted(set(revisions))
    agents = {one.agent for one in lines if one.change == "save"}
    assert agents == {"one", "two", "main"} and store.committed("s.md") == store.read("s.md")
    assert not [path for path in (store.root / "vault/private").iterdir() if path.name != "s.md"]
