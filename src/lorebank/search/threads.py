"""Conversations: which passage stands before and after another one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lorebank.search.columns import Columns, Ints

_POSITIONS = 1 << 40
Place = int


class Threads:
    """Where each existing passage stands in its thread. Belongs to the writer; readers get the neighbour
    arrays.

    Of two passages at one place of a thread the later one counts.
    """

    def __init__(self) -> None:
        self._slots: dict[Place, int] = {}
        self._numbers: dict[str, int] = {}

    def number(self, name: str | None) -> int:
        return -1 if name is None else self._numbers.setdefault(name, len(self._numbers))

    def forget(self, columns: Columns, slots: Iterable[int]) -> None:
        """Take passages out of their threads."""
        for slot in slots:
            place = _place(int(columns.thread[slot]), int(columns.position[slot]))
            if self._slots.get(place) == slot:
                del self._slots[place]

    def joined(
        self, columns: Columns, start: int, count: int, previous: Ints, following: Ints
    ) -> tuple[Ints, Ints]:
        """Neighbour arrays for `count` slots, those from `start` on being new. The given ones stay as they
        are.
        """
        before = np.concatenate((previous, np.full(count - start, -1, np.int32)))
        after = np.concatenate((following, np.full(count - start, -1, np.int32)))
        threaded = (np.flatnonzero(columns.thread[start:count] >= 0) + start).tolist()
        places = [_place(int(columns.thread[slot]), int(columns.position[slot])) for slot in threaded]
        self._slots.update(zip(places, threaded, strict=True))
        for slot, place in zip(threaded, places, strict=True):
            if (left := self._slots.get(place - 1)) is not None:
                before[slot], after[left] = left, slot
            if (right := self._slots.get(place + 1)) is not None:
                after[slot], before[right] = right, slot
        return before, after

    def renumbered(self, columns: Columns, count: int) -> tuple[Ints, Ints]:
        """After compaction: places and neighbour arrays made anew, thread numbers without gaps."""
        used, numbers = np.unique(columns.thread[:count], return_inverse=True)
        fresh = {int(old): new for new, old in enumerate(used[used >= 0].tolist())}
        self._numbers = {name: fresh[old] for name, old in self._numbers.items() if old in fresh}
        columns.thread[:count] = numbers - int((used < 0).any())
        self._slots = {}
        return self.joined(columns, 0, count, np.zeros(0, np.int32), np.zeros(0, np.int32))


def _place(thread: int, position: int) -> Place:
    """One number for a place in a thread; neighbours differ by one, two threads never touch."""
    return thread * _POSITIONS + 1 + position % (_POSITIONS - 2)
