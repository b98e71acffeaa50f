"""`knowledge_save_claim`: a claim from cited sources, or changes of one: text, evidence, links, lifecycle.

Every citation that is given is checked against its source before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorebank.clock import Clock
from lorebank.errors import InvalidInput
from lorebank.vaults.record.edit import REMOVE
from lorebank.vaults.record.parse import body_of
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
    rendered,
)
from lorebank.vaults.tools.inputs import CitationInput
from lorebank.vaults.tools.remember import source_page
from lorebank.vaults.tools.retiring import lifecycle_changes

TOOL: Final = "knowledge_save_claim"


@dataclass(frozen=True, slots=True)
class SaveClaim:
    """A new claim when `id` is None (text and evidence are needed), otherwise changes of that claim; another
    text needs `expected_revision`. None leaves a part as it is; an empty list or text takes it out, except
    that evidence is never empty."""

    id: str | None = None
    expected_revision: int | None = None
    text: str | None = None
    claim_kind: str | None = None
    title: str | None = None
    evidence: Sequence[CitationInput] | None = None
    entities: Sequence[str] | None = None
    source_page: str | None = None
    subject_hint: str | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None
    attribution: str | None = None
    tags: Sequence[str] | None = None
    dependencies: Sequence[str] | None = None
    lifecycle: Lifecycle | None = None
    replaced_by: str | None = None
    reason: str | None = None
    request_id: str | None = None


def run(handle: VaultHandle, request: SaveClaim, clock: Clock) -> dict[str, Any]:
    """Make or change the claim. A claim of another revision is `RevisionConflict` with both sides."""
    make = create if request.id is None else update
    cited = None if request.evidence is None else Cited(request.evidence)

    def plan(view: View) -> Draft:
        return make(view, request, clock, cited)

    return publish(handle, TOOL, request, request.request_id, plan, cited)


def create(view: View, request: SaveClaim, clock: Clock, cited: Cited | None) -> Draft:
    """A new claim."""
    if request.text is None or request.evidence is None:
        raise InvalidInput("a new claim needs text and evidence; to change a claim send its id")
    if request.expected_revision is not None:
        raise InvalidInput("expectedRevision is for changing a claim; send its id")
    if request.lifecycle not in (None, "active") or request.replaced_by or request.reason:
        raise InvalidInput("a new claim is active; lifecycle, replacedBy and reason are for changing one")
    text = inputs.text(request.text, "text", inputs.MAX_TEXT_CHARS).strip("\n")
    title = inputs.title_of(text) if request.title is None else inputs.title(request.title)
    meta = {**envelope(view, "claim", title, moment(clock)), "claim_kind": "fact", "origin": TOOL}
    given = _given(view, request, cited)
    meta |= {key: value for key, value in given.items() if value is not REMOVE}
    path = filing.record_path(filing.CLAIMS, meta["id"], view.entries)
    return draft(view, Saved(path, rendered(meta, text), None, 1), "Claim")


def update(view: View, request: SaveClaim, clock: Clock, cited: Cited | None) -> Draft:
    """The claim with what the request changes."""
    entry, record = existing(view, request.id or "", "claim")
    needed = "" if request.text is None else "to change a claim's text"
    check_revision(view, entry, request.expected_revision, _mine(request), needed=needed)
    changes = _given(view, request, cited)
    changes |= lifecycle_changes(view, record, request.lifecycle, request.replaced_by, request.reason)
    body = None
    if request.title is not None:
        changes["title"] = inputs.title(request.title)
    if request.text is not None:
        body = inputs.text(request.text, "text", inputs.MAX_TEXT_CHARS).strip("\n")
        if request.title is None and record.title == inputs.title_of(body_of(view.read(entry))):
            changes["title"] = inputs.title_of(body)
    if not changes and body is None:
        raise InvalidInput("nothing to change; send at least one of text, evidence, entities, lifecycle, …")
    data, revision = changed(view, entry, changes, moment(clock), body)
    before = findings_of(view, entry.path)
    return draft(view, Saved(entry.path, data, entry.sha256, revision, before), _what(record, request))


def _what(record: Record, request: SaveClaim) -> str:
    moved = request.lifecycle is not None and request.lifecycle != record.lifecycle
    return f"Claim {request.lifecycle}" if moved else "Claim"


def _mine(request: SaveClaim) -> dict[str, Any]:
    """What the caller wants to change, for the answer to a conflict."""
    pairs = {
        "text": request.text,
        "title": request.title,
        "claimKind": request.claim_kind,
        "evidence": None if request.evidence is None else [_cited(one) for one in request.evidence],
        "entities": request.entities,
        "sourcePage": request.source_page,
        "subjectHint": request.subject_hint,
        "validFrom": request.valid_from,
        "validTo": request.valid_to,
        "attribution": request.attribution,
        "tags": request.tags,
        "dependencies": request.dependencies,
        "lifecycle": request.lifecycle,
        "replacedBy": request.replaced_by,
        "reason": request.reason,
    }
    return {name: value for name, value in pairs.items() if value is not None}


def _cited(one: CitationInput) -> dict[str, Any]:
    return {"source": one.source, "lines": one.lines, "quote": one.quote, "attribution": one.attribution}


def _given(view: View, request: SaveClaim, cited: Cited | None) -> dict[str, Any]:
    """The keys of frontmatter that the request sets or takes out."""
    changes: dict[str, Any] = {}
    if request.claim_kind is not None:
        if request.claim_kind not in view.ontology.claim_kinds:
            raise InvalidInput(f"claimKind must be one of {', '.join(view.ontology.claim_kinds)}")
        changes["claim_kind"] = request.claim_kind
    if cited is not None:
        changes["evidence"] = cited.meta(view)
    if request.entities is not None:
        changes["entities"] = inputs.ids(request.entities, "entities") or REMOVE
    if request.tags is not None:
        changes["tags"] = inputs.texts(request.tags, "tags") or REMOVE
    if request.dependencies is not None:
        changes["dependencies"] = inputs.ids(request.dependencies, "dependencies") or REMOVE
    if request.source_page is not None:
        changes["source_page"] = source_page(view, request.source_page) if request.source_page else REMOVE
    if request.subject_hint is not None:
        hint = request.subject_hint
        changes["subject_hint"] = inputs.title(hint, "subjectHint") if hint else REMOVE
    return {**changes, **shared(request)}


def shared(request: Any) -> dict[str, Any]:
    """Dates and attribution, which claims and relationships have alike; an empty text takes one out."""
    changes: dict[str, Any] = {}
    for key, name, value in (
        ("valid_from", "validFrom", request.valid_from),
        ("valid_to", "validTo", request.valid_to),
    ):
        if value is not None:
            changes[key] = REMOVE if value == "" else inputs.date(value, name)
    if request.attribution is not None:
        by = inputs.text(request.attribution, "attribution", inputs.MAX_ATTRIBUTION_CHARS, empty=True).strip()
        changes["attribution"] = by or REMOVE
    return changes
