"""What is derived from a view: made once, from what was made for the view before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lorebank.search.columns import Floats

if TYPE_CHECKING:
    from lorebank.vaults.store.values import Entry, View

T = TypeVar("T")

Embed = Callable[[str], Floats | None]
"""The unit vector of a question, None when there is none now (the search then goes by words alone)."""


def derived(view: View, name: str, make: Callable[[View, T | None], T]) -> T:
    """What `make` derives from a view, made once a view.

    A view may have a dict `memo`, which goes with it, and a dict `carry`, which all views of its partition
    share. `make` is given what it made for an earlier view, where there is one, so that it needs to look
    only at what changed. Two threads may both make it; the values are equal.
    """
    memo: dict[str, Any] = getattr(view, "memo", {})
    if name in memo:
        return cast(T, memo[name])
    carry: dict[str, Any] = getattr(view, "carry", {})
    made = make(view, cast(T | None, carry.get(name)))
    memo[name] = carry[name] = made
    return made


def known_of(view: View) -> Mapping[int, Entry]:
    """The entries of all readable records, by key, in order of path."""
    return derived(view, "find.known", _known)


def _known(view: View, before: Mapping[int, Entry] | None) -> Mapping[int, Entry]:
    return {entry.key: entry for entry in view.entries.values() if entry.record is not None}


def changes(before: Mapping[int, Entry], now: Mapping[int, Entry]) -> tuple[list[Entry], list[Entry]]:
    """(gone, new): a changed record is in both. The entry of an unchanged file is the same object."""
    gone = [entry for key, entry in before.items() if now.get(key) is not entry]
    new = [entry for key, entry in now.items() if before.get(key) is not entry]
    return gone, new
