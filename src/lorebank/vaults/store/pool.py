"""The open runtimes: one for a physical store, few at once, the least recently used idle one closed first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from lorebank.errors import StoreUnavailable, Unavailable
from lorebank.vaults import reasons
from lorebank.vaults.store.lane import PATIENCE

if TYPE_CHECKING:
    from lorebank.vaults.store.runtime import Runtime

MAX_OPEN: Final = 32
"""Stores that are open at once; each holds a handful of descriptors and its index."""


class _Slot:
    """`fenced`: nobody comes in any more. `closing`: nobody is in it, and it is being closed."""

    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.runtime: Runtime | None = None
        self.users = 0
        self.fenced = self.closing = False


class RuntimePool:
    """Hands out runtimes by vault id. `opened` makes one; `first` tells it that this process has not used
    the store before. There are never two of one store: who comes while one is closed waits for it."""

    def __init__(self, opened: Callable[[str, bool], Runtime], max_open: int = MAX_OPEN) -> None:
        self._opened, self._max_open = opened, max_open
        self._changed = threading.Condition()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._known: set[str] = set()
        self._closed = False

    @contextmanager
    def using(self, vault: str) -> Iterator[Runtime]:
        """The runtime of a store, kept open meanwhile."""
        slot = self._current(vault)
        try:
            with slot.opening:
                if slot.runtime is None:
                    slot.runtime = self._opened(vault, vault not in self._known)
                    self._known.add(vault)
                runtime = slot.runtime
            yield runtime
        finally:
            self._leave(vault, slot)

    def is_open(self, vault: str) -> bool:
        """Whether its runtime is there."""
        with self._changed:
            slot = self._slots.get(vault)
            return slot is not None and slot.runtime is not None

    def open_count(self) -> int:
        """How many runtimes are open."""
        with self._changed:
            return sum(slot.runtime is not None for slot in self._slots.values())

    def fence(self, vault: str) -> None:
        """Make what is under way in a store fail at its next check; the next use opens the store anew."""
        with self._changed:
            slot = self._slots.get(vault)
            leaving = [] if slot is None else self._fenced({vault: slot})
        self._close(leaving)

    def close(self) -> None:
        """The same for all stores, for good."""
        with self._changed:
            self._closed = True
            leaving = self._fenced(dict(self._slots))
        self._close(leaving)

    def _fenced(self, slots: dict[str, _Slot]) -> list[str]:
        for slot in slots.values():
            slot.fenced = True
            if slot.runtime is not None:
                slot.runtime.lane.close()
        return self._leaving(vault for vault, slot in slots.items() if slot.users == 0)

    def _leaving(self, vaults: Iterable[str]) -> list[str]:
        found = [vault for vault in vaults if not self._slots[vault].closing]
        for vault in found:
            self._slots[vault].closing = True
        return found

    def _current(self, vault: str) -> _Slot:
        """Come in. A store that others are not using, and whose files are not those that were opened, is
        opened anew first: it may have come back."""
        slot = self._enter(vault)
        runtime = slot.runtime
        if runtime is None or slot.users > 1 or not runtime.exchanged():
            return slot
        runtime.broken = True  # nothing more is written into what was opened
        self._leave(vault, slot)
        return self._enter(vault)

    def _enter(self, vault: str) -> _Slot:
        with self._changed:
            if not self._changed.wait_for(lambda: not self._is_closing(vault), PATIENCE):
                raise StoreUnavailable(reasons.BUSY, "the knowledge store is being closed; try again")
            if self._closed:
                raise Unavailable("the server is stopping; try again later")
            slot = self._slots.setdefault(vault, _Slot())
            if slot.fenced:
                raise Unavailable("the knowledge store was closed meanwhile; ask again")
            self._slots.move_to_end(vault)
            slot.users += 1
            surplus = self._surplus()
        self._close(surplus)
        return slot

    def _is_closing(self, vault: str) -> bool:
        slot = self._slots.get(vault)
        return slot is not None and slot.closing

    def _leave(self, vault: str, slot: _Slot) -> None:
        with self._changed:
            slot.users -= 1
            spent = slot.runtime is None or slot.runtime.broken or slot.fenced
            leaving = self._leaving([vault]) if spent and slot.users == 0 else []
            leaving += self._surplus()
        self._close(leaving)

    def _surplus(self) -> list[str]:
        """The least recently used idle ones, as many as are too many."""
        open_ = [vault for vault, slot in self._slots.items() if not slot.closing]
        idle = [vault for vault in open_ if self._slots[vault].users == 0]
        return self._leaving(idle[: max(len(open_) - self._max_open, 0)])

    def _close(self, vaults: list[str]) -> None:
        for vault in vaults:
            slot = self._slots[vault]
            try:
                if slot.runtime is not None:
                    slot.runtime.close()
            finally:
                with self._changed:
                    del self._slots[vault]
                    self._changed.notify_all()
