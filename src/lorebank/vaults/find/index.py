"""What a prompt is told of a partition: the Knowledge index and the Recent projection.

The index is a short list of entity pages by type; Recent the records that changed last. Both are bounded by
tokens and say when they are cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from lorebank import tokens
from lorebank.clock import to_iso
from lorebank.vaults.find.facets import records
from lorebank.vaults.find.fence import fenced, plain
from lorebank.vaults.find.names import names_of
from lorebank.vaults.find.ports import derived
from lorebank.vaults.record.values import Record
from lorebank.vaults.store.values import Entry, HistoryRow, View

INDEX_TOKENS: Final = 1_200
RECENT_TOKENS: Final = 600
MOST_PAGES: Final = 40
"""Pages of one type that the index lists."""
_NAME_CHARS: Final = 80
_ALIASES: Final = 3
READ_GUIDANCE: Final = (
    "Search it with knowledge_search, open a record with knowledge_get and its id, and say where an answer "
    "comes from."
)
SAVE_GUIDANCE: Final = (
    "Save what should last with knowledge_remember, and keep pages and claims current with "
    "knowledge_save_page and knowledge_save_claim."
)


def knowledge_index(view: View) -> list[dict[str, Any]]:
    """For each entity type with active, valid pages: its `label`, `total`, and up to 40 `pages` with id,
    title, aliases and the number of claims about each; those with most claims first."""
    return derived(view, "find.index", lambda view, _: _made_index(view))


def _made_index(view: View) -> list[dict[str, Any]]:
    names = names_of(view)
    kept: dict[str, list[tuple[Entry, Record]]] = {}
    for entry, record in records(view):
        usable = record.kind == "page" and record.valid and record.lifecycle == "active"
        if usable and record.type is not None and view.ontology.is_entity(record.type):
            kept.setdefault(record.type, []).append((entry, record))
    weight = Counter({page: len(names.claims_about(page)) for page in names.about})
    return [
        {
            "type": page_type.name,
            "label": page_type.label,
            "total": len(kept[page_type.name]),
            "pages": _pages([record for _, record in kept[page_type.name]], weight),
        }
        for page_type in view.ontology.types.values()
        if page_type.name in kept
    ]


def _pages(found: Sequence[Record], weight: Counter[str]) -> list[dict[str, Any]]:
    order = sorted(found, key=lambda one: (-weight[one.id], one.title.casefold(), one.id))
    return [
        {
            "id": one.id,
            "title": one.title[:_NAME_CHARS],
            "aliases": [alias[:_NAME_CHARS] for alias in one.aliases[:_ALIASES]],
            "claims": weight[one.id],
        }
        for one in order[:MOST_PAGES]
    ]


def recent_changes(view: View, rows: Sequence[HistoryRow]) -> list[dict[str, Any]]:
    """The newest changes with the titles that the records have now; what is gone or withheld has none."""
    found = []
    for row in rows:
        entry = None if row.record_id is None else view.by_id(row.record_id)
        record = None if entry is None else entry.record
        if record is None and row.change != "external_delete":
            continue
        shown = {
            "id": row.record_id,
            "title": None if record is None else record.title,
            "kind": None if record is None else record.kind,
            "lifecycle": None if record is None else record.lifecycle,
            "change": row.change,
            "agent": row.agent,
            "at": to_iso(row.at),
            "validFrom": None if record is None else record.meta.get("valid_from"),
            "validTo": None if record is None else record.meta.get("valid_to"),
        }
        found.append({name: value for name, value in shown.items() if value is not None})
    return found


def index_text(index: Sequence[dict[str, Any]], max_tokens: int = INDEX_TOKENS) -> str:
    """The index in its fence, at most `max_tokens`; the types take turns, so that none crowds out another."""
    chosen: dict[str, list[str]] = {one["type"]: [] for one in index}
    left = max_tokens - tokens.count(fenced([])) - sum(tokens.count(_heading(one, 0)) + 8 for one in index)
    for place in range(MOST_PAGES):
        for one in index:
            if place >= len(one["pages"]) or left <= 0:
                continue
            line = _page_line(one["pages"][place])
            left -= tokens.count(line) + 2
            if left > 0:
                chosen[one["type"]].append(line)
    lines = [
        line
        for one in index
        for line in (_heading(one, one["total"] - len(chosen[one["type"]])), *chosen[one["type"]])
    ]
    return fenced(lines or ["(no pages yet)"])


def _heading(one: dict[str, Any], hidden: int) -> str:
    more = f", {hidden} more not listed" if hidden else ""
    return f"{plain(one['label'])} ({one['total']}{more}):"


def _page_line(page: dict[str, Any]) -> str:
    aliases = f" (also {', '.join(plain(alias) for alias in page['aliases'])})" if page["aliases"] else ""
    number = page["claims"]
    claims = f", {number} claim{'' if number == 1 else 's'}" if number else ""
    return f"- {plain(page['title'])}{aliases} [{plain(page['id'])}{claims}]"


def recent_text(changes: Sequence[dict[str, Any]], max_tokens: int = RECENT_TOKENS) -> str:
    """Recent changes in their fence, newest first, at most `max_tokens`."""
    left = max_tokens - tokens.count(fenced([]))
    lines = []
    for one in changes:
        line = _change_line(one)
        left -= tokens.count(line) + 2
        if left <= 0:
            break
        lines.append(line)
    return fenced(lines or ["(nothing yet)"])


def _change_line(one: dict[str, Any]) -> str:
    what = plain(str(one.get("title", "a record that is gone"))[:_NAME_CHARS])
    valid = [
        plain(f"{word} {one[key]}") for word, key in (("from", "validFrom"), ("to", "validTo")) if key in one
    ]
    state = "" if one.get("lifecycle", "active") == "active" else f", {one['lifecycle']}"
    held = f", valid {' '.join(valid)}" if valid else ""
    return f"- {one['at']}: {what} [{plain(str(one.get('id', '')))}, {plain(one['change'])}{state}{held}]"
