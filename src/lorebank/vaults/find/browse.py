"""Lists of a partition's records and of what is wrong in it, for operators who look."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from lorebank.errors import InvalidInput
from lorebank.vaults.find.whole import shown_finding
from lorebank.vaults.record.values import MAX_DIAGNOSTICS, Finding, RecordKind
from lorebank.vaults.store.values import Entry, View

MAX_PAGE: Final = 500


def listed(view: View, kind: RecordKind | None, limit: int, cursor: str | None) -> dict[str, Any]:
    """A page of the partition's files, in order of path; withheld ones only where no `kind` is asked for.

    `cursor` is the path after which the page begins: a file that comes or goes meanwhile moves nothing.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"limit must be between 1 and {MAX_PAGE}")
    chosen = [entry for entry in view.entries.values() if _is(entry, kind)]
    rest = chosen if cursor is None else [entry for entry in chosen if entry.path > cursor]
    page = rest[:limit]
    return {
        "records": [_line(entry) for entry in page],
        "total": len(chosen),
        "nextCursor": page[-1].path if len(rest) > limit else None,
    }


def said(view: View) -> dict[str, Any]:
    """The first 1,000 findings, how many there are, and whether some were left out (statement 1.8.74).

    What a file is itself to blame for comes first: a withheld file is missed by those that name its record.
    """
    shown = islice(sorted(view.findings, key=_knock_on), MAX_DIAGNOSTICS)
    return {
        "findings": [_finding(view, one) for one in shown],
        "total": len(view.findings),
        "truncated": len(view.findings) > MAX_DIAGNOSTICS,
    }


def _knock_on(finding: Finding) -> bool:
    return finding.rule.startswith("reference.")


def _finding(view: View, one: Finding) -> Mapping[str, Any]:
    """`id` is the record's, None where the file is no readable record."""
    entry = view.entries.get(one.path)
    record = None if entry is None else entry.record
    return {
        **shown_finding(one),
        "id": None if record is None else record.id,
    }


def _is(entry: Entry, kind: RecordKind | None) -> bool:
    return kind is None or (entry.record is not None and entry.record.kind == kind)


def _line(entry: Entry) -> Mapping[str, Any]:
    record = entry.record
    if record is None:
        return {"path": entry.path, "id": None, "withheld": True}
    return {
        "path": entry.path,
        "id": record.id,
        "withheld": False,
        "kind": record.kind,
        "type": record.type,
        "title": record.title,
        "revision": entry.revision,
        "lifecycle": record.lifecycle,
        "valid": record.valid,
        "updatedAt": record.updated_at,
    }
