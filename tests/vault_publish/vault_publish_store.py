"""A small store of real parts, for tests of publishing: files, git, database; records are plain lines."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lorebank import clock
from lorebank.access.audience import PRIVATE, Partition
from lorebank.errors import NotFound
from lorebank.ids import new_uuid
from lorebank.storage.knowledge_ports import CatalogueRow, HistoryLine
from lorebank.storage.sqlite.vault_state import SqliteVaultState, create_vault_state
from lorebank.storage.tree.git import GitHistory
from lorebank.storage.tree.ports import FileState
from lorebank.storage.tree.tree import FileTree
from lorebank.vaults.publish.committing import catch_up
from lorebank.vaults.publish.parts import Order, Parts, Published
from lorebank.vaults.publish.publish import publish
from lorebank.vaults.publish.recovery import Recovered, recover
from lorebank.vaults.store import manifest
from lorebank.vaults.store.values import Draft, FileChange, RecordChange

VAULT = "11111111-1111-4111-8111-111111111111"
_HEAD = re.compile(rb"\Aid: (\S+)\nrevision: (\d+)\n")


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def text(id: str, revision: int, body: str) -> bytes:
    return f"id: {id}\nrevision: {revision}\n{body}\n".encode()


def make_store(root: Path) -> None:
    """vault/, staging/ and state.sqlite."""
    (root / "vault" / "private").mkdir(parents=True)
    (root / "staging").mkdir()
    first = manifest.first(VAULT)
    with closing(FileTree(root / "vault")) as tree:
        tree.put(manifest.NAME, manifest.encode(first), expected=None)
    create_vault_state(root / "state.sqlite", first.checkpoint)


@dataclass
class Desk:
    """Checks nothing unless told to, and records what people did as a runtime would."""

    parts: Parts
    partition: Partition = PRIVATE
    checks: list[Callable[[], None]] = field(default_factory=list)

    def check(self) -> None:
        for one in self.checks:
            one()

    def describe(self, change: FileChange) -> CatalogueRow:
        return row_of(self.partition.folder, change.path, change.content, change.sha256)

    def refresh(self) -> Any:
        tree, state, folder = self.parts.tree, self.parts.state, self.partition.folder
        known = {row.path: row for row in state.catalogue(folder)}
        found = {path: _read(tree, path) for path in tree.scan(folder).files}
        now = {path.removeprefix(f"{folder}/"): content for path, content in found.items()}
        changed = {
            path: raw for path, raw in now.items() if path not in known or known[path].sha256 != sha(raw)
        }
        gone = [row for path, row in known.items() if path not in now]
        if changed or gone:
            at, last = clock.now(), state.last_revisions(folder)
            rows = [effective(row_of(folder, path, raw, sha(raw)), last) for path, raw in changed.items()]
            lines = [_line(row, row.path in known, at) for row in rows] + [_gone(row, at) for row in gone]
            contents = {sha(raw): raw for raw in changed.values()}
            state.apply_catalogue(folder, rows, [row.key for row in gone], lines, contents)
            catch_up(self.parts)
        return SimpleNamespace(files=now, partition=self.partition)


def _read(tree: Any, path: str) -> bytes:
    content: bytes = tree.read(path, max_bytes=5_000_000)[1]
    return content


def row_of(folder: str, path: str, content: bytes | None, sha256: str) -> CatalogueRow:
    head = _HEAD.match(content or b"")
    record = None if head is None else head[1].decode()
    return CatalogueRow(
        0,
        folder,
        path,
        "record",
        0,
        len(content or b""),
        0,
        0,
        sha256,
        int(head[2]) if head else 0,
        record,
        "[]",
    )


def effective(row: CatalogueRow, last: Mapping[str, int]) -> CatalogueRow:
    """An edit that left the number as it was counts as the next revision."""
    return replace(row, revision=max(row.revision, last.get(row.record or "", 0) + 1))


def _line(row: CatalogueRow, known: bool, at: int) -> HistoryLine:
    return HistoryLine(
        seq=0,
        folder=row.folder,
        record_id=row.record,
        revision=None if row.record is None else row.revision,
        path=row.path,
        title=row.path,
        change="external_edit" if known else "external_add",
        agent=None,
        at=at,
        sha256=row.sha256,
        blob=None,
        commit=None,
        request_id=None,
        message="",
    )


def _gone(row: CatalogueRow, at: int) -> HistoryLine:
    return replace(_line(row, True, at), change="external_delete", sha256=None)


class Store:
    """An opened store."""

    def __init__(
        self, root: Path, *, wrap: Callable[[FileTree], Any] | None = None, git: bool = True
    ) -> None:
        self.root = root
        self.tree = FileTree(root / "vault")
        self.state = SqliteVaultState(root / "state.sqlite")
        self.git = GitHistory(root / "vault", create=True)
        self.parts = Parts(
            vault=VAULT,
            tree=self.tree if wrap is None else wrap(self.tree),
            state=self.state,
            git=self.git if git else None,
            staging=root / "staging",
        )
        self.desk = Desk(self.parts)

    def close(self) -> None:
        self.git.close()
        self.state.close()
        self.tree.close()

    def recover(self) -> Recovered:
        return recover(self.parts, opening=True)

    def save(
        self,
        files: Mapping[str, bytes],
        *,
        request: str = "",
        digest: str = "d",
        agent: str = "main",
        expected: Mapping[str, str | None] | None = None,
        change: str = "save",
        desk: Desk | None = None,
    ) -> Published:
        """Publish these files over what the newest view shows."""
        order = Order(request or new_uuid(), digest, (desk or self.desk).partition, agent, change)
        return publish(self.parts, desk or self.desk, order, lambda view: draft(view, files, expected))

    def stage(self, content: bytes, name: str = "") -> Path:
        path = self.root / "staging" / (name or new_uuid())
        path.write_bytes(content)
        return path

    def read(self, path: str, folder: str = "private") -> bytes | None:
        try:
            return self.tree.read(f"{folder}/{path}", max_bytes=5_000_000)[1]
        except NotFound:
            return None

    def committed(self, path: str, folder: str = "private") -> bytes | None:
        head = self.git.head()
        blob = None if head is None else self.git.blob_at(head, f"{folder}/{path}")
        return None if blob is None else self.git.blob(blob)


def draft(view: Any, files: Mapping[str, bytes], expected: Mapping[str, str | None] | None = None) -> Draft:
    seen = {path: sha(raw) for path, raw in view.files.items()}
    wanted = seen if expected is None else expected
    return Draft(
        files=tuple(FileChange(path, content=raw, expected=wanted.get(path)) for path, raw in files.items()),
        records=tuple(records(files)),
        answer={"paths": sorted(files)},
        message="",
    )


def records(files: Mapping[str, bytes]) -> Sequence[RecordChange]:
    found = []
    for path, raw in files.items():
        head = _HEAD.match(raw)
        if head is not None:
            found.append(RecordChange(head[1].decode(), int(head[2]), path, f"Title of {path}"))
    return found


class Failing:
    """A tree whose disk is full at the given writing call (from 0), for so many calls."""

    def __init__(self, tree: FileTree, fail_at: int, times: int = 1) -> None:
        self._tree, self._left, self._times = tree, fail_at, times
        self.failed = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    def put(self, path: str, content: bytes, *, expected: str | None) -> FileState:
        self._spend()
        return self._tree.put(path, content, expected=expected)

    def move_in(self, staged: Path, path: str) -> FileState:
        self._spend()
        return self._tree.move_in(staged, path)

    def remove(self, path: str, *, expected: str) -> None:
        self._spend()
        self._tree.remove(path, expected=expected)

    def _spend(self) -> None:
        self._left -= 1
        if -self._times <= self._left < 0:
            self.failed += 1
            raise OSError(28, "No space left on device")
