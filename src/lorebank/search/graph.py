"""Stored links between passages: causal ones, and semantic neighbours where the store keeps them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

LinkKind = Literal["causal", "semantic"]


@dataclass(frozen=True, slots=True)
class Link:
    """An undirected link between two passages, by key; `weight` is 0..1."""

    source: int
    target: int
    kind: LinkKind
    weight: float = 1.0


class Links:
    """Links by passage key. One writer adds; a reader checks the far end against its own snapshot."""

    def __init__(self) -> None:
        self._by_key: dict[int, tuple[Link, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def add(self, links: Iterable[Link]) -> None:
        """Keep `links`; one with the same ends and kind is replaced."""
        for link in links:
            for key in {link.source, link.target}:
                others = (known for known in self._by_key.get(key, ()) if not _same_place(known, link))
                self._by_key[key] = (*others, link)

    def drop(self, keys: Iterable[int]) -> None:
        """Forget every link of these passages, at both ends."""
        for key in keys:
            for link in self._by_key.pop(key, ()):
                other = link.target if link.source == key else link.source
                if other in self._by_key:
                    kept = tuple(
                        known for known in self._by_key[other] if key not in (known.source, known.target)
                    )
                    self._by_key[other] = kept

    def of(self, key: int) -> tuple[tuple[int, float, LinkKind], ...]:
        """The far ends of a passage's links, with weight and kind."""
        return tuple(
            (link.target if link.source == key else link.source, link.weight, link.kind)
            for link in self._by_key.get(key, ())
        )


def _same_place(left: Link, right: Link) -> bool:
    return left.kind == right.kind and {left.source, left.target} == {right.source, right.target}
