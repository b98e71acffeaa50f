"""The write points of a publication, by name: where a kill leaves something different behind.

Nothing happens at them. Tests install a function that kills the process, and look at what recovery makes of
the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum


class Point(Enum):
    """In the order in which a publication passes them."""

    PLANNED = "planned"
    """Everything is decided, nothing is written."""
    ACCEPTED = "accepted"
    """The journal has the whole publication."""
    FILE_WRITTEN = "file_written"
    """One file is in place (once for each file)."""
    FILES_WRITTEN = "files_written"
    MANIFEST_WRITTEN = "manifest_written"
    """vault.json shows the new publication, the database still the old one."""
    PUBLISHED = "published"
    """The database has receipt, checkpoint, catalogue and history; git has nothing yet."""
    COMMITTED = "committed"
    """Git has it; the database does not know of the commit."""
    NOTED = "noted"
    """Done; the caller has not heard of it."""
    UNDOING = "undoing"
    """A publication is being taken back; before each file."""
    UNDONE = "undone"
    """All files are as before, the journal row is still there."""
    FORGOTTEN = "forgotten"
    """The journal row is gone."""


Hook = Callable[[Point], None]


def _nothing(point: Point) -> None:
    """No one is waiting for it."""


_hook: Hook = _nothing


def reached(point: Point) -> None:
    """To be called at the point."""
    _hook(point)


@contextmanager
def installed(hook: Hook) -> Iterator[None]:
    """`hook` is called at every point, in all threads, while the block runs."""
    global _hook
    before, _hook = _hook, hook
    try:
        yield
    finally:
        _hook = before
