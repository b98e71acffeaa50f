"""Which files may have changed since the last question: vault.json and the private partition are watched,
conversations are not (statement 1.7.64).

The answer is exact without waiting: what a program had done before the question is in it. Only a change
through a memory map is noticed when the file is closed, and one by another machine not at all (so vaults on
network file systems are not watched). Whoever asks must scan when there is no answer; nothing depends on the
watcher.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from threading import Lock
from typing import Final, Literal, Protocol

from lorebank.storage.tree import inotify
from lorebank.storage.tree.mounts import is_local
from lorebank.storage.tree.names import passed_over
from lorebank.storage.tree.ports import MAX_DEPTH

MANIFEST: Final = "vault.json"
PRIVATE: Final = "private"
_FIRST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 60.0
"""Seconds between attempts to start again."""
_GONE: Final = inotify.DELETE_SELF | inotify.MOVE_SELF | inotify.UNMOUNT
_APPEARED: Final = inotify.CREATE | inotify.MOVED_TO


class Everything(Enum):
    """Any file may have changed."""

    ALL = "all"


ALL: Final = Everything.ALL

Dirty = frozenset[str] | Literal[Everything.ALL] | None
"""Paths relative to the vault; a folder stands for everything below it. None: not known, scan."""


class Watching(Protocol):
    """What the store's runtime needs of a watcher."""

    def dirty(self) -> Dirty: ...

    def close(self) -> None: ...


class _Lost(Exception):
    """Events may be missing: begin anew."""


class Watcher:
    """Over inotify; without a thread. Safe from any thread.

    The first answer is ALL (what happened before is unknown), also after each trouble: a full queue, a
    renamed folder, no more watches. While it cannot watch, the answer is None, and it tries again after 1 s,
    then after twice that, at most 60 s.
    """

    def __init__(self, vault: Path, *, now: Callable[[], float] = time.monotonic) -> None:
        self._vault = vault
        self._now = now
        self._lock = Lock()
        self._queue = -1
        self._folders: dict[int, str] = {}
        self._wait = _FIRST_WAIT
        self._next = 0.0
        self._closed = False

    def dirty(self) -> Dirty:
        """What may have changed since the last call."""
        with self._lock:
            if self._closed:
                return None
            if self._queue < 0:
                return self._begin()
            try:
                return self._drain()
            except (_Lost, OSError):
                self._stop()
                return self._begin()

    @property
    def healthy(self) -> bool:
        """Whether it watches now."""
        return self._queue >= 0

    def close(self) -> None:
        """No more answers."""
        with self._lock:
            self._closed = True
            self._stop()

    def _stop(self) -> None:
        if self._queue >= 0:
            os.close(self._queue)
        self._queue = -1
        self._folders = {}

    def _begin(self) -> Dirty:
        """Watch everything; ALL when that works."""
        if self._now() < self._next:
            return None
        try:
            if not is_local(self._vault):
                raise OSError("not a local file system")
            self._queue = inotify.start()
            self._add("")
            self._below(PRIVATE)
        except OSError:
            self._stop()
            self._next = self._now() + self._wait
            self._wait = min(self._wait * 2, _LONGEST_WAIT)
            return None
        self._wait, self._next = _FIRST_WAIT, 0.0
        return ALL

    def _add(self, folder: str) -> None:
        self._folders[inotify.watch(self._queue, self._vault / folder)] = folder

    def _below(self, folder: str) -> None:
        """Watch a folder and those in it: first the folder, then what it holds, so that nothing is between.
        One that goes away meanwhile was noticed by its parent."""
        waiting = [folder]
        while waiting:
            here = waiting.pop()
            # Deeper ones make every scan fail.
            if here.count("/") > MAX_DEPTH + 1:
                continue
            try:
                self._add(here)
                with os.scandir(self._vault / here) as entries:
                    waiting.extend(
                        f"{here}/{entry.name}"
                        for entry in entries
                        if not passed_over(entry.name) and entry.is_dir(follow_symlinks=False)
                    )
            except (FileNotFoundError, NotADirectoryError):
                continue

    def _drain(self) -> Dirty:
        found: set[str] = set()
        appeared: list[str] = []
        for event in inotify.drain(self._queue):
            if event.mask & inotify.OVERFLOW:
                raise _Lost
            folder = self._folders.get(event.watch)
            if event.mask & inotify.IGNORED:
                self._folders.pop(event.watch, None)
            elif folder is not None:
                self._note(event, folder, found, appeared)
        for folder in appeared:
            self._below(folder)
        return frozenset(found)

    def _note(self, event: inotify.Event, folder: str, found: set[str], appeared: list[str]) -> None:
        """One event in one watched folder."""
        if event.mask & _GONE:
            # A folder below was noticed by its parent, unless it is one of the two tops.
            if folder in ("", PRIVATE) or event.mask & inotify.UNMOUNT:
                raise _Lost
            return
        if (
            not event.name
            or passed_over(event.name)
            or (not folder and event.name not in (MANIFEST, PRIVATE))
        ):
            return
        path = f"{folder}/{event.name}" if folder else event.name
        if event.mask & inotify.FOLDER:
            if event.mask & inotify.MOVED_FROM:
                # Its watches go with it and would tell of it by the old name.
                raise _Lost
            if event.mask & _APPEARED:
                appeared.append(path)
            elif not event.mask & inotify.DELETE:
                return
        found.add(path)
