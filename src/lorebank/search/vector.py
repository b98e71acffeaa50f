"""An exact float32 matrix in blocks of rows, aligned with the index's slots.

Blocks keep growth cheap: one doubles until it has its full size, so that small banks cost little, and is
never copied again. A block is written in place only at slots without a vector; where a slot gets a second
vector (a re-embed) its block is copied first, so readers keep what they saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from lorebank.errors import Bug
from lorebank.search.columns import Bools, Floats, grown

BLOCK_ROWS: Final = 4_096
_FEWEST_ROWS: Final = 64
MISSING: Final = np.float32(-2.0)
HALVE_FROM_BLOCKS: Final = 12
"""From about 50,000 rows on a product is worth a second thread (it is bound by memory, not by Python)."""

_helper = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vector product")
Part = Sequence[tuple[int, Floats]]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Unit vectors of some slots. `present` may be longer than the slots in use."""

    dimension: int
    blocks: tuple[Floats, ...] = ()
    present: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))

    def written(self, slots: npt.NDArray[np.intp], rows: Floats) -> Vectors:
        """These vectors with `rows` at `slots`. Raises Bug when a width is wrong or a number not finite."""
        if rows.ndim != 2 or rows.shape[1] != self.dimension or len(rows) != len(slots):
            raise Bug(f"vectors of shape {rows.shape} do not fit {len(slots)} rows of width {self.dimension}")
        if not np.isfinite(rows).all():
            raise Bug("a vector has a number that is not finite")
        if len(slots) == 0:
            return self
        present = self.present.copy()
        if int(slots.max()) >= len(present):
            present = grown(present, int(slots.max()) + 1)
        blocks = list(self.blocks)
        for number in np.unique(slots // BLOCK_ROWS).tolist():
            while len(blocks) <= number:
                blocks.append(np.zeros((0, self.dimension), np.float32))
            here = slots // BLOCK_ROWS == number
            places = slots[here] - number * BLOCK_ROWS
            if int(places.max()) >= len(blocks[number]):
                blocks[number] = _larger(blocks[number], int(places.max()) + 1)
            elif self.present[slots[here][slots[here] < len(self.present)]].any():
                blocks[number] = blocks[number].copy()
            blocks[number][places] = rows[here]
        present[slots] = True
        return replace(self, blocks=tuple(blocks), present=present)

    def taken(self, slots: npt.NDArray[np.intp]) -> Vectors:
        """Only the vectors of `slots`, renumbered 0, 1, 2..."""
        known = self.has(slots)
        fresh = Vectors(self.dimension)
        for start in range(0, len(slots), BLOCK_ROWS):
            part, there = slots[start : start + BLOCK_ROWS], known[start : start + BLOCK_ROWS]
            fresh = fresh.written(np.flatnonzero(there) + start, self.rows(part[there]))
        return fresh

    def has(self, slots: npt.NDArray[np.intp]) -> Bools:
        inside = slots < len(self.present)
        found = np.zeros(len(slots), np.bool_)
        found[inside] = self.present[slots[inside]]
        return found

    def rows(self, slots: npt.NDArray[np.intp]) -> Floats:
        """The vectors of `slots`, which must all be present."""
        rows = np.empty((len(slots), self.dimension), np.float32)
        numbers = slots // BLOCK_ROWS
        for number in np.unique(numbers).tolist():
            here = numbers == number
            rows[here] = self.blocks[number][slots[here] - number * BLOCK_ROWS]
        return rows

    def cosines(self, query: Floats, count: int) -> Floats:
        """Cosine of the unit vector `query` with each of the first `count` slots; -2 where there is no
        vector.
        """
        scores = np.full(count, MISSING, np.float32)

        def fill(blocks: Part) -> None:
            for start, block in blocks:
                np.dot(block, query, out=scores[start : start + len(block)])

        _in_halves(fill, list(self._used(count)))
        self._hide_missing(scores)
        return scores

    def cosines_of(self, queries: Sequence[Floats], count: int) -> list[Floats]:
        """`cosines` of several queries at once, for the price of reading the matrix once."""
        together = np.ascontiguousarray(np.stack(queries).T)
        scores = np.full((len(queries), count), MISSING, np.float32)

        def fill(blocks: Part) -> None:
            for start, block in blocks:
                scores[:, start : start + len(block)] = (block @ together).T

        _in_halves(fill, list(self._used(count)))
        for row in scores:
            self._hide_missing(row)
        return list(scores)

    def _used(self, count: int) -> Iterator[tuple[int, Floats]]:
        """The blocks up to slot `count`, each with the slot it starts at."""
        for start in range(0, min(count, len(self.blocks) * BLOCK_ROWS), BLOCK_ROWS):
            yield start, self.blocks[start // BLOCK_ROWS][: count - start]

    def _hide_missing(self, scores: Floats) -> None:
        known = self.present[: len(scores)]
        scores[: len(known)][~known] = MISSING
        scores[len(known) :] = MISSING


def _larger(block: Floats, needed: int) -> Floats:
    """A copy with room for at least `needed` rows, at most a whole block."""
    rows = min(BLOCK_ROWS, max(needed, 2 * len(block), _FEWEST_ROWS))
    larger = np.zeros((rows, block.shape[1]), np.float32)
    larger[: len(block)] = block
    return larger


def _in_halves(fill: Callable[[Part], None], blocks: Part) -> None:
    """`fill` all blocks; where there are many, a second thread takes half of them."""
    if len(blocks) < HALVE_FROM_BLOCKS:
        fill(blocks)
        return
    other = _helper.submit(fill, blocks[len(blocks) // 2 :])
    fill(blocks[: len(blocks) // 2])
    other.result()
