"""A vault without disk, git or database: one partition in a dictionary, with the rules of `VaultHandle`.

`put`, `remove` and `rename` are a person's editor. `publish` keeps receipts by request id, compares what it
must, and changes all files or none. `before_publish` runs right before a plan: what a test does there happens
"meanwhile".
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from lorebank.access import vault_grant
from lorebank.access.audience import PRIVATE, Partition
from lorebank.access.principal import Principal
from lorebank.access.vault_grant import VaultGrant
from lorebank.errors import Conflict, Forbidden, InvalidInput, NotFound, Unavailable, WritesDisabled
from lorebank.search.index import PassageIndex
from lorebank.search.passage import Passage
from lorebank.search.snapshot import Snapshot
from lorebank.vaults.evidence.descriptors import content_path, descriptor_path, encode
from lorebank.vaults.record.descriptors import is_descriptor_path, parse_descriptor
from lorebank.vaults.record.extension import ONTOLOGY_FILE, load_extension
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.parse import parse_record
from lorebank.vaults.record.references import check_references, judged
from lorebank.vaults.record.render import render_record
from lorebank.vaults.record.shipped import SHIPPED
from lorebank.vaults.record.values import FORMAT, Finding, Record
from lorebank.vaults.store.passages import moment, tags
from lorebank.vaults.store.values import (
    Descriptor,
    Draft,
    Entry,
    FileChange,
    HistoryRow,
    Receipt,
    Stamp,
    View,
)

NOW = 1_796_000_000_000_000
"""What the clock of these tests shows first: 2026-11-30."""


def grant(partition: Partition = PRIVATE, agent: str = "main", *, may_save: bool = True) -> VaultGrant:
    """A decided grant, as the resolver would make it."""
    return VaultGrant(
        principal=Principal("local", "local"),
        action="knowledge:save" if may_save else "knowledge:recall",
        agent=agent,
        binding=f"own:{agent}",
        vault="11111111-1111-4111-8111-111111111111",
        partition=partition,
        may_save=may_save,
        may_create=may_save,
        via="owner",
        epoch=1,
        seal=vault_grant._SEAL,
    )


def record_bytes(body: str = "", partition: Partition = PRIVATE, **meta: Any) -> bytes:
    """A record with a right envelope; `meta` replaces and adds keys (`from_` is `from`; `scope=...` too)."""
    base: dict[str, Any] = {
        "format": FORMAT,
        "id": str(uuid.uuid4()),
        "revision": 1,
        "kind": "page",
        "title": "A page",
        "recorded_at": "2026-11-01T08:00:00Z",
        "updated_at": "2026-11-01T08:00:00Z",
        "scope": partition.scope,
        "lifecycle": "active",
    }
    return render_record(base | {key.rstrip("_"): value for key, value in meta.items()}, body)


@lru_cache(maxsize=100_000)
def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


_descriptor = lru_cache(maxsize=100_000)(parse_descriptor)


class MemoryView:
    """See `View`."""

    def __init__(self, vault: MemoryVault) -> None:
        self._vault = vault
        self._files = dict(vault.files)
        self.partition = vault.partition
        self.ontology: Ontology = SHIPPED
        self.memo: dict[str, Any] = {}
        found: list[Finding] = []
        if vault.partition.session is None and ONTOLOGY_FILE in self._files:
            self.ontology, wrong = load_extension(self._files[ONTOLOGY_FILE])
            found.extend(wrong)
        self._descriptors = self._read_descriptors(found)
        self._entries = self._read_records(found)
        self._findings = tuple(sorted(found, key=lambda one: (one.path, one.line)))
        self._by_key = {entry.key: entry for entry in self._entries.values()}
        self._snapshot: Snapshot | None = None

    def _read_descriptors(self, found: list[Finding]) -> dict[str, Descriptor]:
        read: dict[str, Descriptor] = {}
        for path, data in self._files.items():
            if not is_descriptor_path(path):
                continue
            one = _descriptor(path, data, self.partition)
            if isinstance(one, Finding):
                found.append(one)
            else:
                read[one.id] = one
        return read

    def _read_records(self, found: list[Finding]) -> dict[str, Entry]:
        records: dict[str, Record] = {}
        entries: dict[str, Entry] = {}
        paths = [path for path in sorted(self._files) if path.endswith(".md")]
        for path in paths:
            parsed = self._vault.parsed(path, self._files[path], self.ontology)
            found.extend(parsed[1])
            if parsed[0] is not None:
                records[path] = parsed[0]
        wrong = check_references(records.values(), self.ontology, self._descriptors)
        for path in paths:
            data, record = self._files[path], records.get(path)
            found.extend(wrong.get(path, ()))
            shown = None if record is None else judged(record, wrong.get(path, ()))
            key, revision = self._vault.known(path, data, record)
            entries[path] = Entry(key, path, Stamp(key, len(data), 0, 0), sha256(data), shown, revision)
        return entries

    @property
    def entries(self) -> Mapping[str, Entry]:
        return self._entries

    @property
    def descriptors(self) -> Mapping[str, Descriptor]:
        return self._descriptors

    @property
    def findings(self) -> Sequence[Finding]:
        return self._findings

    @property
    def snapshot(self) -> Snapshot:
        if self._snapshot is None:
            index = PassageIndex()
            rows = [_passage(one) for one in self._entries.values() if one.record is not None]
            index.apply(sorted(rows, key=lambda one: one.key), [], len(rows))
            self._snapshot = index.snapshot()
        return self._snapshot

    def by_id(self, record_id: str) -> Entry | None:
        same = [
            entry
            for entry in self._entries.values()
            if entry.record is not None and entry.record.id == record_id
        ]
        return same[0] if len(same) == 1 else None

    def by_key(self, key: int) -> Entry | None:
        return self._by_key.get(key)

    def descriptor(self, source_id: str) -> Descriptor | None:
        return self._descriptors.get(source_id)

    def read(self, entry: Entry) -> bytes:
        data = self._vault.files.get(entry.path)
        if data is None or sha256(data) != entry.sha256:
            raise Unavailable("the file changed; ask again")
        return data

    def open_source(self, descriptor: Descriptor) -> AbstractContextManager[BinaryIO]:
        data = self._vault.files.get(descriptor.path)
        if data is None:
            raise NotFound("the retained file is missing")
        return io.BytesIO(data)


class MemoryVault:
    """See `VaultHandle`."""

    def __init__(
        self,
        partition: Partition = PRIVATE,
        *,
        agent: str = "main",
        files: Mapping[str, bytes] | None = None,
        may_save: bool = True,
        writes_enabled: bool = True,
    ) -> None:
        self.partition = partition
        self.grant = grant(partition, agent, may_save=may_save)
        self.writes_enabled = writes_enabled
        self.files: dict[str, bytes] = dict(files or {})
        self.receipts: dict[str, tuple[str, Receipt]] = {}
        self.rows: list[HistoryRow] = []
        self.contents: dict[int, bytes | None] = {}
        self.generation = 0
        self.checks = 0
        self.now = NOW
        self.before_publish: Callable[[], None] | None = None
        self._keys: dict[str, int] = {}
        self._revisions: dict[str, tuple[str, int]] = {}
        self._parsed: dict[tuple[str, str], Any] = {}
        self._staging = Path(tempfile.mkdtemp(prefix="lorebank-kit-"))

    def clock(self) -> int:
        """A clock that goes on by a second each time."""
        self.now += 1_000_000
        return self.now

    # --- a person's editor

    def put(self, path: str, data: bytes) -> str:
        """Save a file; its record's id."""
        self.files[path] = data
        record = self.parsed(path, data, self.view().ontology)[0]
        return "" if record is None else record.id

    def page(self, title: str, type: str = "person", **meta: Any) -> str:
        """A page at a path of its own; its id."""
        folder = SHIPPED.types[type].folder if type in SHIPPED.types else type
        path = meta.pop("path", f"{folder}/{title.lower().replace(' ', '-')}.md")
        body = meta.pop("body", "")
        data = record_bytes(body, self.partition, title=title, type=type, **meta)
        return self.put(path, data)

    def source(self, content: bytes | str, *, origin: str = "knowledge_attach_file", **more: Any) -> str:
        """A retained source with its descriptor; the descriptor's id."""
        data = content.encode() if isinstance(content, str) else content
        digest, descriptor_id = sha256(data), str(uuid.uuid4())
        one = Descriptor(descriptor_id, content_path(digest), digest, len(data), origin, **more)
        self.files[one.path] = data
        self.files[descriptor_path(digest, descriptor_id)] = encode(one, self.partition)
        return descriptor_id

    def claim(self, text: str, source: str, quote: str | None = None, **meta: Any) -> str:
        """A claim with one citation; its id."""
        meta = {"claim_kind": "fact", "evidence": [_cited(source, quote)]} | meta
        claim_id = str(meta.setdefault("id", str(uuid.uuid4())))
        return self.put(
            f"claims/{claim_id}.md",
            record_bytes(text, self.partition, kind="claim", title=text[:60], **meta),
        )

    def remove(self, path: str) -> None:
        del self.files[path]

    def rename(self, old: str, new: str) -> None:
        self.files[new] = self.files.pop(old)
        self._keys[new] = self._keys.pop(old, len(self._keys) + 1)

    # --- VaultHandle

    def check(self) -> None:
        self.checks += 1

    def view(self) -> MemoryView:
        return MemoryView(self)

    @contextmanager
    def reading(self) -> Iterator[View]:
        self.check()
        yield self.view()
        self.check()

    def publish(
        self, request_id: str, digest: str, plan: Callable[[View], Draft], *, change: str = "save"
    ) -> Receipt:
        if not self.writes_enabled:
            raise WritesDisabled("writes are off")
        if not self.grant.may_save:
            raise Forbidden("this conversation may read and not save")
        known = self.receipts.get(request_id)
        if known is not None:
            if known[0] != digest:
                raise Conflict("the requestId was used for another request")
            return _replayed(known[1])
        if self.before_publish is not None:
            self.before_publish()
        draft = plan(self.view())
        self._apply(draft.files)
        self.generation += 1
        receipt = Receipt(
            request_id,
            self.generation,
            str(uuid.uuid4()),
            self.now,
            draft.records,
            json.loads(json.dumps(dict(draft.answer))),
            None,
        )
        self.receipts[request_id] = (digest, receipt)
        self._note(draft, receipt, change)
        return receipt

    def _apply(self, changes: Iterable[FileChange]) -> None:
        made: dict[str, bytes] = {}
        for one in changes:
            content = one.content if one.staged is None else one.staged.read_bytes()
            assert content is not None
            assert one.sha256 == sha256(content)
            assert len({part for part in one.path.split("/") if part in ("", "..")}) == 0
            had = self.files.get(one.path)
            keeps = one.staged is not None or one.action == "retain"
            same = had is not None and keeps and had == content
            if not same and (None if had is None else sha256(had)) != one.expected:
                raise Conflict(f"{one.path} is not what was expected")
            made[one.path] = content
        self.files.update(made)

    def _note(self, draft: Draft, receipt: Receipt, change: str) -> None:
        for one in draft.records:
            data = self.files[one.path]
            row = HistoryRow(
                len(self.rows) + 1,
                one.id,
                one.revision,
                one.path,
                change,
                self.grant.agent,
                self.now,
                sha256(data),
                None,
                None,
                receipt.request_id,
                draft.message,
            )
            self.rows.append(row)
            self.contents[row.seq] = data

    def stage(
        self, chunks: Iterator[bytes], *, size: int | None, sha256: str | None
    ) -> tuple[Path, str, int]:
        data = b"".join(chunks)
        digest = hashlib.sha256(data).hexdigest()
        if (size is not None and size != len(data)) or (sha256 is not None and sha256 != digest):
            raise InvalidInput("the file is not the announced one")
        path = self._staging / str(uuid.uuid4())
        path.write_bytes(data)
        return path, digest, len(data)

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

    # --- what views ask

    def parsed(self, path: str, data: bytes, ontology: Ontology) -> tuple[Record | None, tuple[Finding, ...]]:
        """The record in a file, kept by path and contents unless there is an own ontology."""
        key = (path, sha256(data))
        if ontology is not SHIPPED or key not in self._parsed:
            found = parse_record(path, data, self.partition, ontology)
            if ontology is not SHIPPED:
                return found.record, found.findings
            self._parsed[key] = (found.record, found.findings)
        kept: tuple[Record | None, tuple[Finding, ...]] = self._parsed[key]
        return kept

    def known(self, path: str, data: bytes, record: Record | None) -> tuple[int, int]:
        """Key and effective revision of a file (an edit that left the number counts as the next one)."""
        key = self._keys.setdefault(path, len(self._keys) + 1)
        if record is None:
            return key, 0
        digest, before = sha256(data), self._revisions.get(record.id)
        revision = record.revision
        if before is not None:
            revision = before[1] if before[0] == digest else max(revision, before[1] + 1)
        self._revisions[record.id] = (digest, revision)
        return key, revision


def _replayed(receipt: Receipt) -> Receipt:
    return Receipt(
        receipt.request_id,
        receipt.generation,
        receipt.publication_id,
        receipt.published_at,
        receipt.records,
        receipt.answer,
        receipt.commit,
        replayed=True,
    )


def _cited(source: str, quote: str | None) -> dict[str, str]:
    return {"source": source} if quote is None else {"source": source, "quote": quote}


def _passage(entry: Entry) -> Passage:
    record = entry.record
    assert record is not None
    first, precision = moment(record.meta.get("valid_from"), last=False)
    last, ending = moment(record.meta.get("valid_to"), last=True)
    return Passage(
        key=entry.key,
        seq=entry.key,
        kind="world",
        terms=record.text_terms,
        tags=tags(record),
        occurred_start=first,
        occurred_end=last,
        mentioned_at=moment(record.recorded_at, last=False)[0],
        precision=precision or ending,
        tokens=record.tokens,
    )
