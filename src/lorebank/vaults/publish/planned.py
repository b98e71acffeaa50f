"""The files of a publication as the journal keeps them: enough to finish it and to take it back."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from lorebank.errors import Corrupt
from lorebank.storage.knowledge_ports import CatalogueRow
from lorebank.storage.tree.ports import FileState
from lorebank.vaults.store.values import RecordChange

UNSETTLED: Final = -1


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file. `path` is relative to the partition. It becomes `content`, or the file `staged` (a name in
    the staging folder); `had` is the SHA-256 of what was there before, and `before` those bytes (None:
    nothing was there, or nothing needs to be done). `row` is what the catalogue will say."""

    path: str
    sha256: str
    content: bytes | None
    staged: str | None
    had: str | None
    before: bytes | None
    row: CatalogueRow

    @property
    def settled(self) -> bool:
        """Whether the wanted contents were there beforehand."""
        return self.had == self.sha256

    def seen(self, state: FileState | None) -> CatalogueRow:
        """The catalogue row. The time stays one that no file has: a file that was written just now may be
        changed within the same tick of the file system's clock, so it is read once more (`store.rows`)."""
        row = replace(self.row, mtime_ns=UNSETTLED)
        if state is None:
            return row
        return replace(row, inode=state.inode, size=state.size, ctime_ns=state.ctime_ns)


def encode(files: Sequence[PlannedFile]) -> bytes:
    """For the journal."""
    return orjson.dumps(
        [
            {
                "path": file.path,
                "sha256": file.sha256,
                "content": _text(file.content),
                "staged": file.staged,
                "had": file.had,
                "before": _text(file.before),
                "kind": file.row.kind,
                "size": file.row.size,
                "revision": file.row.revision,
                "record": file.row.record,
                "findings": file.row.findings,
            }
            for file in files
        ]
    )


def decode(raw: bytes, folder: str) -> tuple[PlannedFile, ...]:
    """From the journal. `Corrupt` when it cannot be read."""
    try:
        return tuple(_file(entry, folder) for entry in orjson.loads(raw or b"[]"))
    except (ValueError, KeyError, TypeError) as exc:
        raise Corrupt("the journal of a knowledge store cannot be read", cause=exc) from exc


def encode_records(records: Sequence[RecordChange]) -> str:
    """For the journal."""
    return orjson.dumps([[one.id, one.revision, one.path, one.title] for one in records]).decode()


def decode_records(raw: str) -> tuple[RecordChange, ...]:
    """From the journal."""
    return tuple(RecordChange(*one) for one in orjson.loads(raw))


def _file(entry: dict[str, Any], folder: str) -> PlannedFile:
    row = CatalogueRow(
        key=0,
        folder=folder,
        path=entry["path"],
        kind=entry["kind"],
        inode=0,
        size=entry["size"],
        mtime_ns=0,
        ctime_ns=0,
        sha256=entry["sha256"],
        revision=entry["revision"],
        record=entry["record"],
        findings=entry["findings"],
    )
    return PlannedFile(
        path=entry["path"],
        sha256=entry["sha256"],
        content=_bytes(entry["content"]),
        staged=entry["staged"],
        had=entry["had"],
        before=_bytes(entry["before"]),
        row=row,
    )


def _text(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)
