"""`knowledge_save_page`: make a page, or change one: its names, fields, text, one section, its lifecycle.

A page keeps its file whatever it is called later, and everything in its frontmatter that is not named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorebank.clock import Clock
from lorebank.errors import InvalidInput
from lorebank.vaults.record.edit import REMOVE
from lorebank.vaults.record.parse import body_of
from lorebank.vaults.record.render import render_record
from lorebank.vaults.record.sections import replace_section
from lorebank.vaults.record.values import Finding, Lifecycle, Record
from lorebank.vaults.store.values import Draft, VaultHandle, View
from lorebank.vaults.tools import filing, inputs
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
    type_named,
)
from lorebank.vaults.tools.naming import pages_called
from lorebank.vaults.tools.retiring import lifecycle_changes

TOOL: Final = "knowledge_save_page"


@dataclass(frozen=True, slots=True)
class SectionChange:
    """Another text below one heading; `heading` alone, or with those above it, outermost first."""

    heading: str | tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class SavePage:
    """A new page when `id` is None (title and type are needed), otherwise changes of that page against
    `expected_revision`. None leaves a part as it is. `fields` sets the named ones, a value of None takes
    one out; `aliases`, `tags` and `dependencies` replace the whole list."""

    id: str | None = None
    expected_revision: int | None = None
    title: str | None = None
    type: str | None = None
    fields: Mapping[str, Any] | None = None
    aliases: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    dependencies: Sequence[str] | None = None
    body: str | None = None
    section: SectionChange | None = None
    lifecycle: Lifecycle | None = None
    replaced_by: str | None = None
    reason: str | None = None
    request_id: str | None = None


def run(handle: VaultHandle, request: SavePage, clock: Clock) -> dict[str, Any]:
    """Make or change the page. A page of another revision is `RevisionConflict` with both sides."""
    if request.body is not None and request.section is not None:
        raise InvalidInput("send body or section, not both")
    plan = create if request.id is None else update
    return publish(handle, TOOL, request, request.request_id, lambda view: plan(view, request, clock))


def create(view: View, request: SavePage, clock: Clock) -> Draft:
    """A new page in the folder of its type."""
    if request.title is None or request.type is None:
        raise InvalidInput("a new page needs title and type; to change a page send its id")
    if request.expected_revision is not None or request.section is not None:
        raise InvalidInput("expectedRevision and section are for changing a page; send its id")
    if request.lifecycle not in (None, "active") or request.replaced_by or request.reason:
        raise InvalidInput("a new page is active; lifecycle, replacedBy and reason are for changing one")
    title = inputs.title(request.title)
    type_name = type_named(view.ontology, request.type)
    meta = {**envelope(view, "page", title, moment(clock)), "type": type_name}
    meta |= {key: value for key, value in _lists(request).items() if value is not REMOVE}
    fields = inputs.fields(request.fields or {}, view.ontology.types[type_name].fields, type_name)
    if any(value is not None for value in fields.values()):
        meta["fields"] = {name: value for name, value in fields.items() if value is not None}
    path = filing.page_path(view.ontology.types[type_name].folder, title, meta["id"], view.entries)
    data = render_record(meta, _body(request))
    return draft(view, Saved(path, data, None, 1, notes=_namesakes(view, title)), "Page")


def update(view: View, request: SavePage, clock: Clock) -> Draft:
    """The page with what the request changes."""
    entry, record = existing(view, request.id or "", "page")
    mine = _mine(request)
    if not mine:
        raise InvalidInput("nothing to change; send at least one of title, type, fields, body, section, …")
    check_revision(view, entry, request.expected_revision, mine, needed="to change a page")
    changes = {**_lists(request), **_names(view, record, request)}
    changes |= lifecycle_changes(view, record, request.lifecycle, request.replaced_by, request.reason)
    body = _changed_body(view.read(entry), request)
    data, revision = changed(view, entry, changes, moment(clock), body)
    notes = () if request.title is None else _namesakes(view, str(changes["title"]), record.id)
    before = findings_of(view, entry.path)
    return draft(view, Saved(entry.path, data, entry.sha256, revision, before, notes=notes), "Page")


def _mine(request: SavePage) -> dict[str, Any]:
    """What the caller wants to change, under the names of the request, for the answer to a conflict."""
    section = request.section
    pairs = {
        "title": request.title,
        "type": request.type,
        "fields": None if request.fields is None else dict(request.fields),
        "aliases": request.aliases,
        "tags": request.tags,
        "dependencies": request.dependencies,
        "body": request.body,
        "section": None if section is None else {"heading": section.heading, "text": section.text},
        "lifecycle": request.lifecycle,
        "replacedBy": request.replaced_by,
        "reason": request.reason,
    }
    return {name: value for name, value in pairs.items() if value is not None}


def _lists(request: SavePage) -> dict[str, Any]:
    """The given lists; an empty one takes the key out."""
    given: dict[str, list[str] | None] = {
        "aliases": None if request.aliases is None else inputs.texts(request.aliases, "aliases"),
        "tags": None if request.tags is None else inputs.texts(request.tags, "tags"),
        "dependencies": None
        if request.dependencies is None
        else inputs.ids(request.dependencies, "dependencies"),
    }
    return {key: value or REMOVE for key, value in given.items() if value is not None}


def _names(view: View, record: Record, request: SavePage) -> dict[str, Any]:
    """Title, type and fields."""
    changes: dict[str, Any] = {}
    if request.title is not None:
        changes["title"] = inputs.title(request.title)
    type_name = record.type
    if request.type is not None:
        type_name = changes["type"] = type_named(view.ontology, request.type)
    if request.fields is not None:
        known = view.ontology.types.get(type_name or "")
        if known is None:
            raise InvalidInput("the page has no type of the ontology; send type with fields")
        given = inputs.fields(request.fields, known.fields, known.name)
        before = record.meta.get("fields")
        merged = {**(before if isinstance(before, dict) else {}), **given}
        kept = {name: value for name, value in merged.items() if value is not None or name not in given}
        changes["fields"] = kept or REMOVE
    return changes


def _body(request: SavePage) -> str:
    return (
        "" if request.body is None else inputs.text(request.body, "body", inputs.MAX_BODY_CHARS, empty=True)
    )


def _changed_body(data: bytes, request: SavePage) -> str | None:
    if request.body is not None:
        return _body(request)
    if request.section is None:
        return None
    text = inputs.text(request.section.text, "section.text", inputs.MAX_BODY_CHARS, empty=True)
    return replace_section(body_of(data), request.section.heading, text)


def _namesakes(view: View, title: str, own: str = "") -> tuple[Finding, ...]:
    """A note for each other active page that already has this name: perhaps it is the same thing."""
    same = {page.path: page.id for page in pages_called(view, title) if page.id != own}
    return tuple(
        Finding(path, 0, "page.same_name", f"the page {record_id} has this name too; is it the same?")
        for path, record_id in list(same.items())[:5]
    )
