"""One operation at a time in a store: its lane (seed 000, Runtime)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lorebank.errors import StoreUnavailable, Unavailable
from lorebank.vaults import reasons

PATIENCE: Final = 30.0
"""Seconds that an operation waits for its turn."""


class Lane:
    """A lock with a bounded wait that can be closed: after that nobody gets in any more.

    A thread that is inside may enter again (recovery inside a query inside a publication).
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._lock = threading.RLock()
        self._patience = patience
        self._closed = False

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Wait for the turn. `StoreUnavailable` (busy) when it does not come, `Unavailable` when closed."""
        with self.last():
            self.check()
            yield

    @contextmanager
    def last(self) -> Iterator[None]:
        """The same, also when closed: for what is left to do before the store is given up."""
        if not self._lock.acquire(timeout=self._patience):
            raise busy()
        try:
            yield
        finally:
            self._lock.release()

    def check(self) -> None:
        """`Unavailable` when the lane was closed: what is under way ends here (statement 1.7.67)."""
        if self._closed:
            raise Unavailable("the knowledge store was closed meanwhile; ask again")

    def close(self) -> None:
        """Let nobody in any more, and make those inside fail at their next check. Does not wait."""
        self._closed = True


def busy() -> StoreUnavailable:
    """The refusal of who waited for too long."""
    return StoreUnavailable(
        reasons.BUSY, "another operation of this knowledge store takes very long; try again"
    )
