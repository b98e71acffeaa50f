"""What can be told only with all records of a partition at hand: do the ids that a record names exist, and
are they what they must be? Which ids stand twice?

Pure and quick: it runs over all records whenever one has changed. A record of another partition is not among
them, so it is like one that does not exist (statement 1.5.47).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping
from dataclasses import replace

from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.values import Finding, Record

_Yields = Generator[Finding, None, Record | None]
Found = dict[str, tuple[Finding, ...]]
_SHOWN = 100
"""Characters of an id that a message repeats."""
_ITSELF = "it is replaced by itself; name the record that takes its place"


class References:
    """The records of one partition by id. `twice` are the ids that more than one file has: they name
    nothing."""

    def __init__(self, records: Iterable[Record], ontology: Ontology, sources: Collection[str]) -> None:
        self.records = list(records)
        self.ontology = ontology
        self.sources = sources
        self.by_id: dict[str, Record] = {record.id: record for record in self.records}
        self.twice: set[str] = set()
        if len(self.by_id) < len(self.records):
            counts = Counter(record.id for record in self.records)
            self.twice = {record_id for record_id, count in counts.items() if count > 1}
        self.known = self.by_id.keys() - self.twice if self.twice else self.by_id.keys()
        self.entity_ids = {
            record.id
            for record in self.by_id.values()
            if record.kind == "page" and ontology.is_entity(record.type) and record.id not in self.twice
        }
        rules = {name: known.fields for name, known in ontology.types.items()}
        rules |= {name: known.fields for name, known in ontology.relations.items()}
        self.page_fields = {
            name: pages
            for name, fields in rules.items()
            if (pages := tuple(rule.name for rule in fields.values() if rule.kind == "page"))
        }

    def suspicious(self, record: Record) -> bool:
        """Whether anything may be wrong; cheap, and never false for a record that has a finding."""
        meta = record.meta
        if record.dependencies or record.kind == "relationship" or record.type in self.page_fields:
            return True
        if record.entities and not self.entity_ids.issuperset(record.entities):
            return True
        if "source_page" in meta or "replaced_by" in meta:
            return True
        sources = self.sources
        for one in record.evidence:  # noqa: SIM110 - ten thousand times at every look
            if one.source not in sources:
                return True
        return False

    def findings(self, record: Record) -> Iterable[Finding]:
        """Everything that is wrong with what the record names."""
        for place, target in enumerate(record.dependencies):
            yield from self._record(record, f"dependencies.{place}", target, "reference.dependency")
        for place, target in enumerate(record.entities):
            yield from self._entity(record, f"entities.{place}", target)
        for place, citation in enumerate(record.evidence):
            if citation.source not in self.sources:
                message = (
                    f"the cited source '{citation.source[:_SHOWN]}' is not retained in this partition; "
                    "attach it, or take the citation out"
                )
                yield _finding(record, f"evidence.{place}", "reference.evidence", message)
        yield from self._named(record)
        yield from self._fields(record)
        if record.kind == "relationship":
            yield from self._ends(record)

    def _named(self, record: Record) -> Iterable[Finding]:
        page = record.meta.get("source_page")
        if isinstance(page, str):
            found = yield from self._record(record, "source_page", page, "reference.source_page")
            if found is not None and found.kind != "page":
                yield _finding(record, "source_page", "reference.source_page", _no_page("source_page"))
        by = record.meta.get("replaced_by")
        if isinstance(by, str):
            if by == record.id:
                yield _finding(record, "replaced_by", "reference.replaced_by", _ITSELF)
            else:
                yield from self._record(record, "replaced_by", by, "reference.replaced_by")

    def _record(self, record: Record, where: str, target: str, rule: str) -> _Yields:
        if target in self.known:
            return self.by_id[target]
        yield _finding(record, where, rule, self._missing(target))
        return None

    def _missing(self, target: str) -> str:
        if target in self.twice:
            return "this id stands in more than one file, so it names nothing; give one of them another id"
        return f"no record of this partition has the id '{target[:_SHOWN]}'; mend the id, or take it out"

    def _entity(self, record: Record, where: str, target: str) -> Iterable[Finding]:
        if target in self.entity_ids:
            return
        message = self._missing(target)
        if target in self.known:
            message = f"'{target[:_SHOWN]}' is no entity page (a page whose type is an entity); name one"
        yield _finding(record, where, "reference.entity", message)

    def _fields(self, record: Record) -> Iterable[Finding]:
        name = record.type if record.kind == "page" else record.meta.get("relation")
        fields = record.meta.get("fields")
        if not isinstance(name, str) or not isinstance(fields, Mapping):
            return
        for field in self.page_fields.get(name, ()):
            target = fields.get(field)
            if isinstance(target, str):
                where = f"fields.{field}"
                found = yield from self._record(record, where, target, "reference.field")
                if found is not None and found.kind != "page":
                    yield _finding(record, where, "reference.field", _no_page(where))

    def _ends(self, record: Record) -> Iterable[Finding]:
        relation = self.ontology.relations.get(str(record.meta.get("relation")))
        for end, allowed in (
            ("from", relation.sources if relation else ()),
            ("to", relation.targets if relation else ()),
        ):
            target = record.meta.get(end)
            if not isinstance(target, str):
                continue
            found = yield from self._record(record, end, target, "reference.end")
            if found is not None and found.kind != "page":
                yield _finding(record, end, "reference.end", _no_page(end))
            elif found is not None and allowed and found.type not in allowed:
                message = f"{end!r} must be a page of the type {' or '.join(allowed)}"
                yield _finding(record, end, "reference.end_type", message)


def check_references(records: Iterable[Record], ontology: Ontology, sources: Collection[str]) -> Found:
    """The findings of all records of a partition by path; a record with any is not valid.

    `sources` are the ids of its descriptors. Records with the same id each get a finding that names the
    others (specs, Record formats: all stay listed).
    """
    known = References(records, ontology, sources)
    found: Found = {}
    for record in known.records:
        if known.suspicious(record):
            wrong = tuple(known.findings(record))
            if wrong:
                found[record.path] = wrong
    for path, finding in _duplicates(known):
        found[path] = (finding, *found.get(path, ()))
    return found


def judged(record: Record, findings: Collection[Finding]) -> Record:
    """The record as a view shows it: not valid when what it names is wrong."""
    return replace(record, valid=False) if findings and record.valid else record


def _duplicates(known: References) -> Iterable[tuple[str, Finding]]:
    if not known.twice:
        return
    files: dict[str, list[Record]] = {}
    for record in known.records:
        if record.id in known.twice:
            files.setdefault(record.id, []).append(record)
    for same in files.values():
        for record in same:
            others = ", ".join(other.path for other in same if other is not record)
            message = f"the id stands in {others[:300]} too; give one of them another id"
            yield record.path, _finding(record, "id", "id.duplicate", message)


def _no_page(where: str) -> str:
    return f"{where!r} names a record that is no page; name a page"


def _finding(record: Record, where: str, rule: str, message: str) -> Finding:
    return Finding(record.path, record.lines.get(where, 0), rule, message)
