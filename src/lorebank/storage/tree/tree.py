"""`Tree` over a real folder."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from lorebank.access import reasons
from lorebank.errors import NotFound, StoreUnavailable
from lorebank.storage.tree import place, refusals, renames
from lorebank.storage.tree.descriptors import (
    FOLDER,
    Pause,
    again,
    folder,
    no_pause,
    open_file,
    plain,
    read_steady,
    state_of,
    walk,
)
from lorebank.storage.tree.names import checked_parts, folder_parts, partition_length
from lorebank.storage.tree.ports import MAX_DEPTH, MAX_ENTRIES, FileState, Identity, Scanned
from lorebank.storage.tree.scan import scan
from lorebank.storage.tree.sweep import sweep

_READS: Final = 5
"""Attempts to read a file that changes."""

T = TypeVar("T")


class FileTree:
    """See `ports.Tree`. `put`, `move_in` and `remove` are not safe beside each other on one path; the
    store's lane sees to it. Everything else may be called from any thread.

    `pause` is called with a step's name and a path, for tests that change something in between.
    """

    def __init__(self, root: Path, *, pause: Pause = no_pause) -> None:
        """`StoreUnavailable` (missing_store, unsafe_file) when the folder is not there or is a link."""
        self._root = root
        self._pause = pause
        try:
            self._fd = os.open(root, FOLDER)
        except FileNotFoundError as error:
            message = "The vault's folder is missing. Put it back"
            raise StoreUnavailable(reasons.MISSING_STORE, message, cause=error) from error
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise refusals.unsafe("", "no folder") from error
            raise refusals.unreadable("", error) from error

    @property
    def root(self) -> Path:
        return self._root

    def close(self) -> None:
        """Give the descriptor back; the tree cannot be used any more."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def identity(self, folder: str = "") -> Identity | None:
        parts = folder_parts(folder)
        try:
            top = os.open(self._root, FOLDER)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refusals.unsafe(folder, "no folder") from error
        try:
            here = walk(top, parts, self._pause)
        except NotFound:
            return None
        finally:
            os.close(top)
        try:
            found = os.fstat(here)
        finally:
            os.close(here)
        return Identity(found.st_dev, found.st_ino)

    def scan(self, folder: str, *, max_entries: int = MAX_ENTRIES, max_depth: int = MAX_DEPTH) -> Scanned:
        return scan(self._fd, folder_parts(folder), max_entries, max_depth, self._pause)

    def state(self, path: str) -> FileState | None:
        *above, name = checked_parts(path)
        try:
            with folder(self._fd, tuple(above), self._pause) as here:
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
        except (NotFound, FileNotFoundError):
            return None
        except OSError as error:
            raise refusals.unreadable(path, error) from error
        return state_of(path, plain(path, found))

    def read(self, path: str, *, max_bytes: int) -> tuple[FileState, bytes]:
        *above, name = checked_parts(path)
        with folder(self._fd, tuple(above), self._pause) as here:
            for _ in range(_READS):
                found = read_steady(here, name, path, max_bytes, self._pause)
                if found is not None:
                    return found
        raise refusals.changing(path)

    @contextmanager
    def open(self, path: str) -> Iterator[BinaryIO]:
        *above, name = checked_parts(path)
        with folder(self._fd, tuple(above), self._pause) as here:
            handle, _ = open_file(here, name, path)
        with os.fdopen(handle, "rb") as file:
            yield file

    def make_folder(self, path: str) -> None:
        parts = checked_parts(path)
        _guarded(path, lambda: os.close(self._reach(parts, 0)))

    def put(self, path: str, content: bytes, *, expected: str | None) -> FileState:
        def write(here: int, name: str) -> os.stat_result:
            if expected is None:
                return place.put_new(here, name, path, content, self._pause)
            return place.put_over(here, name, path, content, expected, self._pause)

        return self._write(path, write)

    def move_in(self, staged: Path, path: str) -> FileState:
        def write(here: int, name: str) -> os.stat_result:
            place.no_clash(here, name, path)
            source = os.open(staged.parent, FOLDER)
            try:
                plain("The staged file", os.stat(staged.name, dir_fd=source, follow_symlinks=False))
                self._pause("checked", path)
                renames.move_new_anyhow(source, staged.name, here, name)
            except FileNotFoundError as error:
                raise NotFound("The staged file is gone.", cause=error) from None
            except FileExistsError:
                raise place.there(path) from None
            finally:
                os.close(source)
            os.fsync(here)
            return plain(path, os.stat(name, dir_fd=here, follow_symlinks=False))

        return self._write(path, write)

    def remove(self, path: str, *, expected: str) -> None:
        *above, name = checked_parts(path)

        def take() -> None:
            try:
                with folder(self._fd, tuple(above), self._pause) as here:
                    place.take_out(here, name, path, expected, self._pause)
            except NotFound:
                return

        self._steady()
        _guarded(path, take)

    def sweep(self, folder: str = "") -> int:
        return _guarded(folder or "the vault", lambda: sweep(self._fd, folder_parts(folder)))

    def _write(self, path: str, write: Callable[[int, str], os.stat_result]) -> FileState:
        *above, name = checked_parts(path)

        def run() -> FileState:
            here = self._reach(tuple(above), partition_length((*above, name))) if above else again(self._fd)
            try:
                return state_of(path, write(here, name))
            finally:
                os.close(here)

        self._steady()
        return _guarded(path, run)

    def _steady(self) -> None:
        """Raises when the root was exchanged: what is written into the held one would be lost."""
        now, held = self.identity(), os.fstat(self._fd)
        if now is None:
            raise StoreUnavailable(reasons.MISSING_STORE, "The vault's folder is missing. Put it back")
        if (now.device, now.inode) != (held.st_dev, held.st_ino):
            message = "The vault's folder was exchanged for another one. Put the former one back"
            raise StoreUnavailable(reasons.PARTITION_CHANGED, message)

    def _reach(self, parts: tuple[str, ...], standing: int) -> int:
        """A descriptor of a folder whose missing parts are made, durably, but not the first `standing`."""
        here = again(self._fd)
        try:
            for depth, name in enumerate(parts, 1):
                path = "/".join(parts[:depth])
                if not _is_there(here, name):
                    if depth <= standing:
                        message = f"The folder {path} is missing. Put it back"
                        raise StoreUnavailable(reasons.MISSING_PARTITION, message)
                    place.no_clash(here, name, path)
                    _make(here, name)
                below = walk(here, (name,), self._pause)
                os.close(here)
                here = below
        except BaseException:
            os.close(here)
            raise
        return here


def _is_there(here: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _make(here: int, name: str) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=here)
    except FileExistsError:
        return
    os.fsync(here)


def _guarded(path: str, run: Callable[[], T]) -> T:
    """What the system refuses becomes an error that says what to do."""
    try:
        return run()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR):
            raise refusals.unsafe(path, "no plain file") from error
        raise refusals.unwritable(path, error) from error
