"""The operator's decision about a conflicted publication: nothing of either side is lost by it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from lorebank.errors import Conflict, InvalidInput, NotFound
from lorebank.storage.knowledge_ports import HistoryLine, JournalRow
from lorebank.storage.tree.ports import FileState
from lorebank.vaults.publish.committing import catch_up
from lorebank.vaults.publish.finishing import finish, write_manifest
from lorebank.vaults.publish.parts import Parts
from lorebank.vaults.publish.placing import Standing, content_at, place_all, standing, take_back
from lorebank.vaults.publish.planned import PlannedFile, decode, decode_records
from lorebank.vaults.publish.recovery import refuse_strange_manifest
from lorebank.vaults.record.values import MAX_RECORD_BYTES

Keep = Literal["mine", "theirs"]


def resolve(parts: Parts, folder: str, request_id: str, keep: Keep) -> None:
    """Settle a conflicted publication, in the store's lane.

    `mine`: finish it over what stands there now, which goes into history and git first. `theirs`: leave what
    was changed, make the other files of the publication what they were, and drop it; nobody was told that
    it had been saved. `NotFound`, `Conflict` when it is not conflicted, or a file changes again.
    """
    row = parts.state.journaled(folder, request_id)
    if row is None:
        raise NotFound("no publication of this partition has that request id")
    if row.state != "conflicted":
        raise Conflict("the publication is not conflicted; there is nothing to decide")
    refuse_strange_manifest(parts)
    parts.tree.sweep()
    files = decode(row.files, row.folder)
    if keep == "theirs":
        take_back(parts, row.folder, files, 0)
        parts.state.forget(row.folder, row.request_id)
        return
    others = {file.path: _other(parts, row, file) for file in files if _is_other(parts, row, file)}
    _save_others(parts, row, others)
    states: list[FileState | None] = []
    files = tuple(_over(parts, row, file, others) for file in files)
    place_all(parts, row.folder, files, states)
    write_manifest(parts, row)
    finish(parts, row, files, states)


def _is_other(parts: Parts, row: JournalRow, file: PlannedFile) -> bool:
    return standing(parts.tree, row.folder, file) is Standing.OTHER


def _other(parts: Parts, row: JournalRow, file: PlannedFile) -> bytes | None:
    try:
        return content_at(parts.tree, f"{row.folder}/{file.path}")
    except InvalidInput as exc:
        raise Conflict(
            f"{file.path} holds more than {MAX_RECORD_BYTES:,} bytes now; move it out of the vault, then "
            "resolve again",
            cause=exc,
        ) from exc


def _save_others(parts: Parts, row: JournalRow, others: Mapping[str, bytes | None]) -> None:
    """What stands there now gets its lines in history, and its commit."""
    ids = {record.path: record for record in decode_records(row.records)}
    at = parts.now()
    lines, contents = [], {}
    for path, content in others.items():
        sha256 = None if content is None else hashlib.sha256(content).hexdigest()
        if content is not None and sha256 is not None:
            contents[sha256] = content
        record = ids.get(path)
        lines.append(
            HistoryLine(
                seq=0,
                folder=row.folder,
                record_id=None if record is None else record.id,
                revision=None,
                path=path,
                title=path if record is None else record.title,
                change="external_edit" if content is not None else "external_delete",
                agent=None,
                at=at,
                sha256=sha256,
                blob=None,
                commit=None,
                request_id=None,
                message="kept when a conflicted save was finished",
            )
        )
    parts.state.apply_catalogue(row.folder, [], [], lines, contents)
    catch_up(parts)


def _over(
    parts: Parts, row: JournalRow, file: PlannedFile, others: Mapping[str, bytes | None]
) -> PlannedFile:
    """The file as it is written over what was saved just now."""
    if file.path not in others:
        return file
    content = others[file.path]
    sha256 = None if content is None else hashlib.sha256(content).hexdigest()
    if file.content is None and sha256 is not None:
        # A retained file moves in where nothing is.
        parts.tree.remove(f"{row.folder}/{file.path}", expected=sha256)
        sha256 = None
    return replace(file, had=sha256, before=content)
