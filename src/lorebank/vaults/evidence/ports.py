"""What the checks of evidence need from the store around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable


@runtime_checkable
class Verdicts(Protocol):
    """Verdicts of evidence checks, kept while a file's stamp stays as it was (statement 1.7.68).

    Keys are made here and name the partition; nothing in a verdict repeats what a source says.
    """

    def verdict(self, key: str) -> tuple[str, str] | None:
        """(stamp, verdict), None when there is none."""

    def set_verdicts(self, stamp: str, verdicts: Mapping[str, str]) -> None:
        """Keep verdicts, by key, of one source that has this stamp."""


@runtime_checkable
class KeepsVerdicts(Protocol):
    """A view that offers its store's verdicts; one that does not has every citation checked anew."""

    @property
    def verdicts(self) -> Verdicts: ...
