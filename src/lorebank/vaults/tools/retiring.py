"""Taking a record out of use: superseded, withdrawn or merged, with a reason and what stands in its place."""

from __future__ import annotations

from typing import Any

from lorebank.errors import InvalidInput
from lorebank.vaults.record.edit import REMOVE
from lorebank.vaults.record.values import LIFECYCLES, Lifecycle, Record
from lorebank.vaults.store.values import View
from lorebank.vaults.tools import inputs

_REPLACED = ("superseded", "merged")


def lifecycle_changes(
    view: View, record: Record, lifecycle: Lifecycle | None, replaced_by: str | None, reason: str | None
) -> dict[str, Any]:
    """The changes of frontmatter for a move to another lifecycle; empty when none is asked for.

    `superseded` and `merged` need the replacing record, every retirement needs a reason. The replacing record
    is another one of the same kind in the same partition, and does not lead back here.
    """
    if lifecycle is None:
        if replaced_by is not None or reason is not None:
            raise InvalidInput("replacedBy and reason go with a lifecycle; send lifecycle too")
        return {}
    if lifecycle not in LIFECYCLES:
        raise InvalidInput(f"lifecycle must be one of {', '.join(LIFECYCLES)}")
    if lifecycle == "active":
        if replaced_by is not None or reason is not None:
            raise InvalidInput("an active record has no replacedBy and no reason")
        return {"lifecycle": "active", "replaced_by": REMOVE, "reason": REMOVE}
    if reason is None or not reason.strip():
        raise InvalidInput(f"reason is needed to set a record {lifecycle}")
    if replaced_by is None and lifecycle in _REPLACED:
        raise InvalidInput(
            f"replacedBy is needed: the id of the record that stands in its place ({lifecycle})"
        )
    if replaced_by is not None:
        _check_replacement(view, record, replaced_by)
    return {
        "lifecycle": lifecycle,
        "replaced_by": REMOVE if replaced_by is None else replaced_by,
        "reason": inputs.text(reason, "reason", inputs.MAX_REASON_CHARS).strip(),
    }


def _check_replacement(view: View, record: Record, replaced_by: str) -> None:
    inputs.record_id(replaced_by, "replacedBy")
    if replaced_by == record.id:
        raise InvalidInput("replacedBy: a record cannot be replaced by itself")
    seen = {record.id}
    at: Any = replaced_by
    while isinstance(at, str):
        if at in seen:
            raise InvalidInput("replacedBy: that record leads back to this one; the chain must end somewhere")
        seen.add(at)
        entry = view.by_id(at)
        if entry is None or entry.record is None:
            break
        at = entry.record.meta.get("replaced_by")
    first = view.by_id(replaced_by)
    if first is None or first.record is None:
        raise InvalidInput("replacedBy: there is no record with this id")
    if first.record.kind != record.kind:
        raise InvalidInput(f"replacedBy must name a {record.kind}, and that is a {first.record.kind}")
