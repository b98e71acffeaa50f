"""How records look in answers: one short form everywhere, dates and origin always shown."""

from __future__ import annotations

from typing import Any

from lorebank.vaults.find.facets import type_of
from lorebank.vaults.find.names import names_of
from lorebank.vaults.record.frame import Broken, framed
from lorebank.vaults.record.values import Record
from lorebank.vaults.store.values import Entry, View


def text_of(view: View, entry: Entry) -> str:
    """The Markdown body as the file has it now; `Unavailable` when the file is not that of the view."""
    try:
        return framed(view.read(entry)).body
    except Broken:  # cannot be: it was readable when the view was made, and has the same bytes
        return ""


def brief(view: View, entry: Entry, record: Record) -> dict[str, Any]:
    """What identifies a record and says how far it goes: without None values."""
    meta = record.meta
    found: dict[str, Any] = {
        "id": record.id,
        "kind": record.kind,
        "type": type_of(record),
        "title": record.title,
        "path": entry.path,
        "revision": entry.revision,
        "lifecycle": record.lifecycle,
        "validFrom": meta.get("valid_from"),
        "validTo": meta.get("valid_to"),
        "recordedAt": record.recorded_at,
        "updatedAt": record.updated_at,
        "origin": meta.get("origin"),
        "attribution": attribution_of(view, record),
    }
    if record.entities:
        found["entities"] = [named(view, page) for page in record.entities]
    if record.kind == "relationship":
        found |= {"from": named(view, meta.get("from")), "to": named(view, meta.get("to"))}
    if not record.valid:
        found["valid"] = False
    if names_of(view).twice(record.id):
        found["duplicate"] = True
    return {name: value for name, value in found.items() if value is not None}


def named(view: View, record_id: object) -> dict[str, Any] | None:
    """A reference with the title of what it points to. One into another partition looks like one to nothing
    (statement 1.5.47)."""
    if not isinstance(record_id, str):
        return None
    target = view.by_id(record_id)
    if target is None or target.record is None:
        return {"id": record_id, "missing": True}
    return {"id": record_id, "title": target.record.title}


def attribution_of(view: View, record: Record) -> str | None:
    """Who says so: the record's own attribution, else that of its first evidence that has one."""
    own = record.meta.get("attribution")
    if isinstance(own, str) and own:
        return own
    for citation in record.evidence:
        source = view.descriptor(citation.source)
        given = citation.attribution or (None if source is None else source.attribution)
        if given:
            return given
    return None
