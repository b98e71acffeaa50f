"""What is wrong with a repository, in sentences for `lorebank vault check`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pygit2
from pygit2.enums import RepositoryState, SortMode

from lorebank.storage.tree.git_setup import locks, own_lock

BROKEN = (pygit2.GitError, KeyError, ValueError, OSError)
"""What libgit2's objects raise for damage."""


def problems(repository: pygit2.Repository, git: Path, branch: str, tip: pygit2.Oid | None) -> Iterator[str]:
    """Damage first, then what stands in the way, then what is merely unusual."""
    if tip is None:
        yield f"{branch} has no commit yet."
    else:
        yield from _commits(repository, tip)
        yield from _objects(repository, tip)
    for lock in locks(git):
        yield f"{lock.relative_to(git)} is there: git is busy, or was stopped. Remove it when no git runs."
    index = git / "index.lock"
    if index.exists() and not own_lock(index):
        yield "index.lock is there: git is busy, or was stopped. Remove it when no git runs."
    if repository.head_is_detached:
        yield f"An old commit is checked out; lorebank commits to {branch}. Run `git switch` to return."
    elif repository.state() != RepositoryState.NONE:
        yield "A merge or another operation of git is under way. Finish it, or run its --abort."


def _commits(repository: pygit2.Repository, tip: pygit2.Oid) -> Iterator[str]:
    try:
        for _ in repository.walk(tip, SortMode.NONE):
            pass
    except BROKEN:
        yield "A commit in the history is missing or damaged. Copy the repository, then run `git fsck`."


def _objects(repository: pygit2.Repository, tip: pygit2.Oid) -> Iterator[str]:
    """Every tree of the newest commit is read, every file's blob must be there."""
    try:
        waiting: list[tuple[str, pygit2.Oid]] = [("", repository[tip].peel(pygit2.Tree).id)]
    except BROKEN:
        yield "The newest commit cannot be read. Copy the repository, then run `git fsck`."
        return
    while waiting:
        path, oid = waiting.pop()
        try:
            entries = [
                (entry.name or "", entry.id, entry.type_str) for entry in repository[oid].peel(pygit2.Tree)
            ]
        except BROKEN:
            yield f"The folder {path or 'at the top'} of the newest commit is missing or damaged."
            continue
        for name, inner, kind in entries:
            if kind == "tree":
                waiting.append((f"{path}{name}/", inner))
            elif kind == "blob" and inner not in repository:
                yield f"The contents of {path}{name} in the newest commit are missing."
