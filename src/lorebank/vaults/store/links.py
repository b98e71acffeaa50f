"""The findings about what records name, kept up while one or the other of them changes.

The rules are `record.references`; here is only which records have to be looked at again. A record that is
new, or that stayed what it was (same id, kind and type), changes nothing for others but those with a finding:
what they name may be there now. Everything else makes all records be looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.references import References, check_references
from lorebank.vaults.record.values import Finding, Record


@dataclass(frozen=True, slots=True)
class Step:
    """One file's record before and after a change; None where there is none."""

    path: str
    before: Record | None
    after: Record | None

    @property
    def harmless(self) -> bool:
        """Whether it cannot make another record's reference wrong."""
        old, new = self.before, self.after
        if new is None:
            return old is None
        return old is None or (old.id, old.kind, old.type) == (new.id, new.kind, new.type)


class Links:
    """`found`: the findings by path."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[Finding, ...]] = {}
        self._known: References | None = None
        self._sources: AbstractSet[str] = frozenset()

    def renew(self, records: Collection[Record], ontology: Ontology, sources: AbstractSet[str]) -> None:
        """Look at all records."""
        self.found = check_references(records, ontology, sources)
        self._known = References(records, ontology, sources)
        self._sources = sources

    def follow(
        self, steps: Iterable[Step], records: Mapping[str, Record], sources: AbstractSet[str]
    ) -> set[str] | None:
        """Look at what these steps concern; the paths whose findings came or went. None when that is not
        enough. `records` are all of them by path, as they are now."""
        known, steps = self._known, list(steps)
        if known is None or known.twice or not sources >= self._sources:
            return None
        new = [step.after for step in steps if step.before is None and step.after is not None]
        ids = [record.id for record in new]
        if not all(step.harmless for step in steps) or len(set(ids)) < len(ids):
            return None
        if any(record_id in known.by_id for record_id in ids):
            return None
        known.sources = self._sources = sources
        for step in steps:
            if step.after is not None:
                _add(known, step.after)
        again = {*self.found, *(step.path for step in steps)}
        return {path for path in again if self._looked(known, path, records.get(path))}

    def _looked(self, known: References, path: str, record: Record | None) -> bool:
        before = self.found.pop(path, ())
        if record is not None and known.suspicious(record):
            now = tuple(known.findings(record))
            if now:
                self.found[path] = now
        return bool(before) != (path in self.found)


def _add(known: References, record: Record) -> None:
    known.by_id[record.id] = record
    if record.kind == "page" and known.ontology.is_entity(record.type):
        known.entity_ids.add(record.id)
