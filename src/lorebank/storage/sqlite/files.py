"""Files and folders that only their owner may read, and changes that survive a power cut."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lorebank.errors import Unavailable


@contextmanager
def disk() -> Iterator[None]:
    """Turns an error of the operating system into `Unavailable`, without a path in the message."""
    try:
        yield
    except OSError as exc:
        reason = exc.strerror or "unknown error"
        raise Unavailable(
            f"the data directory cannot be used ({reason}); check its disk, owner and permissions", cause=exc
        ) from exc


class NotPlain(OSError):
    """A pipe, socket, device or folder stands where a file is to be read."""


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading. `NotPlain` for anything else: a pipe without a writer would keep the thread
    for ever, and the server from stopping."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlain(errno.EINVAL, f"{path.name} is no plain file")
    return open(descriptor, "rb")


def plain_text(path: Path) -> str | None:
    """The text of a plain file, None when there is none. `Unavailable` when it cannot be read."""
    with disk():
        try:
            with open_plain(path) as file:
                return file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return None


def make_folder(path: Path) -> None:
    """A folder for its owner only, durable; one that is there already stays as it is."""
    with disk():
        if not path.is_dir():
            path.mkdir(mode=0o700, parents=True)
            sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it, durably; a missing one is fine."""
    with disk():
        there = path.exists()
        while path.exists():
            with suppress(FileNotFoundError):  # a connection that closes removes files of its own
                shutil.rmtree(path)
        if there:
            sync_folder(path.parent)


def write_private(path: Path, text: str) -> None:
    """Put `text` into a file of mode 0600, whole or not at all, durably."""
    with disk():
        draft = path.with_name(path.name + ".new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync_folder(path.parent)


def remove_file(path: Path) -> None:
    """Remove a file durably; a missing one is fine."""
    with disk():
        if path.exists():
            path.unlink()
            sync_folder(path.parent)


def others_may_write(path: Path) -> bool:
    """Whether users other than the owner can change the folder, as on some mounted drives."""
    with disk():
        return bool(path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def sync_filesystem(folder: Path) -> None:
    """Make everything durable that was written on the file system of `folder`: cheaper than one file after
    another where there are many."""
    with disk():
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            one = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
            if one is None:
                os.sync()
            elif one(descriptor) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        finally:
            os.close(descriptor)
