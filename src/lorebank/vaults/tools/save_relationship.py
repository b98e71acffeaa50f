"""`knowledge_save_relationship`: a relation between two pages, with the sources that say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorebank.clock import Clock
from lorebank.errors import InvalidInput
from lorebank.vaults.record.edit import REMOVE
from lorebank.vaults.record.ontology import Relation
from lorebank.vaults.record.values import Lifecycle, Record
from lorebank.vaults.store.values import Draft, VaultHandle, View
from lorebank.vaults.tools import filing, inputs
from lorebank.vaults.tools.cited import Cited
from lorebank.vaults.tools.common import (
    Saved,
    changed,
    check_revision,
    draft,
    envelope,
    existing,
    findings_of,
    moment,
    publish,
    relation_named,
    rendered,
)
from lorebank.vaults.tools.inputs import CitationInput
from lorebank.vaults.tools.retiring import lifecycle_changes
from lorebank.vaults.tools.save_claim import shared

TOOL: Final = "knowledge_save_relationship"


@dataclass(frozen=True, slots=True)
class SaveRelationship:
    """A new relationship when `id` is None (relation, both ends and evidence are needed), otherwise changes
    of that one; another relation or end needs `expected_revision`. `source` and `target` are the ids of the
    pages that it goes from and to. None leaves a part as it is."""

    id: str | None = None
    expected_revision: int | None = None
    relation: str | None = None
    source: str | None = None
    target: str | None = None
    evidence: Sequence[CitationInput] | None = None
    title: str | None = None
    text: str | None = None
    fields: Mapping[str, Any] | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None
    attribution: str | None = None
    lifecycle: Lifecycle | None = None
    replaced_by: str | None = None
    reason: str | None = None
    request_id: str | None = None


def run(handle: VaultHandle, request: SaveRelationship, clock: Clock) -> dict[str, Any]:
    """Make or change it. One of another revision is `RevisionConflict` with both sides."""
    make = create if request.id is None else update
    cited = None if request.evidence is None else Cited(request.evidence)

    def plan(view: View) -> Draft:
        return make(view, request, clock, cited)

    return publish(handle, TOOL, request, request.request_id, plan, cited)


def create(view: View, request: SaveRelationship, clock: Clock, cited: Cited | None) -> Draft:
    """A new relationship."""
    if (
        request.relation is None
        or request.source is None
        or request.target is None
        or request.evidence is None
    ):
        raise InvalidInput(
            "a new relationship needs relation, from, to and evidence; to change one send its id"
        )
    if request.expected_revision is not None:
        raise InvalidInput("expectedRevision is for changing a relationship; send its id")
    if request.lifecycle not in (None, "active") or request.replaced_by or request.reason:
        raise InvalidInput("a new relationship is active; lifecycle is for changing one")
    relation = view.ontology.relations[relation_named(view.ontology, request.relation)]
    title = _title(view, relation, request.source, request.target)
    meta = envelope(view, "relationship", title, moment(clock))
    meta |= {key: value for key, value in _given(view, request, None, cited).items() if value is not REMOVE}
    path = filing.record_path(filing.RELATIONSHIPS, meta["id"], view.entries)
    return draft(view, Saved(path, rendered(meta, _text(request) or ""), None, 1), "Relationship")


def update(view: View, request: SaveRelationship, clock: Clock, cited: Cited | None) -> Draft:
    """The relationship with what the request changes."""
    entry, record = existing(view, request.id or "", "relationship")
    core = (request.relation, request.source, request.target, request.text)
    needed = "" if all(one is None for one in core) else "to change relation, from, to or text"
    check_revision(view, entry, request.expected_revision, _mine(request), needed=needed)
    changes = _given(view, request, record, cited)
    changes |= lifecycle_changes(view, record, request.lifecycle, request.replaced_by, request.reason)
    body = _text(request)
    if not changes and body is None:
        raise InvalidInput(
            "nothing to change; send at least one of relation, from, to, evidence, lifecycle, …"
        )
    data, revision = changed(view, entry, changes, moment(clock), body)
    before = findings_of(view, entry.path)
    return draft(view, Saved(entry.path, data, entry.sha256, revision, before), "Relationship")


def _given(
    view: View, request: SaveRelationship, record: Record | None, cited: Cited | None
) -> dict[str, Any]:
    """The keys of frontmatter that the request sets or takes out."""
    changes: dict[str, Any] = {}
    if request.relation is not None:
        changes["relation"] = relation_named(view.ontology, request.relation)
    for key, value in (("from", request.source), ("to", request.target)):
        if value is not None:
            changes[key] = inputs.record_id(value, key)
    if request.title is not None:
        changes["title"] = inputs.title(request.title)
    if request.fields is not None:
        changes["fields"] = _fields(view, request, record, changes) or REMOVE
    if cited is not None:
        changes["evidence"] = cited.meta(view)
    return {**changes, **shared(request)}


def _fields(
    view: View, request: SaveRelationship, record: Record | None, changes: Mapping[str, Any]
) -> dict[str, Any]:
    meta: Mapping[str, Any] = {} if record is None else record.meta
    relation = view.ontology.relations.get(str(changes.get("relation", meta.get("relation"))))
    if relation is None:
        raise InvalidInput("the relationship has no relation of the ontology; send relation with fields")
    given = inputs.fields(request.fields or {}, relation.fields, relation.name)
    before = meta.get("fields")
    merged = {**(before if isinstance(before, dict) else {}), **given}
    return {name: value for name, value in merged.items() if value is not None or name not in given}


def _title(view: View, relation: Relation, source: str, target: str) -> str:
    """`Anna works at Acme`, as long as both pages have a name; the ends are checked with the whole draft."""
    names = []
    for end in (source, target):
        entry = view.by_id(end)
        names.append(end if entry is None or entry.record is None else entry.record.title)
    return inputs.title_of(f"{names[0]} {relation.label} {names[1]}")


def _text(request: SaveRelationship) -> str | None:
    if request.text is None:
        return None
    return inputs.text(request.text, "text", inputs.MAX_TEXT_CHARS, empty=True).strip("\n")


def _mine(request: SaveRelationship) -> dict[str, Any]:
    """What the caller wants to change, for the answer to a conflict."""
    pairs = {
        "relation": request.relation,
        "from": request.source,
        "to": request.target,
        "title": request.title,
        "text": request.text,
        "fields": None if request.fields is None else dict(request.fields),
        "evidence": None if request.evidence is None else [one.source for one in request.evidence],
        "validFrom": request.valid_from,
        "validTo": request.valid_to,
        "attribution": request.attribution,
        "lifecycle": request.lifecycle,
        "replacedBy": request.replaced_by,
        "reason": request.reason,
    }
    return {name: value for name, value in pairs.items() if value is not None}
