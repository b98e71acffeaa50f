"""Finishing what a kill or a failing disk left half done, before anybody reads (seed 000, Runtime)."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lorebank.errors import Conflict, LorebankError, NotFound, StoreUnavailable
from lorebank.storage.knowledge_ports import JournalRow
from lorebank.storage.tree.ports import FileState
from lorebank.vaults import reasons
from lorebank.vaults.publish.committing import catch_up
from lorebank.vaults.publish.finishing import finish, shown, write_manifest
from lorebank.vaults.publish.parts import Parts
from lorebank.vaults.publish.placing import Standing, place_all, standing
from lorebank.vaults.publish.planned import PlannedFile, decode
from lorebank.vaults.store.manifest import compare, mismatch, read

_log = logging.getLogger(__name__)
STAGING_PATIENCE: Final = 86_400
"""Seconds after which a staged file that no publication took is swept while the store is in use."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was done: request ids of the finished and of the dropped publications, temporary and staged files
    that were removed, commits that were caught up, and what keeps git behind."""

    finished: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    swept: int = 0
    commits: int = 0
    git_problem: str | None = None


def recover(parts: Parts, *, opening: bool) -> Recovered:
    """Bring the store to a whole state; to be called in its lane before the first view, and again whenever
    the journal is open. `opening` tells that nobody else can be at work in it: then what a kill left in
    the tree and in the staging folder is removed too.

    `StoreUnavailable`: conflicted_publication when the operator has to decide, pending_publication when
    the disk does not let it be finished, or why vault.json and database do not belong together.
    """
    refuse_strange_manifest(parts)
    rows = parts.state.open_journal()
    # A file that a person saved while a put was under way goes back to its place before anything is compared.
    swept = parts.tree.sweep() if opening or rows else 0
    finished: list[str] = []
    dropped: list[str] = []
    for row in rows:
        if row.state == "conflicted":
            raise conflicted(row)
        (finished if forward(parts, row) else dropped).append(row.request_id)
    swept += sweep_staging(parts, 0 if opening else STAGING_PATIENCE)
    caught = catch_up(parts)
    return Recovered(tuple(finished), tuple(dropped), swept, caught.commits, caught.problem)


def refuse_strange_manifest(parts: Parts) -> None:
    """`StoreUnavailable` unless vault.json shows the checkpoint or an open publication (statement 1.4.44)."""
    wrong = compare(read(parts.tree), parts.state.checkpoint(), parts.state.open_journal())
    if wrong is not None:
        raise mismatch(wrong)


def forward(parts: Parts, row: JournalRow) -> bool:
    """Finish an accepted publication; False when it was dropped instead.

    A file that is neither what it was nor what it shall be keeps it from being finished, unless vault.json
    shows it already: then all files were in place, and what differs was changed afterwards. Nobody was told
    of one that vault.json does not show. So it is dropped as a whole where none of its files is in place: the
    others' text stays, and the request can be repeated. Where one is, the operator decides.
    """
    files = decode(row.files, row.folder)
    if shown(parts, row):
        states: Sequence[FileState | None] | None = [_own_state(parts, row, file) for file in files]
    else:
        states = _placed(parts, row, files)
    if states is not None:
        finish(parts, row, files, states)
    done = "dropped, because a file was changed under it" if states is None else "finished"
    _log.info("publication %s of knowledge store %s was %s", row.publication_id, parts.vault, done)
    return states is not None


def conflicted(row: JournalRow) -> StoreUnavailable:
    """The refusal to read while an operator has to decide (statement 1.7.66)."""
    return StoreUnavailable(
        reasons.CONFLICTED_PUBLICATION,
        "a save that was accepted cannot be finished, because a file was changed under it; decide with "
        f"'lorebank vault resolve' (request {row.request_id})",
    )


def sweep_staging(parts: Parts, older_than: float) -> int:
    """Remove staged files that no open publication needs and that are older (seconds); how many went."""
    needed = {
        file.staged
        for row in (*parts.state.open_journal(), *parts.state.unfinished())
        for file in decode(row.files, row.folder)
    }
    if not parts.staging.is_dir():
        return 0
    gone, limit = 0, time.time() - older_than
    for path in parts.staging.iterdir():
        if path.name not in needed and path.lstat().st_mtime <= limit:
            path.unlink(missing_ok=True)
            gone += 1
    return gone


def _placed(parts: Parts, row: JournalRow, files: Sequence[PlannedFile]) -> list[FileState | None] | None:
    """The states of its files, None when it was dropped."""
    if any(_foreign(parts, row, file) for file in files):
        _drop(parts, row, files)
        return None
    states: list[FileState | None] = []
    try:
        place_all(parts, row.folder, files, states)
        write_manifest(parts, row)
    except (Conflict, NotFound):  # somebody changed a file, or removed a staged one
        _drop(parts, row, files)
        return None
    except StoreUnavailable:
        raise
    except (LorebankError, OSError) as exc:
        raise StoreUnavailable(
            reasons.PENDING_PUBLICATION,
            "a save that was accepted cannot be finished now; check the disk, then ask again",
            cause=exc,
        ) from exc
    return states


def _drop(parts: Parts, row: JournalRow, files: Sequence[PlannedFile]) -> None:
    """Forget it, or, where one of its files is in place, make it conflicted and raise so."""
    if any(not file.settled and standing(parts.tree, row.folder, file) is Standing.NEW for file in files):
        parts.state.conflict(row.folder, row.request_id)
        raise conflicted(row)
    parts.state.forget(row.folder, row.request_id)


def _foreign(parts: Parts, row: JournalRow, file: PlannedFile) -> bool:
    return standing(parts.tree, row.folder, file) is Standing.OTHER


def _own_state(parts: Parts, row: JournalRow, file: PlannedFile) -> FileState | None:
    """The state of a file as long as it holds what was published."""
    try:
        if standing(parts.tree, row.folder, file) is Standing.NEW:
            return parts.tree.state(f"{row.folder}/{file.path}")
    except (NotFound, StoreUnavailable):
        pass
    return None
