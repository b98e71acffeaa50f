"""git's index for the newest commit. We never read it; a person's `git status` does.

It is written beside the old one and moved over it, under git's own lock. When somebody else holds that lock,
or a merge or rebase is under way, or an old commit is checked out, the index is a person's matter and stays.
What a person had staged otherwise is unstaged; the files themselves are never touched.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import pygit2
from pygit2.enums import RepositoryState

from lorebank.storage.tree.git_setup import OWN_LOCK, sync


def refresh(repository: pygit2.Repository, git: Path, tree: pygit2.Tree) -> bool:
    """Whether the index says now what the tree says. Entries that are unchanged keep what git noted of the
    files, so the next `git status` reads only the others."""
    if repository.head_is_detached or repository.state() != RepositoryState.NONE:
        return False
    lock = git / "index.lock"
    try:
        handle = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(OWN_LOCK)
        _write(git, tree)
    finally:
        lock.unlink(missing_ok=True)
    return True


def _write(git: Path, tree: pygit2.Tree) -> None:
    index, making = git / "index", git / "lorebank-index"
    making.with_name("lorebank-index.lock").unlink(missing_ok=True)
    making.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        content = index.read_bytes()
        if _whole(content):
            making.write_bytes(content)
    try:
        fresh = pygit2.Index(str(making))
    except pygit2.GitError:
        making.unlink(missing_ok=True)
        fresh = pygit2.Index(str(making))
    fresh.read_tree(tree)
    fresh.write()
    sync(making)
    making.replace(index)


def _whole(content: bytes) -> bool:
    """Whether an index ends with its own checksum; otherwise only git's notes of the files are lost."""
    return hashlib.sha1(content[:-20], usedforsecurity=False).digest() == content[-20:]
