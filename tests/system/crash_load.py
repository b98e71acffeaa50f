"""The kinds of work that a server is killed in: each is a load that goes on until the server is gone."""

from __future__ import annotations

import itertools
import random
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from crash_ledger import Bank, Ledger, sentence, tokens_in
from live_server import Client, File, Gone, bank_path

_MOST_DOCUMENTS = 60


@dataclass
class Load:
    """One client's work on banks of its own. The same seed does the same work."""

    name: str
    random: random.Random
    ledger: Ledger
    archive: bytes
    held: Bank
    """What the archive holds."""
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    requests: int = 0
    to_hosted: bool = True

    def run(self, kind: str, client: Client) -> None:
        """Work until the server is gone."""
        work: Callable[[Client, str], None] = getattr(self, kind)
        try:
            while True:
                work(client, f"{self.name}-{self.random.randrange(2)}")
                self.requests += 1
        except Gone:
            pass

    # what the kinds do

    def retain(self, client: Client, bank: str) -> None:
        """One to five items, some of which replace a document or add to one."""
        state = self._state(bank)
        name, how = self._document(state)
        tokens = self._tokens(self.random.randint(1, 5))
        if how == "append":
            item = {"content": _text(tokens), "document_id": name, "update_mode": "append"}
            self.ledger.change(bank, state.append(name, tokens), lambda: client.retain(bank, item))
            return
        item = {"content": _text(tokens), "document_id": name}
        self.ledger.change(bank, state.put(name, tokens), lambda: client.retain(bank, item))

    def retain_async(self, client: Client, bank: str) -> None:
        """Batches in the background, each under an id of its own, sent once more when unsure."""
        state = self._state(bank)
        items: list[dict[str, str]] = []
        for _ in range(self.random.choice((1, 3, 30))):
            if items and self.random.random() < 0.2:
                break
            name, tokens = self._new_name(), self._tokens(2)
            state = state.put(name, tokens)
            items.append({"content": _text(tokens), "document_id": name})
        if self.random.random() < 0.5 and self._state(bank).documents:
            name = self.random.choice(sorted(self._state(bank).documents))
            tokens = self._tokens(1)
            state = state.append(name, tokens)
            items.append({"content": _text(tokens), "document_id": name, "update_mode": "append"})
        operation = str(uuid.UUID(int=self.random.getrandbits(128), version=4))

        def send() -> None:
            client.retain(bank, *items, **{"async": True, "operation_id": operation})

        self.ledger.change(bank, state, send)
        send()  # the same request again is the same operation
        self.ledger.accepted.append((bank, operation))

    def files(self, client: Client, bank: str) -> None:
        """Two text files at once."""
        state, files = self._state(bank), []
        metadata = []
        for _ in range(2):
            name, tokens = self._new_name(), self._tokens(3)
            state = state.put(name, tokens)
            files.append(File("files", f"{name}.txt", _text(tokens).encode()))
            metadata.append(f'{{"document_id": "{name}"}}')
        fields = {"request": f'{{"files_metadata": [{", ".join(metadata)}]}}'}

        def send() -> list[str]:
            path = bank_path(bank, "/files/retain")
            ids: list[str] = client.request("POST", path, files=files, fields=fields).ok()["operation_ids"]
            return ids

        ids: list[str] = self.ledger.change(bank, state, send)
        self.ledger.accepted += [(bank, operation) for operation in ids]

    def transfer(self, client: Client, bank: str) -> None:
        """Import an archive into a new bank, or copy one that was imported before."""
        target = f"{self.name}-import-{next(self.numbers)}"
        path = bank_path("transfers", "/transfer/import")
        files = [File("file", "bank.zip", self.archive, "application/zip")]
        query = {"target_bank_id": target}

        def send() -> str:
            return str(client.request("POST", path, query=query, files=files).ok()["operation_id"])

        operation = self.ledger.change(target, self.held, send)
        self.ledger.accepted.append(("transfers", operation))
        if self.random.random() < 0.7:
            client.completed("transfers", operation)
            self.ledger.change(target, None, lambda: client.request("DELETE", bank_path(target)).ok())

    def reembed(self, client: Client, bank: str) -> None:
        """Ask for other vectors, while memories come and go."""
        self.to_hosted = not self.to_hosted
        asked = {"to": "hosted" if self.to_hosted else "local"}
        answer = client.request("POST", "/v1/lorebank/reembed", asked)
        assert answer.status in (202, 409), answer
        for _ in range(self.random.randint(1, 6)):
            self.retain(client, bank)
            client.recall(bank, "Who keeps a relic in the cellar?")

    def delete_documents(self, client: Client, bank: str) -> None:
        """Delete a document, or make new ones when few are left."""
        state = self._state(bank)
        if len(state.documents) < 3:
            self.retain(client, bank)
            return
        name = self.random.choice(sorted(state.documents))
        path = bank_path(bank, f"/documents/{name}")
        self.ledger.change(bank, state.drop(name), lambda: client.request("DELETE", path).ok())

    def delete_memories(self, client: Client, bank: str) -> None:
        """Retain, invalidate and clear."""
        self.retain(client, bank)
        state = self._state(bank)
        if self.random.random() < 0.3:
            path = bank_path(bank, "/memories")
            self.ledger.change(bank, state.hold(()), lambda: client.request("DELETE", path).ok())
            return
        if not state.memories:
            return
        (row, *_) = client.bank(bank, "/memories/list", limit=1)["items"]
        path = bank_path(bank, f"/memories/{row['id']}")
        after = state.hold(state.memories - set(tokens_in(row["text"])))
        change = {"state": "invalidated", "reason": "wrong"}
        self.ledger.change(bank, after, lambda: client.request("PATCH", path, change).ok())

    def delete_banks(self, client: Client, bank: str) -> None:
        """Make a bank, fill it, delete it."""
        own = f"{self.name}-short-{next(self.numbers)}"
        for _ in range(self.random.randint(1, 3)):
            self.retain(client, own)
        self.ledger.change(own, None, lambda: client.request("DELETE", bank_path(own)).ok())

    # parts

    def _state(self, bank: str) -> Bank:
        return self.ledger.state(bank) or Bank()

    def _tokens(self, count: int) -> list[str]:
        return [f"tok{self.name}{next(self.numbers):06d}" for _ in range(count)]

    def _new_name(self) -> str:
        return f"d{next(self.numbers)}"

    def _document(self, state: Bank) -> tuple[str, str]:
        """A document for a retain and what to do with it."""
        known = sorted(state.documents)
        if not known or (len(known) < _MOST_DOCUMENTS and self.random.random() < 0.6):
            return self._new_name(), "replace"
        return self.random.choice(known), self.random.choice(("replace", "append", "replace"))


def _text(tokens: list[str]) -> str:
    return "\n\n".join(map(sentence, tokens))


KINDS = (
    "retain",
    "retain_async",
    "files",
    "transfer",
    "reembed",
    "delete_documents",
    "delete_memories",
    "delete_banks",
)


def work_until_killed(loads: list[Load], kind: str, clients: list[Client], kill: Callable[[], None]) -> None:
    """All loads at once, each on a thread; `kill` ends the server under them. Their failures are raised."""
    failures: list[BaseException] = []

    def run(load: Load, client: Client) -> None:
        try:
            load.run(kind, client)
        except BaseException as exc:
            failures.append(exc)

    threads = [
        threading.Thread(target=run, args=pair, daemon=True) for pair in zip(loads, clients, strict=True)
    ]
    for thread in threads:
        thread.start()
    kill()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a client waits for a server that is gone"
    if failures:
        raise failures[0]
