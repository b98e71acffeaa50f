"""A made-up vault, the same for every run: pages, claims with evidence, relationships, as files on disk.

Nobody saved them through the product: they are what a person brings with, so the first index reads them all.
"""

from __future__ import annotations

import hashlib
import random
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lorebank.access.audience import Partition
from lorebank.vaults.evidence.descriptors import content_path, descriptor_path, encode
from lorebank.vaults.record.render import render_record
from lorebank.vaults.record.values import FORMAT
from lorebank.vaults.store.values import Descriptor

_PAGES = (("person", "people", 1200), ("company", "companies", 400), ("project", "projects", 400))
_SOURCES = 2_500
_CLAIMS = 7_500
_RELATIONSHIPS = 500
_FOLDER_FILES = 250
_WHEN = "2026-11-01T08:00:00Z"
_FIRST, _LAST, _NOUNS, _VERBS, _FILL = (
    line.split()
    for line in (
        "Ada Bruno Carmen Dilek Esther Fumi Goran Helmi Ines Jonas Keiko Lev Mara Nils Olga Pavel",
        "Abara Brandt Costa Demir Eklund Farkas Grieg Holm Ito Jansen Kovacs Lund Moreau Novak Okoye",
        "ledger orchard ferry lantern bridge kiln harbour archive tablet scanner garden engine mill quarry",
        "measured signed shipped repaired described moved opened closed painted counted lent sold",
        "north south early late quiet open wooden iron second third common narrow river market winter summer",
    )
)


class Made:
    """One partition's files: `files` by path relative to the partition, and what to ask for."""

    def __init__(self, partition: Partition, seed: str) -> None:
        self.files: dict[str, bytes] = {}
        self.pages: list[str] = []
        self.claims: list[str] = []
        self._partition, self._pick = partition, random.Random(seed)
        self._full: Counter[str] = Counter()

    @property
    def records(self) -> int:
        """How many of the files are records."""
        return sum(path.endswith(".md") for path in self.files)

    def whole(self) -> Made:
        """2,000 pages, 7,500 claims on 2,500 sources, 500 relationships: 10,000 records of 0.3 to 3 kB."""
        for kind, folder, count in _PAGES:
            for number in range(count):
                self._page(kind, folder, number)
        self.some_claims(_CLAIMS, _SOURCES)
        for _ in range(_RELATIONSHIPS):
            self._relationship()
        return self

    def some_claims(self, claims: int, sources: int) -> Made:
        """Claims that share sources evenly."""
        for number in range(sources):
            source, lines = self._source(number)
            for _ in range(claims // sources):
                self._claim(source, lines)
        return self

    def write(self, folder: Path) -> None:
        """Onto the disk."""
        for path, data in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def name(self) -> str:
        """A person's name."""
        return f"{self._pick.choice(_FIRST)} {self._pick.choice(_LAST)}"

    def _page(self, kind: str, folder: str, number: int) -> None:
        title = f"{self.name()} {number}" if kind == "person" else f"{self._word().title()} {folder} {number}"
        meta = {"type": kind, "aliases": [f"{title} alias"], "tags": [self._pick.choice(_NOUNS)]}
        self.pages.append(self._record(folder, "page", title, meta, self._prose(self._pick.randint(1, 40))))

    def _source(self, number: int) -> tuple[Descriptor, list[str]]:
        lines = [self._sentence(f"{number}.{line}") for line in range(self._pick.randint(4, 25))]
        data = ("\n".join(lines) + "\n").encode()
        sha = hashlib.sha256(data).hexdigest()
        made = Descriptor(
            self._id(), content_path(sha), sha, len(data), "knowledge_remember", retained_at=_WHEN
        )
        self.files[made.path] = data
        self.files[descriptor_path(sha, made.id)] = encode(made, self._partition)
        return made, lines

    def _claim(self, source: Descriptor, lines: Sequence[str]) -> None:
        at = self._pick.randrange(len(lines))
        meta: dict[str, Any] = {
            "claim_kind": "fact",
            "origin": "knowledge_remember",
            "remembered": True,
            "evidence": [{"source": source.id, "lines": f"{at + 1}-{at + 1}", "quote": lines[at]}],
        }
        if self.pages and self._pick.random() < 0.8:
            meta["entities"] = [self._pick.choice(self.pages)]
        if self._pick.random() < 0.3:
            meta["valid_from"] = f"2026-{self._pick.randint(1, 12):02}"
        self.claims.append(self._record("claims", "claim", lines[at][:80], meta, lines[at]))

    def _relationship(self) -> None:
        one, other = self._pick.sample(self.pages[:1200], 2)
        title = f"{self.name()} knows {self.name()}"
        evidence = [{"source": self._some_source(), "lines": "1-1"}]
        meta = {"relation": "knows", "from": one, "to": other, "evidence": evidence}
        self._record("relationships", "relationship", title, meta, self._sentence("0"))

    def _some_source(self) -> str:
        known = [path for path in self.files if path.endswith(".json")]
        return Path(self._pick.choice(known)).stem

    def _record(self, folder: str, kind: str, title: str, meta: Mapping[str, Any], body: str) -> str:
        record_id = self._id()
        envelope = {
            "format": FORMAT,
            "id": record_id,
            "revision": 1,
            "kind": kind,
            "title": title,
            "recorded_at": _WHEN,
            "updated_at": _WHEN,
            "scope": self._partition.scope,
            "lifecycle": "active",
        }
        place = self._full[folder] // _FOLDER_FILES
        self._full[folder] += 1
        path = f"{folder}/{record_id}.md" if place == 0 else f"{folder}/{place:04}/{record_id}.md"
        self.files[path] = render_record({**envelope, **meta}, body)
        return record_id

    def _prose(self, sentences: int) -> str:
        return "## State\n\n" + "\n".join(self._sentence(str(at)) for at in range(sentences))

    def _sentence(self, mark: str) -> str:
        fill = " ".join(self._word() for _ in range(6))
        what = f"{self._pick.choice(_VERBS)} the {self._pick.choice(_NOUNS)}"
        return f"{self.name()} {what} {mark} at the {fill}."

    def _word(self) -> str:
        return self._pick.choice(_FILL)

    def _id(self) -> str:
        return str(uuid.UUID(int=self._pick.getrandbits(128), version=4))


def questions(count: int) -> Iterator[str]:
    """Questions of a few words, each another one."""
    pick = random.Random("questions")
    for _ in range(count):
        yield (
            f"who {pick.choice(_VERBS)} the {pick.choice(_NOUNS)} {pick.randrange(_SOURCES)} "
            f"{pick.choice(_FILL)} {pick.choice(_FIRST)}"
        )
