"""After a save: git's index, so that a person's `git status` is clean, and another try where git was behind.

It is no part of a save: writing the index takes longer the more files there are.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

from lorebank.errors import LorebankError
from lorebank.storage.tree.ports import History

_log = logging.getLogger(__name__)
QUIET: Final = 0.5
"""Seconds without a commit after which the index is written."""
FIRST_RETRY: Final = 3.0
"""Seconds until git is tried again; a lock that a kill left is old enough then. Doubles with each failure."""
LAST_RETRY: Final = 600.0


class Tidier:
    """Of one store. `lane` enters the store's lane, because git is used by one thread at a time; `catch_up`
    is called in it when git is behind, and calls `soon` by itself."""

    def __init__(
        self,
        git: Callable[[], History],
        lane: Callable[[], AbstractContextManager[object]],
        catch_up: Callable[[], object],
        quiet: float = QUIET,
        retry: float = FIRST_RETRY,
    ) -> None:
        self._git, self._lane, self._catch_up = git, lane, catch_up
        self._quiet, self._retry = quiet, retry
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._failures = 0
        self._closed = False

    def soon(self, whole: bool) -> None:
        """Git got everything, or (`whole` False) is behind. Returns at once."""
        with self._lock:
            if self._closed:
                return
            if self._timer is not None:
                self._timer.cancel()
            self._failures = 0 if whole else self._failures + 1
            delay = self._quiet if whole else min(self._retry * 2 ** (self._failures - 1), LAST_RETRY)
            self._timer = threading.Timer(delay, self._tidy)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """Do now what is due. To be called outside the lane, before the lane and the repository are
        closed."""
        with self._lock:
            self._closed = True
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()
            self._work()

    def _tidy(self) -> None:
        with self._lock:
            if self._closed or self._timer is not threading.current_thread():
                return
            self._timer = None
        self._work()

    def _work(self) -> None:
        try:
            with self._lane():
                if self._failures:
                    self._catch_up()
                if not self._failures:
                    self._git().refresh_index()
        except LorebankError as exc:
            _log.warning("git's index was not written: %s", exc.message)
