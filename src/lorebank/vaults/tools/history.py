"""`knowledge_history` and `knowledge_restore`: who wrote each revision of a record, what it said, what two
revisions differ in, and an earlier one as the newest again.

Rows are told by revision and time. Their numbers in the store are not given away: they count what happens in
other partitions too (statement 1.5.46).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from lorebank.clock import Clock, to_iso
from lorebank.errors import Conflict, Forbidden, InvalidInput, NotFound, RevisionConflict
from lorebank.ids import new_uuid
from lorebank.vaults.find.names import names_of
from lorebank.vaults.record.edit import edit_record
from lorebank.vaults.store.values import Draft, HistoryRow, VaultHandle, View
from lorebank.vaults.tools import common
from lorebank.vaults.tools.get import NOWHERE
from lorebank.vaults.tools.reading import read

DEFAULT_ROWS: Final = 20
MAX_ROWS: Final = 100
MAX_DIFF_LINES: Final = 5_000
"""Lines of either side that are compared; more take too long."""
_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class HistoryAsk:
    """The history of a record, newest first; or the text of one `revision`; or the `diff` of two."""

    id: str
    limit: int = DEFAULT_ROWS
    cursor: str | None = None
    revision: int | None = None
    diff: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class RestoreAsk:
    """Make `revision` the newest again, if the record is still at `expected_revision`."""

    id: str
    revision: int
    expected_revision: int
    request_id: str | None = None


def run(handle: VaultHandle, ask: HistoryAsk) -> dict[str, Any]:
    """`revisions` and `nextCursor`, or `content`, or `diff`. `NotFound` for an id without history here, also
    for one of another partition (statement 1.5.47)."""
    return read(handle, lambda view: _answer(handle, view, ask))


def _answer(handle: VaultHandle, view: View, ask: HistoryAsk) -> dict[str, Any]:
    if ask.revision is not None:
        row, content = _content(handle, ask.id, ask.revision)
        return {"id": ask.id, **_shown(row), "content": content.decode("utf-8", "replace")}
    if ask.diff is not None:
        return _diff(handle, ask.id, *ask.diff)
    rows = list(islice(_from(_rows(handle, ask.id), ask.cursor), ask.limit + 1))
    if not rows and ask.cursor is None:
        raise NotFound(NOWHERE)
    entry = view.by_id(ask.id)
    shown = rows[: ask.limit]
    return {
        "id": ask.id,
        "title": None if entry is None or entry.record is None else entry.record.title,
        "revision": None if entry is None else entry.revision,
        "revisions": [_shown(row) for row in shown],
        "nextCursor": _cursor(shown) if len(rows) > ask.limit else None,
    }


def _rows(handle: VaultHandle, record_id: str) -> Iterator[HistoryRow]:
    before: int | None = None
    while page := handle.history(record_id, before=before, limit=_PAGE):
        yield from page
        before = page[-1].seq


def _shown(row: HistoryRow) -> dict[str, Any]:
    found = {
        "revision": row.revision,
        "change": row.change,
        "agent": row.agent,
        "at": to_iso(row.at),
        "path": row.path,
        "message": row.message or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _cursor(shown: list[HistoryRow]) -> str:
    """The time of the last row, and how many rows of that time were shown at the end."""
    at = shown[-1].at
    same = 0
    for row in reversed(shown):
        if row.at != at:
            break
        same += 1
    return f"{at}.{same}"


def _from(rows: Iterator[HistoryRow], cursor: str | None) -> Iterator[HistoryRow]:
    if cursor is None:
        yield from rows
        return
    at, _, same = cursor.partition(".")
    if not (at.isdecimal() and same.isdecimal() and cursor.isascii()) or len(cursor) > 40:
        raise InvalidInput("cursor is not one of this tool; give nextCursor of an earlier answer unchanged")
    moment, skipped = int(at), int(same)
    for row in rows:
        if row.at > moment:
            continue
        if row.at == moment and skipped:
            skipped -= 1
            continue
        yield row


def _content(handle: VaultHandle, record_id: str, revision: int) -> tuple[HistoryRow, bytes]:
    """The newest row with that revision whose bytes are kept."""
    known = False
    for row in _rows(handle, record_id):
        known = True
        if row.revision != revision:
            continue
        content = handle.content_of(row)
        if content is not None:
            return row, content
    raise NotFound(f"there is no revision {revision} of this record" if known else NOWHERE)


def _diff(handle: VaultHandle, record_id: str, first: int, last: int) -> dict[str, Any]:
    old, new = (_content(handle, record_id, revision) for revision in (first, last))
    before, after = (content.decode("utf-8", "replace").splitlines() for _, content in (old, new))
    if max(len(before), len(after)) > MAX_DIFF_LINES:
        raise InvalidInput(f"a revision has more than {MAX_DIFF_LINES} lines; read both revisions instead")
    times = (to_iso(old[0].at) or "", to_iso(new[0].at) or "")
    names = (f"revision {first}", f"revision {last}")
    lines = difflib.unified_diff(before, after, *names, *times, lineterm="")
    return {"id": record_id, "from": _shown(old[0]), "to": _shown(new[0]), "diff": "\n".join(lines)}


def restore(handle: VaultHandle, ask: RestoreAsk, clock: Clock) -> dict[str, Any]:
    """Publish an earlier revision as the next one; also of a record whose file was deleted.

    `RevisionConflict` when the record is not at the expected revision, `NotFound` for a revision that is not
    there, `InvalidInput` when what it names is gone, `WritesDisabled`, `Forbidden`.
    """
    if not handle.grant.may_save:
        raise Forbidden("this conversation may read knowledge and not save it")
    row, content, newest = read(handle, lambda view: _earlier(handle, ask))
    receipt = handle.publish(
        ask.request_id or new_uuid(),
        common.digest_of("knowledge_restore", ask),
        lambda view: _restored(view, ask, row, content, newest, common.moment(clock)),
        change="restore",
    )
    return common.answer(receipt)


def _earlier(handle: VaultHandle, ask: RestoreAsk) -> tuple[HistoryRow, bytes, int]:
    row, content = _content(handle, ask.id, ask.revision)
    newest = max((one.revision or 0 for one in _rows(handle, ask.id)), default=0)
    return row, content, newest


def _restored(view: View, ask: RestoreAsk, row: HistoryRow, content: bytes, newest: int, now: str) -> Draft:
    entry = view.by_id(ask.id)
    mine = {"restore": ask.revision}
    if entry is not None:
        common.check_revision(view, entry, ask.expected_revision, mine, needed="to restore")
        path, expected, revision = entry.path, entry.sha256, entry.revision + 1
    else:
        if names_of(view).twice(ask.id):
            raise Conflict("several files have this id; give all but one another id first")
        if ask.expected_revision != newest:
            sides = {"current": {"revision": newest, "deleted": True}, "yours": mine}
            raise RevisionConflict(f"the record was deleted at revision {newest}", sides)
        if row.path in view.entries:
            raise Conflict("another record is in the place of the deleted one; move that file first")
        path, expected, revision = row.path, None, newest + 1
    data = edit_record(content, {"revision": revision, "updated_at": now})
    saved = common.Saved(path, data, expected, revision, before=common.findings_of(view, path))
    return common.draft(view, saved, f"restore revision {ask.revision}")
