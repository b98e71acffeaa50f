"""`knowledge_remember`: one claim, with the very words that it rests on kept beside it.

The excerpt is retained as a source of its own and cited whole, so that the claim can be checked later
whatever becomes of the conversation. Claim, excerpt and descriptor are one publication.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from lorebank.clock import Clock
from lorebank.errors import InvalidInput
from lorebank.ids import new_uuid
from lorebank.vaults.evidence.citations import verify_citation
from lorebank.vaults.evidence.descriptors import content_path, descriptor_path, encode
from lorebank.vaults.record.render import encoded, render_record
from lorebank.vaults.record.values import Citation
from lorebank.vaults.store.values import Descriptor, Draft, FileChange, VaultHandle, View
from lorebank.vaults.tools import filing, inputs
from lorebank.vaults.tools.common import Saved, draft, envelope, moment, publish
from lorebank.vaults.tools.naming import pages_called

TOOL: Final = "knowledge_remember"


@dataclass(frozen=True, slots=True)
class Remember:
    """What to remember. `excerpt` are the exact words it was taken from, `text` itself when None.

    `subject` is the id, title or alias of the one entity page that it is about; when it does not name
    exactly one, it is kept as a hint for later linking. `source_page` is the id of the page that it was
    written on.
    """

    text: str
    claim_kind: str = "fact"
    title: str | None = None
    excerpt: str | None = None
    subject: str | None = None
    source_page: str | None = None
    subject_hint: str | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None
    attribution: str | None = None
    request_id: str | None = None


def run(handle: VaultHandle, request: Remember, clock: Clock) -> dict[str, Any]:
    """Save it. The answer's `subject` tells what became of the subject."""
    return publish(handle, TOOL, request, request.request_id, lambda view: plan(view, request, clock))


def plan(view: View, request: Remember, clock: Clock) -> Draft:
    """The claim, the excerpt and its descriptor."""
    text = inputs.text(request.text, "text", inputs.MAX_TEXT_CHARS).strip("\n")
    given = request.text if request.excerpt is None else request.excerpt
    excerpt = inputs.text(given, "excerpt", inputs.MAX_EXCERPT_CHARS).strip("\n")
    by = request.attribution
    if by is not None:
        by = inputs.text(by, "attribution", inputs.MAX_ATTRIBUTION_CHARS).strip()
    if request.claim_kind not in view.ontology.claim_kinds:
        raise InvalidInput(f"claimKind must be one of {', '.join(view.ontology.claim_kinds)}")
    now = moment(clock)
    retained, files = _retained(view, excerpt, by, now)
    lines = (1, excerpt.count("\n") + 1)
    citation = Citation(retained.id, lines, excerpt, by)
    title = inputs.title_of(text) if request.title is None else inputs.title(request.title)
    subject, linked = _subject(view, request)
    meta = {
        **envelope(view, "claim", title, now),
        "claim_kind": request.claim_kind,
        "origin": TOOL,
        "remembered": True,
        **({} if by is None else {"attribution": by}),
        **_dates(request),
        **_page(view, request),
        **linked,
        "evidence": [inputs.citation_meta(citation)],
    }
    path = filing.record_path(filing.CLAIMS, meta["id"], view.entries)
    saved = Saved(
        path,
        render_record(meta, text),
        None,
        1,
        more_files=files,
        sources=frozenset({retained.id}),
        extra={"source": retained.id, "subject": subject},
    )
    return draft(view, saved, "Remember")


def _retained(
    view: View, excerpt: str, by: str | None, now: str
) -> tuple[Descriptor, tuple[FileChange, ...]]:
    """The excerpt as a retained source; an equal one that is there already serves again."""
    data = encoded(excerpt)
    digest = hashlib.sha256(data).hexdigest()
    for known in view.descriptors.values():
        same = known.sha256 == digest and known.origin == TOOL and known.attribution == by
        if same and verify_citation(view, Citation(known.id, quote=excerpt)) is None:
            return known, ()
    new = Descriptor(
        new_uuid(),
        content_path(digest),
        digest,
        len(data),
        TOOL,
        attribution=by,
        media_type="text/plain",
        retained_at=now,
    )
    described = encode(new, view.partition)
    beside = FileChange(
        descriptor_path(digest, new.id), content=described, sha256=hashlib.sha256(described).hexdigest()
    )
    return new, (FileChange(new.path, content=data, sha256=digest, action="retain"), beside)


def _subject(view: View, request: Remember) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """(what the answer says of the subject, the frontmatter that follows)."""
    hint = None if request.subject_hint is None else inputs.title(request.subject_hint, "subjectHint")
    kept = {} if hint is None else {"subject_hint": hint}
    if request.subject is None:
        return None, kept
    name = inputs.title(request.subject, "subject")
    pages = entity_pages(view, name)
    if len(pages) == 1:
        return {"given": name, "state": "linked", "page": pages[0]}, {"entities": pages, **kept}
    state = "ambiguous" if pages else "no_page"
    return {"given": name, "state": state, "keptAs": "subject_hint"}, {"subject_hint": hint or name}


def entity_pages(view: View, name: str) -> list[str]:
    """The ids of the active entity pages with that id, title or alias, in order."""
    return sorted(page.id for page in pages_called(view, name) if view.ontology.is_entity(page.type))


def _page(view: View, request: Remember) -> dict[str, Any]:
    return {} if request.source_page is None else {"source_page": source_page(view, request.source_page)}


def source_page(view: View, page_id: str) -> str:
    """The id of a page of this partition."""
    entry = view.by_id(inputs.record_id(page_id, "sourcePage"))
    if entry is None or entry.record is None or entry.record.kind != "page":
        raise InvalidInput("sourcePage: there is no page with this id")
    return page_id


def _dates(request: Remember) -> dict[str, Any]:
    pairs = (
        ("valid_from", "validFrom", request.valid_from),
        ("valid_to", "validTo", request.valid_to),
    )
    return {key: inputs.date(value, name) for key, name, value in pairs if value is not None}
