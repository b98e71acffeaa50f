"""Whose turn it is: banks that wait for a thread, and banks that will when a pause is over."""

from __future__ import annotations

import time
from collections import OrderedDict

from lorebank.ids import BankId

_SHORTEST_PAUSE_S = 0.05


class Turns:
    """Banks in the order in which they were told of; each waits, and pauses, at most once.

    A pause is a time to look at, not a thread: thousands of banks may pause. Not locked; whoever
    shares one between threads holds a lock.
    """

    def __init__(self) -> None:
        self._ready: OrderedDict[BankId, None] = OrderedDict()
        self._due: dict[BankId, float] = {}

    def __len__(self) -> int:
        return len(self._ready)

    def __contains__(self, bank: BankId) -> bool:
        return bank in self._ready

    def add(self, bank: BankId) -> None:
        """The bank waits from now on."""
        self._ready[bank] = None

    def later(self, bank: BankId, seconds: float) -> None:
        """The bank waits in `seconds`, or at an earlier time if one is set."""
        at = time.monotonic() + max(_SHORTEST_PAUSE_S, seconds)
        self._due[bank] = min(at, self._due.get(bank, at))

    def take(self) -> BankId | None:
        """The bank that has waited longest, which waits no more; None when none does."""
        now = time.monotonic()
        for bank in [bank for bank, at in self._due.items() if at <= now]:
            del self._due[bank]
            self.add(bank)
        return self._ready.popitem(last=False)[0] if self._ready else None

    def pause(self) -> float | None:
        """Seconds until the next pause is over; None when no bank pauses."""
        return max(0.0, min(self._due.values()) - time.monotonic()) if self._due else None
