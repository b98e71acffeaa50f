"""The open stores of a data directory: few at once, least recently used closed first, only when idle."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from lorebank.errors import NotFound, Unavailable
from lorebank.ids import StoreId, new_uuid
from lorebank.storage.sqlite.store import Store


class _Entry:
    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.store: Store | None = None
        self.users = 0
        self.retired = False


class StorePool:
    """Hands out stores by id and closes those that nobody uses when there are too many."""

    def __init__(self, folder: Path, max_open: int) -> None:
        self.folder = folder
        self._max_open = max_open
        self._lock = threading.Lock()
        self._entries: OrderedDict[StoreId, _Entry] = OrderedDict()
        self._known: set[StoreId] = set()
        # Stores removed by this process: a handle to one must hear that its bank was deleted.
        self._gone: set[StoreId] = set()
        self._closed = False
        # Names this process in leases: those of any other are void.
        self._holder = new_uuid()

    @contextmanager
    def using(self, store_id: StoreId) -> Iterator[Store]:
        """The open store, kept open meanwhile. `NotFound` when it has been retired."""
        with self._entered(store_id) as entry:
            with entry.opening:
                if entry.retired:
                    raise NotFound("the bank was deleted")
                if entry.store is None:
                    entry.store = self._open(store_id)
            yield entry.store

    @contextmanager
    def retiring(self, store_id: StoreId) -> Iterator[None]:
        """Wait for the write that runs and let nobody in any more; undone when the body raises.

        The store is not opened for it: a damaged one can be removed too.
        """
        with self._entered(store_id) as entry, entry.opening, _lane(entry):
            entry.retired = True
            try:
                yield
            except BaseException:
                entry.retired = False
                raise
            self._gone.add(store_id)

    @contextmanager
    def _entered(self, store_id: StoreId) -> Iterator[_Entry]:
        entry = self._enter(store_id)
        try:
            yield entry
        finally:
            self._leave(store_id, entry)

    def retired(self, store_id: StoreId) -> bool:
        """Whether the store is being removed or was removed."""
        with self._lock:
            entry = self._entries.get(store_id)
            return store_id in self._gone or (entry is not None and entry.retired)

    def open_count(self) -> int:
        """How many stores are open."""
        with self._lock:
            return sum(entry.store is not None for entry in self._entries.values())

    def close(self) -> None:
        """Close every store; those in use are closed when they are left."""
        with self._lock:
            self._closed = True
            idle = [entry for entry in self._entries.values() if entry.users == 0]
        for entry in idle:
            _close(entry)

    def _enter(self, store_id: StoreId) -> _Entry:
        with self._lock:
            if self._closed:
                raise Unavailable("the server is stopping; try again later")
            known = self._entries.get(store_id)
            if store_id in self._gone or (known is not None and known.retired):
                raise NotFound("the bank was deleted")
            entry = self._entries.setdefault(store_id, known or _Entry())
            self._entries.move_to_end(store_id)
            entry.users += 1
            surplus = self._surplus()
        for other in surplus:
            _close(other)
        return entry

    def _leave(self, store_id: StoreId, entry: _Entry) -> None:
        with self._lock:
            entry.users -= 1
            unused = []
            if entry.users == 0 and (entry.retired or self._closed or entry.store is None):
                self._entries.pop(store_id, None)
                unused.append(entry)
            unused += self._surplus()
        for other in unused:
            _close(other)

    def _surplus(self) -> list[_Entry]:
        """Take the least recently used idle stores out, as many as are too many."""
        idle = [id for id, entry in self._entries.items() if entry.users == 0]
        too_many = max(len(self._entries) - self._max_open, 0)
        return [self._entries.pop(id) for id in idle[:too_many]]

    def _open(self, store_id: StoreId) -> Store:
        first = store_id not in self._known
        store = Store(self.folder / store_id, store_id, self._holder, prune=first)
        self._known.add(store_id)
        return store


def _lane(entry: _Entry) -> AbstractContextManager[object]:
    return nullcontext() if entry.store is None else entry.store.lane()


def _close(entry: _Entry) -> None:
    if entry.store is not None:
        entry.store.close()
