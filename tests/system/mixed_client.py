"""One client process of the concurrency test: mixed operations, then a look at whether its own work is there.

Run as `mixed_client.py PORT KEY_FILE NUMBER OPERATIONS SEED`; prints one line of JSON.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from live_server import Answer, Client, bank_path

BANKS = ("north", "south", "east")
SHARED = ("log-one", "log-two")
_WORK = ("retain", "append", "recall", "listing", "delete", "patch", "stats", "retain", "append", "recall")


@dataclass
class Mixed:
    """The work of one client, and its model of what must be there."""

    client: Client
    number: int
    random: random.Random
    own: dict[tuple[str, str], str] = field(default_factory=dict)
    shared: list[tuple[str, str, str]] = field(default_factory=list)
    patched: dict[tuple[str, str], str] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    made: int = 0

    def run(self, operations: int) -> None:
        """Do that many operations, then check the model."""
        for _ in range(operations):
            name = self.random.choice(_WORK)
            work: Callable[[str], None] = getattr(self, name)
            work(self.random.choice(BANKS))
        self.check()

    def send(self, method: str, path: str, body: Any = None, **query: Any) -> Answer:
        answer = self.client.request(method, path, body, query=query)
        self.statuses[answer.status] += 1
        if answer.status >= 500 or b"locked" in answer.body:
            self.wrong.append(f"{method} {path}: {answer.status} {answer.body[:200]!r}")
        return answer

    def token(self) -> str:
        self.made += 1
        return f"tok{self.number:02d}{self.made:06d}"

    def retain(self, bank: str) -> None:
        token = self.token()
        name = f"own-{self.number}-{self.made}"
        item = {"content": f"Warden keeps relic {token} in the cellar.", "document_id": name}
        if self.send("POST", bank_path(bank, "/memories"), {"items": [item]}).status == 200:
            self.own[bank, name] = token

    def append(self, bank: str) -> None:
        token, name = self.token(), self.random.choice(SHARED)
        item = {"content": f"Warden saw {token} pass.", "document_id": name, "update_mode": "append"}
        if self.send("POST", bank_path(bank, "/memories"), {"items": [item]}).status == 200:
            self.shared.append((bank, name, token))

    def recall(self, bank: str) -> None:
        own = [key for key in self.own if key[0] == bank and key not in self.patched]
        token = self.own[self.random.choice(own)] if own else "nothing"
        # The whole sentence: thousands of others differ from it in the token alone.
        question = f"Warden keeps relic {token} in the cellar."
        answer = self.send("POST", bank_path(bank, "/memories/recall"), {"query": question})
        if own and answer.status == 200 and not any(token in r["text"] for r in answer.json()["results"]):
            self.wrong.append(f"{token} was acknowledged and is not found in {bank}")

    def listing(self, bank: str) -> None:
        self.send("GET", bank_path(bank, "/memories/list"), limit=20, offset=self.random.randrange(20))

    def stats(self, bank: str) -> None:
        self.send("GET", bank_path(bank, "/stats"))

    def delete(self, bank: str) -> None:
        own = [name for of, name in self.own if of == bank]
        if not own:
            return
        name = self.random.choice(own)
        answer = self.send("DELETE", bank_path(bank, f"/documents/{name}"))
        if answer.status != 200:
            self.wrong.append(f"own document {name} could not be deleted: {answer.status}")
        del self.own[bank, name]
        self.patched.pop((bank, name), None)

    def patch(self, bank: str) -> None:
        own = [name for of, name in self.own if of == bank]
        if not own:
            return
        name, token = self.random.choice(own), self.token()
        rows = self.send("GET", bank_path(bank, "/memories/list"), document_id=name).json()["items"]
        if len(rows) != 1:
            self.wrong.append(f"document {name} has {len(rows)} memories")
            return
        path = bank_path(bank, f"/memories/{rows[0]['id']}")
        if self.send("PATCH", path, {"text": f"Warden moved relic {token} away."}).status == 200:
            self.patched[bank, name] = token

    def check(self) -> None:
        """Everything acknowledged is there, as last written."""
        for (bank, name), token in self.own.items():
            rows = self.send("GET", bank_path(bank, "/memories/list"), document_id=name).json()["items"]
            wanted = self.patched.get((bank, name), token)
            if len(rows) != 1 or wanted not in rows[0]["text"]:
                self.wrong.append(f"lost: {bank} {name} {wanted} {[row['text'] for row in rows]}")


def main(argv: list[str]) -> None:
    """See the module's docstring."""
    port, key_file, number, operations, seed = argv
    client = Client(int(port), Path(key_file).read_text().strip())
    mixed = Mixed(client, int(number), random.Random(f"{seed}-{number}"))
    mixed.run(int(operations))
    client.close()
    told = {
        "operations": sum(mixed.statuses.values()),
        "statuses": dict(mixed.statuses),
        "wrong": mixed.wrong[:20],
        "shared": mixed.shared,
        "own": len(mixed.own),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1:])
