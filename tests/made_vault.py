"""A partition made of real files for tests of searching and reading; no journal, no git, no authority."""

from __future__ import annotations

import hashlib
import os
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

from lorebank.access.audience import PRIVATE, Partition
from lorebank.errors import Conflict, Forbidden, InvalidInput, NotFound, Unavailable
from lorebank.search.columns import Floats
from lorebank.search.index import PassageIndex
from lorebank.search.passage import Passage
from lorebank.search.snapshot import Snapshot
from lorebank.vaults.evidence.descriptors import content_path, descriptor_path, encode
from lorebank.vaults.evidence.verdicts import KeptVerdicts
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.parse import parse_record
from lorebank.vaults.record.references import check_references, judged
from lorebank.vaults.record.render import render_record
from lorebank.vaults.record.shipped import SHIPPED
from lorebank.vaults.record.values import Finding
from lorebank.vaults.store.values import Descriptor, Draft, Entry, HistoryRow, Receipt, Stamp

MOMENT = "2026-11-30T08:00:00Z"


def made_id(number: int) -> str:
    """A UUID v4 that stays the same."""
    return str(uuid.UUID(bytes=hashlib.sha256(f"made {number}".encode()).digest()[:16], version=4))


@dataclass
class MadeView:
    """See `vaults.store.values.View`."""

    root: Path
    partition: Partition
    ontology: Ontology
    entries: Mapping[str, Entry]
    descriptors: Mapping[str, Descriptor]
    snapshot: Snapshot
    findings: Sequence[Finding]
    verdicts: KeptVerdicts
    memo: dict[str, Any] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._keys = {entry.key: entry for entry in self.entries.values()}
        self._ids: dict[str, list[Entry]] = {}
        for entry in self.entries.values():
            if entry.record is not None:
                self._ids.setdefault(entry.record.id, []).append(entry)

    def by_id(self, record_id: str) -> Entry | None:
        found = self._ids.get(record_id, [])
        return found[0] if len(found) == 1 else None

    def by_key(self, key: int) -> Entry | None:
        return self._keys.get(key)

    def descriptor(self, source_id: str) -> Descriptor | None:
        return self.descriptors.get(source_id)

    def read(self, entry: Entry) -> bytes:
        try:
            raw = (self.root / entry.path).read_bytes()
        except FileNotFoundError:
            raise Unavailable("a record went away; ask again") from None
        if hashlib.sha256(raw).hexdigest() != entry.sha256:
            raise Unavailable("a record changed; ask again")
        return raw

    @contextmanager
    def open_source(self, descriptor: Descriptor) -> Iterator[BinaryIO]:
        self.opened.append(descriptor.id)
        try:
            file = (self.root / descriptor.path).open("rb")
        except FileNotFoundError:
            raise NotFound("the source is missing") from None
        with file:
            yield file


class MadeVault:
    """Files of one partition, and the view of them."""

    def __init__(
        self,
        root: Path,
        partition: Partition = PRIVATE,
        *,
        ontology: Ontology = SHIPPED,
        dimension: int | None = None,
    ) -> None:
        self.base, self.root = root, root / partition.folder
        self.partition, self.ontology = partition, ontology
        self.root.mkdir(parents=True)
        self.verdicts = KeptVerdicts()
        self.vectors: dict[str, Floats] = {}
        self._dimension = dimension
        self._descriptors: dict[str, Descriptor] = {}
        self._count = 0

    def record(self, path: str, body: str = "", **meta: Any) -> str:
        """Write a record; keys that are not given get something sensible. Its id."""
        self._count += 1
        whole = {
            "format": "knowledge-record-v1",
            "id": made_id(self._count),
            "revision": 1,
            "kind": "page",
            "title": path.rsplit("/", 1)[-1].removesuffix(".md"),
            "recorded_at": MOMENT,
            "updated_at": MOMENT,
            "scope": self.partition.scope,
            "lifecycle": "active",
        } | meta
        self.write(path, render_record({name: v for name, v in whole.items() if v is not None}, body))
        return str(whole["id"])

    def page(self, title: str, body: str = "", *, type: str = "person", **meta: Any) -> str:
        folder = self.ontology.types[type].folder
        name = "-".join(title.casefold().split())
        return self.record(f"{folder}/{name}-{self._count}.md", body, title=title, type=type, **meta)

    def claim(self, body: str, **meta: Any) -> str:
        """A claim with a retained excerpt of its own text, unless `evidence` is given."""
        if "evidence" not in meta:
            source = self.retain(body.encode(), attribution="a talk").id
            meta["evidence"] = [{"source": source, "lines": "1"}]
        defaults = {"kind": "claim", "title": body[:60].split("\n")[0], "claim_kind": "fact"}
        return self.record(f"claims/{made_id(self._count + 1)}.md", body, **(defaults | meta))

    def relationship(self, relation: str, start: str, end: str, **meta: Any) -> str:
        source = self.retain(f"{start} {relation} {end}".encode()).id
        defaults = {
            "kind": "relationship",
            "title": relation,
            "relation": relation,
            "from": start,
            "to": end,
            "evidence": [{"source": source}],
        }
        return self.record(f"relationships/{made_id(self._count + 1)}.md", "", **(defaults | meta))

    def retain(self, content: bytes, **facts: Any) -> Descriptor:
        """Keep a source with a descriptor."""
        self._count += 1
        sha256 = hashlib.sha256(content).hexdigest()
        facts = {"id": made_id(self._count), "origin": "knowledge_remember"} | facts
        found = Descriptor(path=content_path(sha256), sha256=sha256, size=len(content), **facts)
        self._descriptors[found.id] = found
        self.write(found.path, content)
        self.write(descriptor_path(sha256, found.id), encode(found, self.partition))
        return found

    def write(self, path: str, content: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    def view(self) -> MadeView:
        """What is there now."""
        entries: dict[str, Entry] = {}
        findings: list[Finding] = []
        for number, path in enumerate(sorted(self.root.rglob("*.md")), start=1):
            name, raw, state = str(path.relative_to(self.root)), path.read_bytes(), path.stat()
            parsed = parse_record(name, raw, self.partition, self.ontology)
            findings += parsed.findings
            stamp = Stamp(state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            revision = 0 if parsed.record is None else parsed.record.revision
            digest = hashlib.sha256(raw).hexdigest()
            entries[name] = Entry(number, name, stamp, digest, parsed.record, revision)
        readable = [entry.record for entry in entries.values() if entry.record is not None]
        problems = check_references(readable, self.ontology, self._descriptors.keys())
        for name, found in problems.items():
            findings += found
            record = entries[name].record
            if record is not None:
                entries[name] = replace(entries[name], record=judged(record, found))
        index = self._index(entries)
        return MadeView(
            root=self.root,
            partition=self.partition,
            ontology=self.ontology,
            entries=entries,
            descriptors=dict(self._descriptors),
            snapshot=index.snapshot(),
            findings=sorted(findings, key=lambda one: (one.path, one.line)),
            verdicts=self.verdicts,
        )

    def _index(self, entries: Mapping[str, Entry]) -> PassageIndex:
        index = PassageIndex(self._dimension)
        rows = [
            Passage(entry.key, entry.key, "world", entry.record.text_terms, tokens=entry.record.tokens)
            for entry in entries.values()
            if entry.record is not None
        ]
        index.apply(rows, [], len(rows))
        known = {entry.record.id: entry.key for entry in entries.values() if entry.record is not None}
        for record_id, vector in self.vectors.items():
            index.apply_vectors([known[record_id]], vector[None, :])
        return index


class MadeHandle:
    """See `vaults.store.values.VaultHandle`; publishes by writing the files."""

    def __init__(
        self, vault: MadeVault, *, may_save: bool = True, vault_id: str = made_id(0), agent: str = "main"
    ):
        self.vault = vault
        self.grant: Any = SimpleNamespace(
            agent=agent,
            may_save=may_save,
            vault=vault_id,
            binding=f"own:{agent}",
            partition=vault.partition,
            via="owner",
        )
        self.views = 0
        self.before_leaving: Callable[[], None] = lambda: None
        self.after_opening: Callable[[], None] = lambda: None
        self.rows: list[HistoryRow] = []
        self.contents: dict[int, bytes] = {}
        self._receipts: dict[str, tuple[str, Receipt]] = {}
        self._lock = threading.Lock()
        self._view: MadeView | None = None

    def check(self) -> None:
        """Nothing is ever taken away here; tests replace `before_leaving`."""

    @contextmanager
    def reading(self) -> Iterator[MadeView]:
        self.views += 1
        view = self.vault.view()
        self.after_opening()
        yield view
        self.before_leaving()

    def stage(
        self, chunks: Iterator[bytes], *, size: int | None, sha256: str | None
    ) -> tuple[Path, str, int]:
        staged = self.vault.base / f"staged-{uuid.uuid4()}"
        content = b"".join(chunks)
        found = hashlib.sha256(content).hexdigest()
        if (sha256 is not None and sha256 != found) or (size is not None and size != len(content)):
            raise InvalidInput("the file is not the one that was announced (SHA-256 or size differ)")
        staged.write_bytes(content)
        return staged, found, len(content)

    def publish(
        self, request_id: str, digest: str, plan: Callable[[Any], Draft], *, change: str = "save"
    ) -> Receipt:
        with self._lock:
            if not self.grant.may_save:
                raise Forbidden("this conversation may read and not save")
            known = self._receipts.get(request_id)
            if known is not None:
                if known[0] != digest:
                    raise Conflict("this requestId was used for another request")
                return replace(known[1], replayed=True)
            view = self.vault.view()
            draft = plan(view)
            for one in draft.files:
                target = self.vault.root / one.path
                target.parent.mkdir(parents=True, exist_ok=True)
                if one.staged is not None:
                    if not target.exists():
                        os.rename(one.staged, target)
                elif one.content is not None:
                    target.write_bytes(one.content)
            receipt = Receipt(
                request_id, len(self._receipts) + 1, str(uuid.uuid4()), 1, draft.records, draft.answer, None
            )
            self._receipts[request_id] = (digest, receipt)
            for record in draft.records:
                content = (self.vault.root / record.path).read_bytes()
                self.note(record.id, record.revision, record.path, content, change)
            return receipt

    def note(
        self, record_id: str, revision: int, path: str, content: bytes | None, change: str = "save"
    ) -> None:
        """A row of history."""
        seq = len(self.rows) + 1
        row = HistoryRow(
            seq=seq,
            record_id=record_id,
            revision=revision,
            path=path,
            change=change,
            agent=None if change.startswith("external") else self.grant.agent,
            at=1_764_489_600_000_000 + seq,
            sha256=None if content is None else hashlib.sha256(content).hexdigest(),
            blob=None,
            commit=None,
            request_id=None,
            message="",
        )
        self.rows.append(row)
        if content is not None:
            self.contents[seq] = content

    def history(self, record_id: str, *, before: int | None, limit: int) -> Sequence[HistoryRow]:
        rows = [row for row in reversed(self.rows) if row.record_id == record_id]
        return [row for row in rows if before is None or row.seq < before][:limit]

    def recent(self, limit: int) -> Sequence[HistoryRow]:
        newest: dict[str | None, HistoryRow] = {}
        for row in reversed(self.rows):
            newest.setdefault(row.record_id, row)
        return list(newest.values())[:limit]

    def content_of(self, row: HistoryRow) -> bytes | None:
        return self.contents.get(row.seq)
