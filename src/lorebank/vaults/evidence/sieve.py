"""Which of many quotes can stand in a block of text at all, found out in one pass over the block.

All short pieces of the block go into a table of bits; a quote some piece of which is not there is not there
either. Wrong only in one direction: what is let through must still be looked for. Without it the work would
be quotes times bytes, which is minutes for two thousand quotes of a log of 44 MB.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_BITS: Final = 22
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_SPREAD: Final = 32
"""Pieces of a quote that are looked at, besides those at its end (quotes often differ there only)."""
_AT_END: Final = 16


@dataclass(frozen=True, slots=True)
class _Group:
    """Quotes with pieces of `width` bytes: the places of these in the table, and where each one's begin."""

    width: int
    quotes: Sequence[bytes]
    slots: npt.NDArray[np.intp]
    begins: npt.NDArray[np.intp]


class Sieve:
    """Made once for the quotes, none of them empty; then asked for each block."""

    def __init__(self, quotes: Iterable[bytes]) -> None:
        by_width: dict[int, list[bytes]] = {}
        for quote in quotes:
            by_width.setdefault(_width(len(quote)), []).append(quote)
        self._groups = [_group(width, some) for width, some in by_width.items()]

    def likely(self, text: bytes) -> set[bytes]:
        """The quotes that may stand in `text`; every one that does is among them."""
        found: set[bytes] = set()
        for group in self._groups:
            if len(text) < group.width:
                continue
            table = np.zeros(1 << _BITS, np.bool_)
            table[_slots(text, group.width)] = True
            whole = np.logical_and.reduceat(table[group.slots], group.begins)
            found.update(group.quotes[place] for place in np.flatnonzero(whole).tolist())
        return found


def _width(size: int) -> int:
    return 8 if size >= 12 else 4 if size >= 4 else 2 if size >= 2 else 1


def _group(width: int, quotes: Sequence[bytes]) -> _Group:
    parts = [_of_quote(quote, width) for quote in quotes]
    sizes = np.array([0, *(len(part) for part in parts[:-1])], np.intp)
    return _Group(width, quotes, np.concatenate(parts), np.cumsum(sizes))


def _of_quote(quote: bytes, width: int) -> npt.NDArray[np.intp]:
    slots = _slots(quote, width)
    if len(slots) <= _SPREAD + _AT_END:
        return slots
    spread = np.linspace(0, len(slots) - 1, _SPREAD).astype(np.intp)
    return np.concatenate((slots[spread], slots[-_AT_END:]))


def _slots(text: bytes, width: int) -> npt.NDArray[np.intp]:
    """The place in the table of every piece of the text."""
    pieces: npt.NDArray[Any] = np.ndarray((len(text) - width + 1,), f"<u{width}", text, strides=(1,))
    mixed = pieces.astype(np.uint64)
    mixed *= _MIX
    mixed >>= np.uint64(64 - _BITS)
    return mixed.astype(np.intp)
