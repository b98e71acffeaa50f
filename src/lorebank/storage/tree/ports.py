"""The file tree of one vault as the rooms above use it. The implementation stands beside it.

Paths are relative, with `/`, in NFC, and never leave the root: no `..`, no absolute path, no empty part, no
part that begins with `.`, no control characters. Symlinks, hardlinks (more than one link) and special files
are refused wherever they stand (seed 000, Limits).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

MAX_ENTRIES = 100_000
"""Filesystem entries in one scan of a partition (seed 000, Limits)."""
MAX_DEPTH = 8
"""Folders below the partition's root (seed 000, Limits)."""


class FileState(NamedTuple):
    """A plain file as a scan or an open found it (`Stamp` of `vaults.store.values` has the same fields). A
    tuple, because a scan makes up to 100,000 of them."""

    path: str
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class TreeProblem:
    """Something in the tree that is refused: a link, a special file, a name that folds to another's."""

    path: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class Scanned:
    """A whole scan: every plain file by path, in order of path, and what was refused. Never partial: a
    scan that cannot be completed raises."""

    files: Mapping[str, FileState]
    problems: tuple[TreeProblem, ...]
    entries: int

    def refuses(self, path: str) -> bool:
        """Whether a path that is not in `files` is withheld (it, or a folder above it, is in `problems`)
        and not deleted."""
        refused = {problem.path for problem in self.problems}
        parts = path.split("/")
        return any("/".join(parts[:depth]) in refused for depth in range(1, len(parts) + 1))


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a folder the same folder: device and inode."""

    device: int
    inode: int


class Tree(Protocol):
    """The files below one folder, held open by a descriptor: exchanging the folder is noticed."""

    @property
    def root(self) -> Path: ...

    def identity(self, folder: str = "") -> Identity | None:
        """Of a folder reached without following links, looked up by path now; None when it is missing."""

    def scan(self, folder: str, *, max_entries: int = MAX_ENTRIES, max_depth: int = MAX_DEPTH) -> Scanned:
        """Everything below `folder`. `StoreUnavailable` (scan_limit, scan_incomplete, missing_partition).

        Every entry counts, also what is refused or passed over (names that begin with `.`, editors'
        backups); what is inside a folder that is refused or passed over is not looked at.
        """

    def state(self, path: str) -> FileState | None:
        """One file's state; None when it is missing; `StoreUnavailable` (unsafe_file) for a link."""

    def read(self, path: str, *, max_bytes: int) -> tuple[FileState, bytes]:
        """A file's bytes, read through one descriptor whose state is the same before and after.
        `NotFound`, `StoreUnavailable` (unsafe_file), `InvalidInput` when it is larger."""

    def open(self, path: str) -> AbstractContextManager[BinaryIO]:
        """A file for streaming reads, opened without following links."""

    def make_folder(self, path: str) -> None:
        """Make it with its parents, durably; fine when it is there. The only way that a partition's own
        folder (`private`, `conversations/<id>`) comes to be."""

    def put(self, path: str, content: bytes, *, expected: str | None) -> FileState:
        """Write to a temporary file, sync, put it in place, sync the folder.

        `expected` is the SHA-256 of what must be there now (None: nothing). When something else is there,
        also when it came in the last moment, it stays as it was and `Conflict` is raised. When `content`
        itself is there already, that is fine. Missing folders are made, except the partition's own
        (`StoreUnavailable`, missing_partition). `Unavailable` when the disk is full or may not be written:
        nothing was changed.
        """

    def move_in(self, staged: Path, path: str) -> FileState:
        """Put a synced file from outside in place of nothing; `Conflict` when something is there, `NotFound`
        when `staged` is gone. Folders as with `put`."""

    def remove(self, path: str, *, expected: str) -> None:
        """Remove a file that has these contents; `Conflict` otherwise; fine when it is gone."""

    def sweep(self, folder: str = "") -> int:
        """Remove temporary files that a kill left; how many went. Not while a `put` is under way. A person's
        save that a kill caught in the middle of an exchange goes back to its name."""

    def close(self) -> None:
        """Give the descriptor back."""


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """One commit: its id, author name, time (seconds since 1970), message."""

    id: str
    author: str
    at: int
    message: str


class History(Protocol):
    """The git repository in `vault/.git`. Not safe from two threads at once: the store's lane sees to it."""

    def commit(self, changes: Mapping[str, bytes | Path | None], *, author: str, message: str) -> str:
        """A commit on the current branch with these files set (None: removed), made by building trees, all
        objects synced before the reference moves. The new commit's id; the newest one when nothing
        differs."""

    def head(self) -> str | None: ...

    def blob(self, blob_id: str) -> bytes | None:
        """An object's bytes; None when the repository does not have it."""

    def blob_at(self, commit: str, path: str) -> str | None:
        """The blob's id of a path in a commit."""

    def log(self, path: str | None = None, *, limit: int = 100) -> Iterator[CommitInfo]: ...

    def refresh_index(self) -> None:
        """Write git's index for the newest commit, so that a person's `git status` is clean."""

    def check(self) -> list[str]:
        """What is wrong with the repository, in sentences."""
