"""One publication, from the request to the receipt (DESIGN, One lane per store).

The journal gets the whole publication before the first file changes; from then on it is finished, by recovery
if need be, or taken back as a whole. It counts, and is acknowledged, once the database has the receipt.
Everything here runs inside the store's lane.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import orjson

from lorebank.errors import (
    Bug,
    Conflict,
    InvalidInput,
    LorebankError,
    StoreUnavailable,
    Unavailable,
)
from lorebank.ids import new_uuid
from lorebank.storage.knowledge_ports import JournalRow
from lorebank.storage.tree.ports import FileState
from lorebank.vaults import reasons
from lorebank.vaults.publish.finishing import finish, receipt_of, shown, write_manifest
from lorebank.vaults.publish.parts import Desk, Order, Parts, Plan, Published
from lorebank.vaults.publish.placing import (
    content_at,
    place_all,
    refuse_changed,
    sha_at,
    take_back,
)
from lorebank.vaults.publish.planned import PlannedFile, encode, encode_records
from lorebank.vaults.publish.points import Point, reached
from lorebank.vaults.publish.recovery import recover
from lorebank.vaults.record.values import MAX_RECORD_BYTES
from lorebank.vaults.store.values import Draft, FileChange


def publish(parts: Parts, desk: Desk, order: Order, plan: Plan) -> Published:
    """Publish what `plan` makes of the newest view.

    A request that was published before gives its receipt again and calls nothing; the same id with another
    digest is `Conflict`. What `desk.check` and `plan` raise leaves everything as it was. `RevisionConflict`
    when a file is not what the plan saw: what the other one wrote stays. `Unavailable` when the disk fails:
    then the publication is taken back, or, where that fails too, finished by the next recovery; the same
    request tells which.
    """
    desk.check()
    if parts.state.open_journal():
        recover(parts, opening=False)
    done = replay(parts, order)
    if done is not None:
        return done
    draft = plan(desk.refresh())
    files = _planned(parts, desk, order, draft)
    row = _journal_row(parts, order, draft, files)
    reached(Point.PLANNED)
    desk.check()
    parts.state.accept(row)
    reached(Point.ACCEPTED)
    states = _place(parts, desk, row, files)
    return finish(parts, row, files, states)


def replay(parts: Parts, order: Order) -> Published | None:
    """The receipt of an earlier publication of this request in this partition; None when there is none."""
    row = parts.state.journaled(order.partition.folder, order.request_id)
    if row is None:
        return None
    if row.digest != order.digest:
        raise Conflict("the request id was used for another request; use a new one")
    if row.state != "published":
        raise StoreUnavailable(
            reasons.CONFLICTED_PUBLICATION if row.state == "conflicted" else reasons.PENDING_PUBLICATION,
            "this request was accepted and is not finished; see 'lorebank vault check'",
        )
    return Published(replace(receipt_of(row), replayed=True))


def _planned(parts: Parts, desk: Desk, order: Order, draft: Draft) -> tuple[PlannedFile, ...]:
    """The draft's files beside what is there now. Refuses what would be torn or unreadable later."""
    paths = [change.path for change in draft.files]
    if len(set(paths)) != len(paths):
        raise Bug("a publication names a file twice")
    unknown = {record.path for record in draft.records} - set(paths)
    if unknown:
        raise Bug("a publication tells of a record without its file")
    return tuple(_planned_file(parts, desk, order.partition.folder, change) for change in draft.files)


def _planned_file(parts: Parts, desk: Desk, folder: str, change: FileChange) -> PlannedFile:
    path = f"{folder}/{change.path}"
    before = None
    if change.expected is not None:
        before = content_at(parts.tree, path)
        had = None if before is None else hashlib.sha256(before).hexdigest()
    else:
        had = sha_at(parts.tree, path)
    sha256 = _sha(change)
    file = PlannedFile(
        path=change.path,
        sha256=sha256,
        content=change.content,
        staged=None if change.staged is None else change.staged.name,
        had=change.expected,
        before=before,
        row=desk.describe(replace(change, sha256=sha256)),
    )
    kept = change.staged is not None or change.action == "retain"
    if had == change.expected:
        return file
    if kept and had == sha256:
        return replace(file, had=sha256)
    raise refuse_changed(parts.tree, folder, file)


def _sha(change: FileChange) -> str:
    if change.content is None:
        if change.staged is None or not change.sha256:
            raise Bug("a file of a publication needs contents, or a staged file with its SHA-256")
        return change.sha256
    if change.action == "write" and len(change.content) > MAX_RECORD_BYTES:
        raise InvalidInput(f"{change.path} would be larger than {MAX_RECORD_BYTES:,} bytes; make it shorter")
    return hashlib.sha256(change.content).hexdigest()


def _journal_row(parts: Parts, order: Order, draft: Draft, files: Sequence[PlannedFile]) -> JournalRow:
    return JournalRow(
        request_id=order.request_id,
        digest=order.digest,
        folder=order.partition.folder,
        agent=order.agent,
        change=order.change,
        files=encode(files),
        records=encode_records(draft.records),
        answer=orjson.dumps(dict(draft.answer)).decode(),
        message=draft.message,
        generation=parts.state.checkpoint().generation + 1,
        publication_id=new_uuid(),
        state="accepted",
        accepted_at=parts.now(),
        published_at=None,
        commit=None,
    )


def _place(parts: Parts, desk: Desk, row: JournalRow, files: Sequence[PlannedFile]) -> list[FileState | None]:
    """The files and vault.json, or nothing: what fails on the way is taken back."""
    states: list[FileState | None] = []
    try:
        desk.check()
        place_all(parts, row.folder, files, states)
        write_manifest(parts, row)
    except (LorebankError, OSError) as exc:
        refusal = _refusal(parts, row, files, exc)
        _give_up(parts, row, files, len(states), exc)
        raise refusal from exc
    return states


def _give_up(
    parts: Parts, row: JournalRow, files: Sequence[PlannedFile], placed: int, why: Exception
) -> None:
    """Take the publication back. Where the disk does not allow it, it stays accepted, and recovery finishes
    it; where somebody changed what was written already, the operator decides."""
    try:
        if shown(parts, row):
            raise Unavailable("vault.json shows it already")
        if take_back(parts, row.folder, files, placed):
            parts.state.forget(row.folder, row.request_id)
            reached(Point.FORGOTTEN)
        else:
            parts.state.conflict(row.folder, row.request_id)
    except (LorebankError, OSError) as exc:
        raise Unavailable(
            "the save could neither be finished nor taken back now; that will be done before the next use of "
            "the store. Repeat the request with the same id to learn how it ended",
            cause=why,
        ) from exc


def _refusal(parts: Parts, row: JournalRow, files: Sequence[PlannedFile], exc: Exception) -> LorebankError:
    """What the caller hears: a file that changed in the last moment with both sides, else what happened."""
    if isinstance(exc, OSError):
        return Unavailable(f"the vault cannot be written ({exc.strerror or 'unknown error'})", cause=exc)
    assert isinstance(exc, LorebankError)
    if type(exc) is not Conflict:
        return exc
    for file in files:
        if sha_at(parts.tree, f"{row.folder}/{file.path}") not in (file.had, file.sha256):
            return refuse_changed(parts.tree, row.folder, file)
    return exc
