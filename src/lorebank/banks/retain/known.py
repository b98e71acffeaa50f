"""The entities that a bank knows already, kept ready for extraction and refreshed as they grow."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from lorebank.banks.extract import KnownEntities
from lorebank.banks.retain.facts import LABEL_TYPE
from lorebank.storage.ports import BankHandle
from lorebank.tags import TagFilter

BANKS = 128
_FEW = 200
"""Up to so many names are read again after every change: that costs a fraction of a millisecond."""
_PATIENCE = 40.0
"""More names are read again once this many times the cost of reading them has passed, so that it
takes at most about a fortieth of the time."""


_Key = tuple[str, TagFilter | None, int]


@dataclass(frozen=True, slots=True)
class _Entry:
    names: KnownEntities
    source: tuple[str, ...]
    seq: int
    until: float


class KnownNames:
    """A small cache: bank (and filter) -> its known entities. Safe for threads."""

    def __init__(self, banks: int = BANKS) -> None:
        self._banks = banks
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, handle: BankHandle) -> KnownEntities:
        """The known entities of the bank, at most a moment old."""
        grant = handle.grant
        # A handle that was opened under other rules may read under new ones: then it must not fill the
        # entry of somebody whose filter was always the same.
        epoch = 0 if grant.filter is None else grant.epoch
        key = (str(handle.store_id), grant.filter, epoch)
        seq = handle.seq()
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
        if entry is not None and (entry.seq == seq or time.monotonic() < entry.until):
            return entry.names
        return self._read(handle, key, entry)

    def _read(self, handle: BankHandle, key: _Key, old: _Entry | None) -> KnownEntities:
        begun = time.monotonic()
        with handle.read() as reader:
            seq = reader.seq()
            source = tuple(name for name, kind in reader.entity_names() if kind != LABEL_TYPE)
        # Most writes name no new entity, and putting the names in order costs most.
        names = old.names if old is not None and old.source == source else KnownEntities(source)
        ended = time.monotonic()
        with self._lock:
            wait = _PATIENCE * (ended - begun) if len(names) > _FEW else 0.0
            self._entries[key] = _Entry(names, source, seq, ended + wait)
            self._entries.move_to_end(key)
            while len(self._entries) > self._banks:
                self._entries.popitem(last=False)
        return names


SHARED = KnownNames()
"""The cache of this process; its keys are store ids, which no two stores share."""
