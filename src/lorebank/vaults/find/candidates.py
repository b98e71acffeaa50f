"""Recall candidates that an agent was shown: numbers that stand for records, for a quarter of an hour."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lorebank import clock
from lorebank.clock import Clock, Micros
from lorebank.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from lorebank.vaults.store.values import VaultHandle

KEPT_FOR: Final = 15 * 60 * 1_000_000
MOST: Final = 2_000
"""Recalls that are remembered for all agents together; the oldest goes first."""
MOST_OF_ONE: Final = 50
"""Recalls that are remembered for one agent in one partition."""
_GONE: Final = "this recall is not known here, or older than 15 minutes; recall again"
Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Recall:
    place: Place
    ids: tuple[str, ...]
    until: Micros


class Candidates:
    """In memory only: after a restart an agent recalls again. Safe from any thread.

    A recall can be opened by the same agent in the same partition of the same store only.
    """

    def __init__(self, now: Clock = clock.now, *, most: int = MOST, most_of_one: int = MOST_OF_ONE) -> None:
        self._now, self._most, self._most_of_one = now, most, most_of_one
        self._lock = threading.Lock()
        self._recalls: OrderedDict[str, _Recall] = OrderedDict()

    def __len__(self) -> int:
        return len(self._recalls)

    def remember(self, handle: VaultHandle, ids: Sequence[str]) -> tuple[str, Micros]:
        """A new recall whose candidates 1, 2, … are `ids`: its id, and until when it is known."""
        recall, until = secrets.token_urlsafe(16), self._now() + KEPT_FOR
        with self._lock:
            self._recalls[recall] = _Recall(_place(handle), tuple(ids), until)
            self._tidy(_place(handle))
        return recall, until

    def ids(self, handle: VaultHandle, recall: str, numbers: Sequence[int]) -> tuple[str, ...]:
        """The records that the numbers stand for. `NotFound` for a recall of another agent or partition, an
        old one and one that never was; `InvalidInput` for a number that was not shown."""
        with self._lock:
            found = self._recalls.get(recall)
        if found is None or found.place != _place(handle) or found.until < self._now():
            raise NotFound(_GONE)
        wrong = [number for number in numbers if not 1 <= number <= len(found.ids)]
        if wrong:
            known = f"the numbers are 1 to {len(found.ids)}" if found.ids else "this recall found none"
            raise InvalidInput(f"candidate {wrong[0]} was not shown; {known}")
        return tuple(found.ids[number - 1] for number in dict.fromkeys(numbers))

    def _tidy(self, place: Place) -> None:
        now = self._now()
        for recall in [name for name, one in self._recalls.items() if one.until < now]:
            del self._recalls[recall]
        mine = [name for name, one in self._recalls.items() if one.place == place]
        for recall in mine[: max(0, len(mine) - self._most_of_one)]:
            del self._recalls[recall]
        while len(self._recalls) > self._most:
            self._recalls.popitem(last=False)


def _place(handle: VaultHandle) -> Place:
    grant = handle.grant
    return (grant.binding, grant.agent, grant.partition.folder)
