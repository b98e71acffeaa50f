"""Opening and making `vault/.git` so that nothing but the repository itself has a say.

libgit2 is told to read no system-wide or personal configuration, to run no owner check (the folder is ours by
its place; containers mount it under other users), and to sync every object and reference to disk. Hooks and
filters are not run by what we call.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import ConfigLevel, RepositoryInitFlag, RepositoryOpenFlag

from lorebank.storage.tree import refusals

MAIN: Final = "refs/heads/main"
STALE_SECONDS: Final = 2.0
"""git holds a reference's lock for milliseconds; one that is older was left by a kill."""
OWN_LOCK: Final = b"lorebank\n"
"""Contents of an `index.lock` of ours: git's own has an index in it, or nothing."""
_EXCLUDED: Final = "# written by lorebank\n/vault.json\n.lb-*\n*~\n.DS_Store\n.*.sw?\n"
_CACHE_BYTES: Final = 32 << 20


@cache
def configure() -> None:
    """Once a process."""
    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = ""
    pygit2.settings.owner_validation = False
    pygit2.settings.enable_fsync_gitdir(True)
    pygit2.settings.cache_max_size(_CACHE_BYTES)


def open_repository(git: Path) -> pygit2.Repository:
    """The repository in exactly this folder."""
    configure()
    repository = pygit2.Repository(str(git), RepositoryOpenFlag.NO_SEARCH)
    repository.set_ident("lorebank", "lorebank@localhost")
    return repository


def make_repository(git: Path) -> None:
    """An empty repository with its work tree around it; it appears complete or not at all."""
    configure()
    for left in git.parent.glob(".lb-git-*"):
        shutil.rmtree(left, ignore_errors=True)
    making = git.parent / f".lb-git-{secrets.token_hex(4)}"
    flags = RepositoryInitFlag.MKDIR | RepositoryInitFlag.NO_REINIT
    made = pygit2.init_repository(making, bare=True, flags=flags, initial_head="main")
    made.config["core.bare"] = False
    made.config["core.autocrlf"] = False
    made.free()
    info = making / "info"
    info.mkdir(exist_ok=True)
    (info / "exclude").write_text(_EXCLUDED, encoding="utf-8")
    making.chmod(0o700)
    for folder, _, files in os.walk(making):
        for name in files:
            sync(Path(folder, name))
        sync(Path(folder))
    making.rename(git)
    sync(git.parent)


def sync(path: Path) -> None:
    """Make a file's contents, or a folder's entries, durable."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def plain_folder(git: Path) -> os.stat_result | None:
    """The state of `.git` when it is a real folder; None when it is missing. A link, or a file that points
    elsewhere, is refused."""
    try:
        found = git.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusals.damaged(".git cannot be looked at. Check the disk", error) from error
    if not stat.S_ISDIR(found.st_mode):
        raise refusals.damaged(".git is no folder. Replace it by the repository itself")
    return found


def refuse_special(git: Path) -> None:
    """Refuse a pipe, socket or device where libgit2 reads a file: it would wait in it for ever."""
    heads = git / "refs" / "heads"
    named = [git / name for name in ("HEAD", "config", "packed-refs")]
    for path in (*named, *(heads.iterdir() if heads.is_dir() else ())):
        try:
            mode = path.stat().st_mode
        except OSError:
            continue  # what is missing, or cannot be read, libgit2 names itself
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise refusals.damaged(f".git/{path.relative_to(git)} is no plain file. Replace it")


def locks(git: Path) -> Iterator[Path]:
    """Lock files of references and their logs."""
    for name in ("HEAD.lock", "packed-refs.lock"):
        if (git / name).exists():
            yield git / name
    yield from (git / "refs").rglob("*.lock")
    yield from (git / "logs").rglob("*.lock")


def clear_stale(git: Path) -> int:
    """Remove what a kill of ours left: old locks of references, our own lock of the index. How many."""
    removed = 0
    for lock in list(locks(git)):
        if _age(lock) > STALE_SECONDS:
            lock.unlink(missing_ok=True)
            removed += 1
    index = git / "index.lock"
    if own_lock(index):
        index.unlink(missing_ok=True)
        removed += 1
    return removed


def own_lock(lock: Path) -> bool:
    """Whether an `index.lock` is ours; a person's git and its lock are left alone."""
    try:
        with lock.open("rb") as file:
            return file.read(len(OWN_LOCK) + 1) == OWN_LOCK
    except OSError:
        return False


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
