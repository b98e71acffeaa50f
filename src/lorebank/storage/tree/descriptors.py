"""Folders and files by descriptor: a path is walked part by part, and no part may be a link.

A folder that is exchanged for a symlink between a check and a use cannot lead outside, because what was
checked is the descriptor that is used.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from lorebank.errors import InvalidInput, NotFound
from lorebank.storage.tree import refusals
from lorebank.storage.tree.ports import FileState

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK the opening of a pipe would wait for a writer.
FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CHUNK: Final = 1 << 20

Pause = Callable[[str, str], None]
"""Called with the name of a step and the path, so that tests can do something in between."""


def no_pause(step: str, path: str) -> None:
    """What runs outside of tests."""


def state_of(path: str, found: os.stat_result) -> FileState:
    return FileState(path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def kind_of(found: os.stat_result) -> tuple[str, str] | None:
    """Why an entry is no plain file, as rule and words; None for a plain file."""
    if stat.S_ISREG(found.st_mode) and found.st_nlink < 2:
        return None
    if stat.S_ISLNK(found.st_mode):
        return "symlink", "a symbolic link"
    if not stat.S_ISREG(found.st_mode):
        return "special_file", "no plain file"
    return "hardlink", "a hard link to another file"


def plain(path: str, found: os.stat_result) -> os.stat_result:
    """`found`, when it is of a plain file with one link; `StoreUnavailable` (unsafe_file) otherwise."""
    kind = kind_of(found)
    if kind:
        raise refusals.unsafe(path, kind[1])
    return found


def same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether nothing was done to the file in between."""
    return (one.st_dev, one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_nlink) == (
        other.st_dev,
        other.st_ino,
        other.st_size,
        other.st_mtime_ns,
        other.st_ctime_ns,
        other.st_nlink,
    )


def open_folder(parent: int, name: str, path: str) -> int:
    """A descriptor of a folder in a folder. `NotFound`; `StoreUnavailable` for a link or anything else."""
    try:
        return os.open(name, FOLDER, dir_fd=parent)
    except FileNotFoundError as error:
        raise NotFound(f"There is no folder {path}.", cause=error) from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise refusals.unsafe(path, "no folder") from error
        raise refusals.unreadable(path, error) from error


def again(here: int) -> int:
    """A folder opened once more. Not a duplicate: those share the place in the listing."""
    return os.open(".", FOLDER, dir_fd=here)


def walk(root: int, parts: tuple[str, ...], pause: Pause = no_pause) -> int:
    """A new descriptor of the folder that the parts lead to; the caller closes it."""
    here = again(root)
    for depth, name in enumerate(parts, 1):
        path = "/".join(parts[:depth])
        try:
            below = open_folder(here, name, path)
        finally:
            os.close(here)
        here = below
        pause("folder_opened", path)
    return here


@contextmanager
def folder(root: int, parts: tuple[str, ...], pause: Pause = no_pause) -> Iterator[int]:
    """The same, closed when the block is left."""
    here = walk(root, parts, pause)
    try:
        yield here
    finally:
        os.close(here)


def open_file(parent: int, name: str, path: str) -> tuple[int, os.stat_result]:
    """A descriptor of a plain file and its state. `NotFound`; `StoreUnavailable` (unsafe_file)."""
    try:
        handle = os.open(name, FILE, dir_fd=parent)
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {path}.", cause=error) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise refusals.unsafe(path, "a symbolic link") from error
        if error.errno == errno.ENXIO:
            raise refusals.unsafe(path, "no plain file") from error
        raise refusals.unreadable(path, error) from error
    try:
        return handle, plain(path, os.fstat(handle))
    except BaseException:
        os.close(handle)
        raise


def read_steady(
    parent: int, name: str, path: str, max_bytes: int, pause: Pause = no_pause
) -> tuple[FileState, bytes] | None:
    """A file's bytes when its state is the same before and after; None when it changed meanwhile."""
    handle, before = open_file(parent, name, path)
    try:
        pause("file_opened", path)
        if before.st_size > max_bytes:
            raise InvalidInput(f"{path} has {before.st_size} bytes; {max_bytes} are the most.")
        content = _read(handle, before.st_size + 1)
        pause("file_read", path)
        after = os.fstat(handle)
    except OSError as error:
        raise refusals.unreadable(path, error) from error
    finally:
        os.close(handle)
    if len(content) != before.st_size or not same(before, after):
        return None
    return state_of(path, before), content


def _read(handle: int, size: int) -> bytes:
    """Up to `size` bytes: mostly one call."""
    content = os.read(handle, size)
    while len(content) < size and (more := os.read(handle, size - len(content))):
        content += more
    return content


def digest(handle: int) -> str:
    """The SHA-256 of a whole file, in small pieces."""
    total = hashlib.sha256()
    os.lseek(handle, 0, os.SEEK_SET)
    while piece := os.read(handle, CHUNK):
        total.update(piece)
    return total.hexdigest()
