"""What a save worked out before it had the store's lane is not worked out again inside.

A record with ten thousands of citations takes seconds to write and to read back, and nobody else of the store
may wait for that. Results are kept for one thread and one block only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
_kept = threading.local()


@contextmanager
def remembering() -> Iterator[None]:
    """Inside the block `once` makes a thing once only. A block inside a block remembers for itself."""
    outer = getattr(_kept, "made", None)
    _kept.made = {}
    try:
        yield
    finally:
        _kept.made = outer


def once(key: Hashable, make: Callable[[], T]) -> T:
    """What `make` gives, or gave for an equal key in this block. Outside of a block it is made each time.

    `key` must tell everything that the result depends on; nobody may change the result.
    """
    made: dict[Hashable, Any] | None = getattr(_kept, "made", None)
    if made is None:
        return make()
    if key not in made:
        made[key] = make()
    found: T = made[key]
    return found


@contextmanager
def only_here(key: Hashable) -> Iterator[None]:
    """Inside this part of a block `key` counts as made."""
    made: dict[Hashable, Any] = getattr(_kept, "made", None) or {}
    made[key] = True
    try:
        yield
    finally:
        made.pop(key, None)


def made_before(key: Hashable) -> bool:
    """Whether `once` has it; true outside of a block, where nothing is made ahead."""
    made: dict[Hashable, Any] | None = getattr(_kept, "made", None)
    return made is None or key in made
