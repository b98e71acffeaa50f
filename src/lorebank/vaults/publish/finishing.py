"""The end of a publication, for the one that just ran and for recovery: vault.json, the receipt, git."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import orjson

from lorebank.errors import Bug, StoreUnavailable
from lorebank.storage.knowledge_ports import HistoryLine, JournalRow
from lorebank.storage.tree.ports import FileState
from lorebank.vaults import reasons
from lorebank.vaults.publish.committing import catch_up
from lorebank.vaults.publish.parts import Parts, Published
from lorebank.vaults.publish.placing import content_at
from lorebank.vaults.publish.planned import PlannedFile, decode_records
from lorebank.vaults.publish.points import Point, reached
from lorebank.vaults.store.manifest import NAME, Manifest, compare, encode, mismatch, read
from lorebank.vaults.store.values import Receipt


def receipt_of(row: JournalRow) -> Receipt:
    """The receipt in a published row."""
    if row.published_at is None:
        raise Bug("a receipt exists only for what was published")
    return Receipt(
        request_id=row.request_id,
        generation=row.generation,
        publication_id=row.publication_id,
        published_at=row.published_at,
        records=decode_records(row.records),
        answer=orjson.loads(row.answer),
        commit=row.commit,
    )


def finish(
    parts: Parts, row: JournalRow, files: Sequence[PlannedFile], states: Sequence[FileState | None]
) -> Published:
    """From "all files and vault.json are in place" to the receipt; also used by recovery."""
    rows = [file.seen(state) for file, state in zip(files, states, strict=True)]
    at = parts.now()
    keys = parts.state.publish(row.folder, row.request_id, at, rows, _history(row, files, at))
    reached(Point.PUBLISHED)
    catch_up(parts)
    noted = parts.state.journaled(row.folder, row.request_id)
    if noted is None:
        raise Bug("a published row has left the journal")
    return Published(receipt_of(noted), tuple(replace(one, key=keys[one.path]) for one in rows))


def write_manifest(parts: Parts, row: JournalRow) -> None:
    """vault.json as the publication wants it. It replaces the one of the checkpoint only."""
    before = read(parts.tree)
    wanted = Manifest(parts.vault, row.generation, row.publication_id)
    if before != wanted:
        wrong = compare(before, parts.state.checkpoint(), [])
        if wrong is not None:
            raise mismatch(wrong)
        raw = content_at(parts.tree, NAME)
        if raw is None:
            raise StoreUnavailable(reasons.MISSING_MANIFEST, "vault.json is missing; bring it back")
        parts.tree.put(NAME, encode(wanted), expected=hashlib.sha256(raw).hexdigest())
    reached(Point.MANIFEST_WRITTEN)


def shown(parts: Parts, row: JournalRow) -> bool:
    """Whether vault.json shows this publication."""
    return read(parts.tree) == Manifest(parts.vault, row.generation, row.publication_id)


def _history(row: JournalRow, files: Sequence[PlannedFile], at: int) -> list[HistoryLine]:
    by_path = {file.path: file for file in files}
    return [
        HistoryLine(
            seq=0,
            folder=row.folder,
            record_id=record.id,
            revision=record.revision,
            path=record.path,
            title=record.title,
            change=row.change,
            agent=row.agent,
            at=at,
            sha256=by_path[record.path].sha256,
            blob=None,
            commit=None,
            request_id=row.request_id,
            message=row.message,
        )
        for record in decode_records(row.records)
    ]
