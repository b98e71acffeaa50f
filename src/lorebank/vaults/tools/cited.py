"""The citations of a request: checked before the save has the store's lane, looked up inside of it.

A source may be as long as the disk allows and a claim may cite it as often as it likes, and nobody else of
the store waits for that. Inside the lane the sources only have to be the files that were checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorebank.errors import InvalidInput, Unavailable
from lorebank.vaults.evidence.citations import check_citations, stamp_in
from lorebank.vaults.record.values import Citation
from lorebank.vaults.store.values import Descriptor, View
from lorebank.vaults.tools import inputs
from lorebank.vaults.tools.inputs import CitationInput

_FIRST_CHECKED: Final = 16
"""Citations that are checked together first."""
MANY: Final = 100
"""Citations that make a record worth writing and reading back once before the lane."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A cited source as it was checked."""

    descriptor: Descriptor | None
    stamp: str | None


class Cited:
    """The citations of one request."""

    def __init__(self, given: Sequence[CitationInput]) -> None:
        self._given = given
        self._meta: list[dict[str, Any]] | None = None
        self._refusal: InvalidInput | None = None
        self._sources: dict[str, _Source] = {}

    @property
    def many(self) -> bool:
        """Whether the record is going to be a large one because of them."""
        return len(self._given) > MANY

    def look(self, view: View) -> None:
        """Check each against its source. What is wrong is told by `meta`: a request that was published before
        gets its receipt, whatever became of its sources."""
        self._meta = self._refusal = None
        try:
            found = inputs.citations(self._given)
            # The state of the sources first: what changes while they are read is noticed inside the lane.
            self._sources = {name: _source(view, name) for name in {one.source for one in found}}
            _check(view, found)
        except InvalidInput as exc:
            self._refusal = exc
            return
        self._meta = [inputs.citation_meta(one) for one in found]

    def meta(self, view: View) -> list[dict[str, Any]]:
        """Citations as frontmatter has them. `InvalidInput` names the first that does not hold,
        `Unavailable` when a source is not the file any more that was looked at."""
        looked = self._meta is not None
        if self._refusal is None and not looked:
            self.look(view)
        if self._refusal is not None:
            raise self._refusal
        if not looked:
            return self._meta or []
        for name, source in self._sources.items():
            if _source(view, name) != source:
                raise Unavailable("a cited source changed while it was checked; ask again")
        if any(one.stamp is None for one in self._sources.values()):
            _check(view, inputs.citations(self._given))
        return self._meta or []


def _source(view: View, name: str) -> _Source:
    descriptor = view.descriptor(name)
    return _Source(descriptor, None if descriptor is None else stamp_in(view, descriptor))


def _check(view: View, found: Sequence[Citation]) -> None:
    """In growing batches: many that cite one source read it a few times only, and a wrong one near the
    beginning costs nothing of what stands behind it."""
    begin, size = 0, _FIRST_CHECKED
    while begin < len(found):
        batch = found[begin : begin + size]
        for place, checked in enumerate(check_citations(view, batch, excerpts=False), begin):
            if checked.verdict.rule is not None:
                raise InvalidInput(f"evidence.{place}: {checked.verdict.message}")
        begin, size = begin + size, size * 16
