"""A file of a partition as a record, on its own: what it says, and what is wrong with it, by line.

What can be told only with the other records at hand (do the ends exist?) is in `references.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from lorebank import tokens
from lorebank.access.audience import Partition
from lorebank.search.tokenize import terms
from lorebank.vaults.record import domain
from lorebank.vaults.record.checks import date_text
from lorebank.vaults.record.envelope import Envelope, envelope_of
from lorebank.vaults.record.frame import Broken, framed
from lorebank.vaults.record.front import Front, Notes, front_of
from lorebank.vaults.record.indexing import indexable
from lorebank.vaults.record.once import once
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.values import Citation, Finding, Parsed, Record


def parse_record(path: str, data: bytes, partition: Partition, ontology: Ontology) -> Parsed:
    """Read one file; never raises for its contents.

    `path` is relative to the partition. A file without a right envelope, or of another scope, gives no
    record (statements 1.5.49-50); wrong domain data gives a record that is not valid.
    """
    # The ontology is kept beside the result, so that its id is not given to another one meanwhile.
    key = ("parse", path, data, partition, id(ontology))
    return once(key, lambda: (_parsed(path, data, partition, ontology), ontology))[0]


def _parsed(path: str, data: bytes, partition: Partition, ontology: Ontology) -> Parsed:
    try:
        front = front_of(framed(data))
    except Broken as exc:
        return Parsed(None, (Finding(path, exc.line, exc.rule, exc.message),))
    notes = Notes(path, front)
    envelope = envelope_of(notes, partition)
    if envelope is None:
        return Parsed(None, tuple(notes.found))
    return Parsed(_record(notes, envelope, ontology), tuple(notes.found))


def meta_of(data: bytes) -> Mapping[str, Any]:
    """The frontmatter of a file, whatever it says; `Broken` when it cannot be read."""
    return front_of(framed(data)).value


def body_of(data: bytes) -> str:
    """The Markdown body of a file, with LF line ends and without the empty lines around it."""
    return framed(data).body


def _record(notes: Notes, envelope: Envelope, ontology: Ontology) -> Record:
    meta, body = dict(notes.front.value), notes.front.frame.body
    type_name: Any = None
    if envelope.kind == "page":
        type_name = domain.type_of(meta, notes.path, ontology)
        domain.check_page(notes, type_name, ontology)
    elif envelope.kind == "claim":
        domain.check_claim(notes, body, ontology)
    else:
        domain.check_relationship(notes, ontology)
    entities = domain.check_annotations(notes)
    evidence = domain.citations_of(notes, required=envelope.kind != "page")
    for key in ("valid_from", "valid_to"):
        if isinstance(meta.get(key), int) and (text := date_text(meta[key])) is not None:
            meta[key] = text
    indexed = "\n".join(_indexed(envelope, meta, body))
    return Record(
        path=notes.path,
        id=envelope.id,
        revision=envelope.revision,
        kind=envelope.kind,
        title=envelope.title,
        recorded_at=envelope.recorded_at,
        updated_at=envelope.updated_at,
        lifecycle=envelope.lifecycle,
        aliases=envelope.aliases,
        tags=envelope.tags,
        dependencies=envelope.dependencies,
        type=sys.intern(type_name) if isinstance(type_name, str) else None,
        entities=tuple(entities.values()),
        evidence=tuple(evidence.values()),
        meta=meta,
        text_terms=" ".join(terms(indexable(indexed))),
        tokens=tokens.count(body) if body else 0,
        valid=not notes.found,
        lines=dict(_lines(notes.front, envelope, entities, evidence)),
    )


def _indexed(envelope: Envelope, meta: Mapping[str, Any], body: str) -> Iterator[str]:
    """What keyword search looks at: names, tags, the values of fields, the body."""
    yield envelope.title
    yield from envelope.aliases
    yield from envelope.tags
    fields = meta.get("fields")
    if isinstance(fields, dict):
        for value in fields.values():
            yield from (str(item) for item in (value if isinstance(value, list) else [value]))
    yield body


def _lines(
    front: Front, envelope: Envelope, entities: dict[int, str], evidence: dict[int, Citation]
) -> Iterator[tuple[str, int]]:
    """Where the id and all references stand."""
    meta = front.value
    yield "id", front.line("id")
    for place in range(len(envelope.dependencies)):
        yield f"dependencies.{place}", front.line("dependencies", place)
    for key, places in (("entities", entities), ("evidence", evidence)):
        for number, place in enumerate(places):
            yield f"{key}.{number}", front.line(key, place)
    for key in ("source_page", "replaced_by", "from", "to"):
        if key in meta:
            yield key, front.line(key)
    fields = meta.get("fields")
    if isinstance(fields, dict):
        for name in fields:
            yield f"fields.{name}", front.line("fields", name)
