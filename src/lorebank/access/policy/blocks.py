"""Statements that always apply together: same effect, same actions, same banks. Merged beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lorebank.access.policy.merge import SINGLE_VALUE, merged
from lorebank.access.policy.values import Attached, Effect, Parameters, Statement

Entry = tuple[Attached, int, Statement]
"""A statement, its place in its document, and the attachment it came by."""
LEVELS = 4
"""More than the greatest level of a bank pattern (see `match`)."""
_THROUGH = {"group": 1, "user": 2}


@dataclass(frozen=True, slots=True)
class Block:
    """`places` of its statements among all entries, ascending; their `parameters` merged, and for each
    of `SINGLE_VALUE` the number of the statement that won it."""

    effect: Effect
    actions: frozenset[str]
    banks: frozenset[str]
    places: tuple[int, ...]
    parameters: Parameters
    winners: tuple[int, ...]


def in_order(attached: Iterable[Attached]) -> list[Entry]:
    """All statements by policy id and place."""
    entries = [
        (one, index, statement) for one in attached for index, statement in enumerate(one.document.statements)
    ]
    entries.sort(key=lambda entry: (entry[0].policy_id, entry[1]))
    return entries


def blocks_of(entries: Sequence[Entry]) -> tuple[Block, ...]:
    """The blocks, by their first statement."""
    numbers = _numbers(entries)
    found: dict[tuple[Effect, frozenset[str], frozenset[str]], list[int]] = {}
    for at, (_, _, statement) in enumerate(entries):
        shape = (statement.effect, frozenset(statement.actions), frozenset(statement.banks))
        found.setdefault(shape, []).append(at)
    return tuple(_block(*shape, places, entries, numbers) for shape, places in found.items())


def _block(
    effect: Effect,
    actions: frozenset[str],
    banks: frozenset[str],
    places: list[int],
    entries: Sequence[Entry],
    numbers: Sequence[int],
) -> Block:
    if len(places) == 1:
        (at,) = places
        winners = (numbers[at],) * len(SINGLE_VALUE)
        return Block(effect, actions, banks, (at,), entries[at][2].parameters, winners)
    said = [entries[at][2].parameters for at in places]
    ranks = [numbers[at] for at in places]
    winners = tuple(_greatest(said, ranks, name) for name in SINGLE_VALUE)
    return Block(effect, actions, banks, tuple(places), merged(said, lambda name: ranks), winners)


def _greatest(said: Sequence[Parameters], ranks: Sequence[int], name: str) -> int:
    """The number of the statement that wins the field; 0 where none sets it."""
    return max(
        (rank for one, rank in zip(said, ranks, strict=True) if getattr(one, name) is not None), default=0
    )


def _numbers(entries: Sequence[Entry]) -> list[int]:
    """A number for each statement, to which the level of its bank pattern times the count of entries
    is added: the greatest wins a single-value field. Through whom it came counts most, then the
    level, the priority and the policy's id; inside a policy the first statement wins (specs, Evaluate)."""
    order = sorted(
        range(len(entries)),
        key=lambda at: (entries[at][0].priority, entries[at][0].policy_id, -entries[at][1]),
    )
    numbers = [0] * len(entries)
    for rank, at in enumerate(order):
        numbers[at] = _THROUGH[entries[at][0].through] * LEVELS * len(entries) + rank
    return numbers
