"""`History` over a git repository that a person may use as well.

Commits go to the branch that HEAD names, also while a merge is under way; when HEAD is detached (an old
commit is checked out, a rebase) they go to `main`. A person's commits on top are simply the parents of ours.
Records never depend on the repository: when it is missing or damaged, `StoreUnavailable` (damaged) is raised
here, and what was to be committed waits.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Final

import pygit2
from pygit2.enums import ReferenceType, SortMode

from lorebank.access import reasons
from lorebank.errors import StoreUnavailable, Unavailable, printable
from lorebank.storage.tree import git_check, git_index, git_setup, git_trees, refusals
from lorebank.storage.tree.names import checked_parts
from lorebank.storage.tree.ports import CommitInfo

COMMITTER: Final = "lorebank"
EMAIL: Final = "lorebank@localhost"
_MANY: Final = 100
"""From so many files on they are synced together, not one by one."""
_ATTEMPTS: Final = 3
_COMMITTING: Final = Lock()
"""libgit2's switch for syncing holds for the whole process."""
_NO_ROOM: Final = ("No space left", "Read-only file system", "Permission denied", "quota")


class GitHistory:
    """See `ports.History`. Nothing is opened before it is needed, so making one never fails."""

    def __init__(self, vault: Path, *, create: bool, now: Callable[[], float] = time.time) -> None:
        """`create`: make the repository when there is none (statement 1.5.45: in writable mode only)."""
        self._git = vault / ".git"
        self._create = create
        self._now = now
        self._opened: tuple[int, int, pygit2.Repository] | None = None

    def commit(
        self,
        changes: Mapping[str, bytes | Path | None],
        *,
        author: str,
        message: str,
        exactly: bool = False,
    ) -> str:
        """See `ports.History`. `exactly`: these are all files there are, and a commit is made also when
        nothing differs."""
        parts = {checked_parts(path): content for path, content in changes.items()}
        with _COMMITTING, _guarded():
            repository = self._repository()
            many = len(parts) >= _MANY
            pygit2.settings.enable_fsync_gitdir(not many)
            try:
                blobs = {
                    path: None if content is None else git_trees.store_blob(repository, content)
                    for path, content in parts.items()
                }
                return self._commit(repository, git_trees.grouped(blobs), author, message, many, exactly)
            finally:
                pygit2.settings.enable_fsync_gitdir(True)

    def _commit(
        self,
        repository: pygit2.Repository,
        changed: git_trees.Folder,
        author: str,
        message: str,
        many: bool,
        exactly: bool,
    ) -> str:
        """The reference moves only when it is where it was when the trees were built."""
        left = _ATTEMPTS
        while True:
            branch = _branch(repository)
            tip = _tip(repository, branch)
            before = repository[tip].peel(pygit2.Tree) if tip else None
            base = None if exactly else before
            tree = git_trees.build(repository, base, changed) or repository.TreeBuilder().write()
            if tip and before is not None and before.id == tree and not exactly:
                return str(tip)
            if many:
                self._sync_all()
            try:
                return str(self._point(repository, branch, tip, tree, author, message))
            except git_check.BROKEN:
                left -= 1
                if not left or not self._in_the_way(_tip(repository, branch) != tip):
                    raise

    def _in_the_way(self, moved: bool) -> bool:
        """Whether it was another commit or a stale lock that kept the reference from moving, so that once
        more may do. A lock that git holds now is `StoreUnavailable` (busy)."""
        if moved or git_setup.clear_stale(self._git):
            return True
        if any(git_setup.locks(self._git)):
            raise StoreUnavailable(reasons.BUSY, "git holds a lock in the vault's history. Ask again")
        return False

    def _point(
        self,
        repository: pygit2.Repository,
        branch: str,
        tip: pygit2.Oid | None,
        tree: pygit2.Oid,
        author: str,
        message: str,
    ) -> pygit2.Oid:
        at = int(self._now())
        return repository.create_commit(
            branch,
            pygit2.Signature(person(author), EMAIL, at, 0),
            pygit2.Signature(COMMITTER, EMAIL, at, 0),
            printable(message) or "save",
            tree,
            [tip] if tip else [],
        )

    def _sync_all(self) -> None:
        """Everything written so far becomes durable, before a reference names it."""
        pygit2.settings.enable_fsync_gitdir(True)
        folder = os.open(self._git, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            one = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
            if one is None:
                os.sync()
            elif one(folder) != 0:
                raise OSError(ctypes.get_errno(), "syncfs")
        finally:
            os.close(folder)

    def head(self) -> str | None:
        with _guarded():
            repository = self._repository()
            tip = _tip(repository, _branch(repository))
        return str(tip) if tip else None

    def blob(self, blob_id: str) -> bytes | None:
        with _guarded():
            repository = self._repository()
            try:
                found = repository.get(pygit2.Oid(hex=blob_id))
            except ValueError:
                return None
            return found.data if isinstance(found, pygit2.Blob) else None

    def blob_at(self, commit: str, path: str) -> str | None:
        with _guarded():
            repository = self._repository()
            try:
                found = repository.get(pygit2.Oid(hex=commit))
            except ValueError:
                return None
            if not isinstance(found, pygit2.Commit):
                return None
            oid = _entry(found, path)
        return str(oid) if oid else None

    def log(self, path: str | None = None, *, limit: int = 100) -> Iterator[CommitInfo]:
        with _guarded():
            repository = self._repository()
            tip = _tip(repository, _branch(repository))
            given = 0
            for commit in repository.walk(tip, SortMode.TOPOLOGICAL | SortMode.TIME) if tip else ():
                if given >= limit:
                    return
                if path is None or _touches(commit, path):
                    given += 1
                    yield CommitInfo(str(commit.id), commit.author.name, commit.commit_time, commit.message)

    def refresh_index(self) -> None:
        with _guarded():
            repository = self._repository()
            tip = _tip(repository, _branch(repository))
            if tip:
                git_index.refresh(repository, self._git, repository[tip].peel(pygit2.Tree))

    def check(self) -> list[str]:
        try:
            with _guarded():
                repository = self._repository()
                branch = _branch(repository)
                return list(git_check.problems(repository, self._git, branch, _tip(repository, branch)))
        except Unavailable as error:
            return [error.message]

    def close(self) -> None:
        """Give files and memory back; the next use opens them again."""
        if self._opened:
            self._opened[2].free()
            self._opened = None

    def _repository(self) -> pygit2.Repository:
        """The repository as it stands there now: one that was exchanged is opened anew."""
        found = git_setup.plain_folder(self._git)
        if found is None:
            if not self._create:
                raise refusals.damaged(".git is missing. Put it back, or let a save make a new one")
            git_setup.make_repository(self._git)
            found = self._git.lstat()
        git_setup.refuse_special(self._git)
        if self._opened is None or self._opened[:2] != (found.st_dev, found.st_ino):
            git_setup.clear_stale(self._git)
            self._opened = (found.st_dev, found.st_ino, git_setup.open_repository(self._git))
        return self._opened[2]


@contextmanager
def _guarded() -> Iterator[None]:
    """What libgit2 raises, as errors of ours."""
    try:
        yield
    except git_check.BROKEN as error:
        text = str(error)
        # libgit2's own trouble comes as an OSError without a number.
        if isinstance(error, OSError) and error.errno:
            raise refusals.unwritable("the vault's git history", error) from error
        if any(word in text for word in _NO_ROOM):
            message = "Cannot write the vault's git history: the disk is full or may not be written. Mend it"
            raise Unavailable(message, cause=error) from error
        raise refusals.damaged("run `lorebank vault check`. Records are not affected", error) from error


def person(name: str) -> str:
    """A name as git takes it: one line, no angle brackets, not empty."""
    clean = " ".join("".join(" " if c in "<>" or not c.isprintable() else c for c in name).split())
    return clean.encode("utf-8", "ignore").decode("utf-8").strip(" .,:;\"'\\")[:100].strip() or "unknown"


def _branch(repository: pygit2.Repository) -> str:
    """The reference that commits go to."""
    head = repository.lookup_reference("HEAD")
    if head.type == ReferenceType.SYMBOLIC and str(head.target).startswith("refs/heads/"):
        return str(head.target)
    return git_setup.MAIN


def _tip(repository: pygit2.Repository, branch: str) -> pygit2.Oid | None:
    try:
        target = repository.lookup_reference(branch).resolve().target
    except KeyError:
        return None
    return target if isinstance(target, pygit2.Oid) else None


def _entry(commit: pygit2.Commit, path: str) -> pygit2.Oid | None:
    try:
        return commit.tree[path].id
    except KeyError:
        return None


def _touches(commit: pygit2.Commit, path: str) -> bool:
    """Whether the path differs from what it was in every parent."""
    now = _entry(commit, path)
    if not commit.parents:
        return now is not None
    return all(_entry(parent, path) != now for parent in commit.parents)
