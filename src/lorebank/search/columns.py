"""Append-only numpy columns that a writer extends while readers look at a prefix.

Slots are row numbers. A slot is written once, before any reader knows of it; a reader holds the arrays and
the number of slots that were there. Growth doubles into new arrays, so a reader's arrays never move.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

DTYPES: Final[dict[str, type[np.generic]]] = {
    "key": np.int64,
    "seq": np.int64,
    "kind": np.uint8,
    "tagset": np.int32,
    "length": np.int32,
    "fingerprint": np.int64,
    "occurred_start": np.float64,
    "occurred_end": np.float64,
    "mentioned_at": np.float64,
    "precision": np.int8,
    "proof": np.int32,
    "tokens": np.int32,
    "thread": np.int32,
    "position": np.int64,
    "speaker": np.int32,
    "asks": np.bool_,
}


@dataclass(frozen=True, slots=True)
class Columns:
    """One array per property, each with room for more slots than are in use.

    `tagset`, `thread` and `speaker` are numbers of interned values, -1 for none; times are NaN where
    unknown; `length` counts terms and `fingerprint` is a hash of them (of this process); `precision` is a
    place in `passage.PRECISIONS`, -1 for none.
    """

    key: Longs
    seq: Longs
    kind: npt.NDArray[np.uint8]
    tagset: Ints
    length: Ints
    fingerprint: Longs
    occurred_start: Doubles
    occurred_end: Doubles
    mentioned_at: Doubles
    precision: npt.NDArray[np.int8]
    proof: Ints
    tokens: Ints
    thread: Ints
    position: Longs
    speaker: Ints
    asks: Bools

    @classmethod
    def empty(cls, capacity: int = 64) -> Columns:
        return cls(**{name: np.zeros(capacity, dtype) for name, dtype in DTYPES.items()})

    @property
    def capacity(self) -> int:
        return len(self.key)

    def with_room(self, needed: int) -> Columns:
        """These columns, or doubled copies when fewer than `needed` slots fit."""
        if needed <= self.capacity:
            return self
        return Columns(**{name: grown(getattr(self, name), needed) for name in DTYPES})

    def write(self, start: int, values: dict[str, npt.NDArray[Any]]) -> None:
        """Fill the slots from `start` on; they must be unknown to every reader."""
        for name, column in values.items():
            getattr(self, name)[start : start + len(column)] = column

    def take(self, slots: npt.NDArray[np.intp]) -> Columns:
        """Copies that hold only `slots`, in that order."""
        return Columns(**{name: getattr(self, name)[slots] for name in DTYPES})


def grown(array: npt.NDArray[Any], needed: int) -> npt.NDArray[Any]:
    """A copy with at least `needed` places, doubling so that growth costs the same for each row."""
    larger = np.zeros(max(needed, 2 * len(array), 64), array.dtype)
    larger[: len(array)] = array
    return larger


T = TypeVar("T", bound=Hashable)


class Interner(Generic[T]):
    """Numbers for equal values, in order of arrival. One writer adds; readers may read `values` meanwhile."""

    def __init__(self) -> None:
        self.values: list[T] = []
        self._numbers: dict[T, int] = {}

    def number(self, value: T) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = len(self.values)
            self.values.append(value)
            self._numbers[value] = found
        return found

    def find(self, value: T) -> int | None:
        return self._numbers.get(value)
