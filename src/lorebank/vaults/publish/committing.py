"""Git keeps up: everything that the database knows and git does not, in the order in which it happened.

A broken repository never loses a save: what could not be committed stays in the database, with its contents,
and is caught up at the next publication or opening.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lorebank.errors import InvalidInput, LorebankError, NotFound, StoreUnavailable
from lorebank.storage.knowledge_ports import HistoryLine, JournalRow
from lorebank.storage.tree.ports import History
from lorebank.vaults.publish.history import under_a_save
from lorebank.vaults.publish.parts import Parts
from lorebank.vaults.publish.placing import sha_at
from lorebank.vaults.publish.planned import decode
from lorebank.vaults.publish.points import Point, reached
from lorebank.vaults.record.values import MAX_RECORD_BYTES

_log = logging.getLogger(__name__)
EXTERNAL: Final = "external"
"""The author of what a person's editor did."""
OURS: Final = "lorebank"
"""The author of what no agent asked for."""
_TITLES: Final = 3

Content = bytes | Path | None


@dataclass(slots=True)
class _Batch:
    """What becomes one commit: edits from outside, or one publication."""

    row: JournalRow | None
    lines: list[HistoryLine] = field(default_factory=list)
    places: set[tuple[str, str]] = field(default_factory=set)

    def add(self, line: HistoryLine) -> None:
        self.lines.append(line)
        self.places.add((line.folder, line.path))


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """How many commits were made, and what kept the rest from being made."""

    commits: int
    problem: str | None = None


def catch_up(parts: Parts) -> CaughtUp:
    """Commit what git lacks. Never raises for git's sake: the problem is logged and given back."""
    made, problem = 0, None
    if parts.git is None or not parts.state.backlog():
        return CaughtUp(made)
    try:
        # First, because it fails at once where git is broken, before everything that waits is loaded.
        new = parts.git.head() is None
        had: dict[str, str] = {}
        for batch in _batches(parts.state.uncommitted(), parts.state.unfinished()):
            changes = _commit(parts, parts.git, batch)
            made += 1
            if new:
                had.update(_hashes(changes))
        if new:
            _commit_the_rest(parts, parts.git, had)
    except (LorebankError, OSError) as exc:
        problem = exc.message if isinstance(exc, LorebankError) else "the git repository cannot be written"
        _log.warning("git is behind in knowledge store %s: %s", parts.vault, problem)
    parts.after_commits(problem is None)
    return CaughtUp(made, problem)


def _batches(lines: Sequence[HistoryLine], rows: Sequence[JournalRow]) -> Iterator[_Batch]:
    """One for each publication, and one for the outside edits that were found at one moment."""
    by_name = {(row.folder, row.request_id): row for row in rows}
    batches: list[_Batch] = []
    for line in lines:
        row = by_name.get((line.folder, line.request_id or ""))
        if not batches or not _belongs(batches[-1], row, line):
            batches.append(_Batch(row))
        batches[-1].add(line)
    told = {batch.row.generation for batch in batches if batch.row is not None}
    silent = [row for row in rows if row.generation not in told]
    for batch in batches:
        while batch.row is not None and silent and silent[0].generation < batch.row.generation:
            yield _Batch(silent.pop(0))
        yield batch
    for row in silent:
        yield _Batch(row)


def _belongs(batch: _Batch, row: JournalRow | None, line: HistoryLine) -> bool:
    if batch.row is not None or row is not None:
        return batch.row is row
    return line.at == batch.lines[-1].at and (line.folder, line.path) not in batch.places


def _commit(parts: Parts, git: History, batch: _Batch) -> Mapping[str, Content]:
    """What went into the commit."""
    if batch.row is None:
        changes = _outside_changes(parts, batch.lines)
        author, message = EXTERNAL, _outside_message(batch.lines)
        requests = []
    else:
        changes = _published_changes(parts, batch.row)
        author, message = batch.row.agent or OURS, _message(batch.row, batch.lines)
        requests = [(batch.row.folder, batch.row.request_id)]
    commit = git.commit(changes, author=author, message=message)
    reached(Point.COMMITTED)
    blobs = {line.seq: _blob(git, commit, line, changes) for line in batch.lines}
    parts.state.committed(blobs, commit, requests)
    reached(Point.NOTED)
    return changes


def _hashes(changes: Mapping[str, Content]) -> dict[str, str]:
    """Path -> SHA-256 of what was committed there; empty where nothing is, or it is too large to tell."""
    return {
        path: hashlib.sha256(content).hexdigest() if isinstance(content, bytes) else ""
        for path, content in changes.items()
    }


def _commit_the_rest(parts: Parts, git: History, had: Mapping[str, str]) -> None:
    """A repository that somebody removed begins anew with all files, not only with the changed ones. What
    it `had` by now (path -> SHA-256) is not written once more."""
    changes: dict[str, Content] = {}
    for folder in [row.folder for row in parts.state.partitions()]:
        for row in parts.state.catalogue(folder):
            path = f"{folder}/{row.path}"
            content = None if had.get(path) == row.sha256 else _outside_content(parts, path, row.sha256)
            if content is not None:
                changes[path] = content
    if changes:
        git.commit(changes, author=OURS, message="all files, in a new history\n")


def _blob(git: History, commit: str, line: HistoryLine, changes: Mapping[str, Content]) -> str | None:
    """The blob's id, which follows from the contents (git's object format)."""
    path = f"{line.folder}/{line.path}"
    content = changes.get(path)
    if line.sha256 is None or content is None:
        return None
    if isinstance(content, Path):
        return git.blob_at(commit, path)
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _published_changes(parts: Parts, row: JournalRow) -> dict[str, Content]:
    """The contents from the journal; what was retained from its place in the vault."""
    changes: dict[str, Content] = {}
    for file in decode(row.files, row.folder):
        path = f"{row.folder}/{file.path}"
        if file.content is not None:
            changes[path] = file.content
        elif _stands(parts, path):
            changes[path] = parts.tree.root / path
    return changes


def _stands(parts: Parts, path: str) -> bool:
    """Whether a plain file is there. One that somebody has removed again must not keep git behind."""
    try:
        return parts.tree.state(path) is not None
    except StoreUnavailable:
        return False


def _outside_changes(parts: Parts, lines: Sequence[HistoryLine]) -> dict[str, Content]:
    """What people did. Contents that are nowhere any more (git was broken when they were replaced) are left
    out: the line stays in history without its text."""
    changes: dict[str, Content] = {}
    for line in lines:
        if line.old_path is not None and parts.tree.state(f"{line.folder}/{line.old_path}") is None:
            changes[f"{line.folder}/{line.old_path}"] = None
    for line in lines:
        path = f"{line.folder}/{line.path}"
        if line.sha256 is None:
            changes.setdefault(path, None)
            continue
        content = _outside_content(parts, path, line.sha256)
        if content is not None:
            changes[path] = content
    return changes


def _outside_content(parts: Parts, path: str, sha256: str) -> bytes | Path | None:
    kept = parts.state.kept(sha256)
    if kept is not None:
        return kept
    try:
        _, content = parts.tree.read(path, max_bytes=MAX_RECORD_BYTES)
        if hashlib.sha256(content).hexdigest() == sha256:
            return content
    except InvalidInput:
        if sha_at(parts.tree, path) == sha256:
            return parts.tree.root / path
    except (NotFound, StoreUnavailable):
        pass
    return under_a_save(parts.state, sha256)


def _message(row: JournalRow, lines: Sequence[HistoryLine]) -> str:
    head = f"{row.change}: {_titles(lines) or 'retained files'}"
    said = f"\n{row.message.strip()}\n" if row.message.strip() else ""
    return f"{head}\n{said}\nrequest: {row.request_id}\n"


def _outside_message(lines: Sequence[HistoryLine]) -> str:
    kinds = sorted({line.change.removeprefix("external_") for line in lines})
    return f"{', '.join(kinds)} by hand: {_titles(lines)}\n"


def _titles(lines: Sequence[HistoryLine]) -> str:
    names = [" ".join((line.title or line.path).split())[:100] for line in lines]
    more = f" (+{len(names) - _TITLES} more)" if len(names) > _TITLES else ""
    return ", ".join(names[:_TITLES]) + more
