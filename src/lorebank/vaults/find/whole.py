"""A whole record for those who open it: text, frontmatter, neighbours, evidence, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lorebank.errors import one_line
from lorebank.vaults.evidence.citations import Checked, check_citations
from lorebank.vaults.find.hits import brief, named, text_of
from lorebank.vaults.find.names import names_of
from lorebank.vaults.record.values import MAX_DIAGNOSTICS, Finding, Record
from lorebank.vaults.store.values import Entry, View

MAX_TEXT_CHARS: Final = 500_000
"""Characters of a body in one answer; `nextOffset` tells where it goes on."""
MAX_NEIGHBOURS: Final = 100
"""Relations, and claims about a page, in one answer; the number of all is beside them."""


def whole(view: View, entry: Entry, record: Record, *, offset: int = 0) -> dict[str, Any]:
    """Everything about one record, its file read again (statement 1.7.65) and its citations verified."""
    text = text_of(view, entry)
    checked = check_citations(view, record.evidence, excerpts=True)
    found = brief(view, entry, record)
    found |= {"text": text[offset : offset + MAX_TEXT_CHARS], "meta": dict(record.meta)}
    if len(text) > offset + MAX_TEXT_CHARS:
        found |= {"textLength": len(text), "nextOffset": offset + MAX_TEXT_CHARS}
    found |= _relations(view, record) | _claims(view, record)
    found["evidence"] = [shown_citation(one) for one in checked]
    return found | _findings(view, entry, record, checked)


def shown_citation(one: Checked) -> dict[str, Any]:
    """A citation with its verdict; lines of the source only where it holds."""
    citation, source = one.citation, one.descriptor
    found: dict[str, Any] = {
        "source": citation.source,
        "lines": None if citation.lines is None else f"{citation.lines[0]}-{citation.lines[1]}",
        "quote": citation.quote,
        "attribution": one.attribution,
        "verified": one.verdict.rule is None,
    }
    if source is not None:
        found |= {"origin": source.origin, "filename": source.filename, "mediaType": source.media_type}
        found |= {"sha256": source.sha256, "size": source.size, "retainedAt": source.retained_at}
    if one.verdict.rule is not None:
        found["problem"] = {"rule": one.verdict.rule, "message": one.verdict.message}
    if one.lines:
        found["excerpt"] = [{"line": number, "text": text} for number, text in one.lines]
        found["excerptCut"] = one.cut or None
    return {name: value for name, value in found.items() if value is not None}


def shown_finding(one: Finding) -> dict[str, Any]:
    """A diagnostic as answers have it."""
    return {
        "path": one_line(one.path),
        "line": one.line,
        "rule": one.rule,
        "message": one_line(one.message),
    }


def _relations(view: View, record: Record) -> dict[str, Any]:
    """Relationships that begin or end in the record, and what it depends on."""
    ends = names_of(view).relations_of(record.id)
    shown = [
        _relation(view, entry, entry.record, record.id) for entry in ends[:MAX_NEIGHBOURS] if entry.record
    ]
    found: dict[str, Any] = {"relations": shown}
    if len(ends) > MAX_NEIGHBOURS:
        found["relationsTotal"] = len(ends)
    if record.dependencies:
        found["dependencies"] = [named(view, one) for one in record.dependencies]
    return found


def _relation(view: View, entry: Entry, link: Record, seen_from: str) -> dict[str, Any]:
    outward = link.meta.get("from") == seen_from
    short = brief(view, entry, link)
    kept = ("id", "title", "type", "revision", "lifecycle", "validFrom", "validTo", "valid")
    found = {name: short[name] for name in kept if name in short}
    relation = view.ontology.relations.get(str(short.get("type")))
    if relation is not None:
        found["label"] = relation.label
    return found | {"direction": "out" if outward else "in", "other": short.get("to" if outward else "from")}


def _claims(view: View, record: Record) -> dict[str, Any]:
    """Claims that are annotated with a page."""
    if record.kind != "page":
        return {}
    about = names_of(view).claims_about(record.id)
    kept = ("id", "title", "type", "revision", "lifecycle", "validFrom", "validTo", "recordedAt", "valid")
    shorts = [brief(view, entry, entry.record) for entry in about[:MAX_NEIGHBOURS] if entry.record]
    found: dict[str, Any] = {"claims": [{n: short[n] for n in kept if n in short} for short in shorts]}
    if len(about) > MAX_NEIGHBOURS:
        found["claimsTotal"] = len(about)
    return found


def _findings(view: View, entry: Entry, record: Record, checked: Sequence[Checked]) -> dict[str, Any]:
    """The record's diagnostics, those of its citations among them; at most 1,000, and whether that is all."""
    own = [one for one in view.findings if one.path == entry.path]
    cited = (
        one.finding(entry.path, record.lines.get(f"evidence.{place}", 0)) for place, one in enumerate(checked)
    )
    every = [*own, *(one for one in cited if one is not None)]
    found: dict[str, Any] = {"findings": [shown_finding(one) for one in every[:MAX_DIAGNOSTICS]]}
    if len(every) > MAX_DIAGNOSTICS:
        found["findingsTruncated"] = True
    return found
