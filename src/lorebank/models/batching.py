"""Which texts share a model call: few padded tokens, small pauses, original order restored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_length(lengths: Sequence[int], max_rows: int, max_padded: int) -> Iterator[list[int]]:
    """Positions grouped so that texts of like length share a batch, shortest first.

    A batch has at most `max_rows` rows and, padded to its longest row, at most `max_padded` units
    of `lengths`; a single row longer than that is a batch of its own. Every position occurs once.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        padded = (len(batch) + 1) * lengths[position]
        if batch and (len(batch) == max_rows or padded > max_padded):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
