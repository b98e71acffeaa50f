"""Copying a folder as it is, for backups: plain files and folders, read-only, no link followed.

What changes while it is read is read again; who needs one moment for several files sees to it that nobody
writes meanwhile.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from lorebank.errors import Unavailable
from lorebank.storage.tree.descriptors import FILE, kind_of, same
from lorebank.storage.tree.scan import shown

FOR_EVER: Final = 1 << 63
SETTLE_NS: Final = 2_000_000_000
"""A file that changed less than this before it was copied may have changed once more without showing it."""
_READS: Final = 5


def copy_below(
    source: Path, target: Path, wanted: Callable[[str], bool], *, settled_ns: int = FOR_EVER
) -> list[str]:
    """Copy what `wanted` says of its path below `source`; what was left out, with why, by path.

    A file that is in the target already, with the same size and time of change, is not copied again, unless
    it changed after `settled_ns` (nanoseconds since 1970). Missing folders are made, empty ones too. What
    vanishes meanwhile is no longer wanted. Nothing is synced. `Unavailable` when something cannot be read
    or written.
    """
    left_out: list[str] = []
    source = Path(os.path.realpath(source))  # a link in its place is an operator's; none below is followed
    try:
        for folder, below, names, here in os.fwalk(source, onerror=_raise, follow_symlinks=False):
            place = os.path.relpath(folder, source)
            prefix = "" if place == "." else f"{place}/"
            for name in [*below, *names]:
                path = prefix + name
                try:
                    found = os.stat(name, dir_fd=here, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if stat.S_ISDIR(found.st_mode):
                    if wanted(f"{path}/"):
                        (target / path).mkdir(mode=0o700, parents=True, exist_ok=True)
                elif not wanted(path):
                    continue
                elif kind := kind_of(found):
                    left_out.append(f"{shown(path)} is {kind[1]}, and is left out")
                elif found.st_mtime_ns > settled_ns or not _copied(target / path, found):
                    (target / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    _copy(here, name, target / path)
    except OSError as exc:
        raise _failed(exc) from exc
    return left_out


def drop_vanished(source: Path, target: Path) -> None:
    """Remove from the copy what is no longer in the source."""
    try:
        for folder, below, names in os.walk(target, topdown=False):
            place = os.path.relpath(folder, target)
            for name in names:
                if not os.path.lexists(os.path.join(source, place, name)):
                    os.unlink(os.path.join(folder, name))
            for name in below:
                if not os.path.isdir(os.path.join(source, place, name)):
                    os.rmdir(os.path.join(folder, name))
    except OSError as exc:
        raise _failed(exc) from exc


def _failed(exc: OSError) -> Unavailable:
    reason = exc.strerror or "unknown error"
    return Unavailable(
        f"a knowledge store cannot be copied ({reason}); check disk and permissions", cause=exc
    )


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _copied(target: Path, found: os.stat_result) -> bool:
    try:
        there = target.lstat()
    except FileNotFoundError:
        return False
    return (there.st_size, there.st_mtime_ns) == (found.st_size, found.st_mtime_ns)


def _copy(here: int, name: str, target: Path) -> None:
    for _ in range(_READS):
        try:
            handle = os.open(name, FILE, dir_fd=here)
        except FileNotFoundError:
            target.unlink(missing_ok=True)
            return
        with os.fdopen(handle, "rb") as file:
            before = os.fstat(handle)
            made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(made, "wb") as copy:
                shutil.copyfileobj(file, copy, 1 << 20)
            os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
            if same(before, os.fstat(handle)):
                return
