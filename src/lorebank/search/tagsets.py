"""The distinct tag sets of an index, and filters evaluated over all of them at once."""

from __future__ import annotations

from typing import assert_never

import numpy as np

from lorebank.search.columns import Bools, Interner
from lorebank.tags import And, Leaf, Not, Or, TagFilter


class TagSets:
    """Numbers for tag sets. One writer adds; readers evaluate filters over the sets they know of."""

    def __init__(self) -> None:
        self._sets: Interner[frozenset[str]] = Interner()
        self._by_tag: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self._sets.values)

    def number(self, tags: tuple[str, ...]) -> int:
        known = len(self)
        wanted = frozenset(tags)
        number = self._sets.number(wanted)
        if number == known:
            for tag in wanted:
                self._by_tag.setdefault(tag, []).append(number)
        return number

    def tags(self, number: int) -> frozenset[str]:
        return self._sets.values[number]

    def all_tags(self) -> list[str]:
        """Every tag of every set, for the expansion of fuzzy filters."""
        return list(self._by_tag)

    def passing(self, tree: TagFilter, count: int) -> Bools:
        """For each of the first `count` sets whether it passes; the same answer as `tags.matches`."""
        match tree:
            case Leaf():
                return self._leaf(tree, count)
            case And():
                return self._all([self.passing(part, count) for part in tree.parts], count)
            case Or():
                return ~self._all([~self.passing(part, count) for part in tree.parts], count)
            case Not():
                return ~self.passing(tree.part, count)
            case _:
                assert_never(tree)

    def _leaf(self, leaf: Leaf, count: int) -> Bools:
        wanted = frozenset(leaf.tags)
        if not wanted and leaf.match != "exact":
            return np.ones(count, np.bool_)
        hits = np.zeros(count, np.int32)
        for tag in wanted:
            hits[self._holders(tag, count)] += 1
        some: Bools = hits > 0
        every: Bools = hits == len(wanted)
        untagged = np.zeros(count, np.bool_)
        untagged[self._numbers_of(frozenset(), count)] = True
        match leaf.match:
            case "any":
                return untagged | some
            case "any_strict":
                return some
            case "all":
                return untagged | every
            case "all_strict":
                return every
            case "exact":
                same = np.zeros(count, np.bool_)
                same[self._numbers_of(wanted, count)] = True
                return same
            case _:
                assert_never(leaf.match)

    def _holders(self, tag: str, count: int) -> list[int]:
        return [number for number in self._by_tag.get(tag, ()) if number < count]

    def _numbers_of(self, tags: frozenset[str], count: int) -> list[int]:
        number = self._sets.find(tags)
        return [] if number is None or number >= count else [number]

    @staticmethod
    def _all(parts: list[Bools], count: int) -> Bools:
        whole = np.ones(count, np.bool_)
        for part in parts:
            whole &= part
        return whole
