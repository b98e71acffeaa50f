"""`knowledge_get`: open records by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lorebank.errors import NotFound
from lorebank.vaults.find.hits import brief
from lorebank.vaults.find.names import names_of
from lorebank.vaults.find.whole import whole
from lorebank.vaults.store.values import VaultHandle, View
from lorebank.vaults.tools.reading import read

MAX_IDS: Final = 20
NOWHERE: Final = "no record with this id is here; search for it by its words"


@dataclass(frozen=True, slots=True)
class GetAsk:
    """1 to 20 ids; `offset` is where the texts begin, in characters."""

    ids: tuple[str, ...]
    offset: int = 0


def run(handle: VaultHandle, ask: GetAsk) -> dict[str, Any]:
    """`records` in the order asked, `missing` ids, and `duplicates`: ids that several files have and that
    therefore open nothing. One single id that is not there is `NotFound`.

    An id of another partition is like one that never was (statement 1.5.47).
    """
    found = read(handle, lambda view: opened(view, ask.ids, ask.offset))
    if len(ask.ids) == 1 and found["missing"]:
        raise NotFound(NOWHERE)
    return found


def opened(view: View, ids: tuple[str, ...], offset: int = 0) -> dict[str, Any]:
    """What `run` answers, of one view."""
    records, missing, duplicates = [], [], []
    for record_id in dict.fromkeys(ids):
        entry = view.by_id(record_id)
        if entry is not None and entry.record is not None:
            records.append(whole(view, entry, entry.record, offset=offset))
        elif names_of(view).twice(record_id):
            duplicates.append(_twins(view, record_id))
        else:
            missing.append(record_id)
    return {"records": records, "missing": missing, "duplicates": duplicates}


def _twins(view: View, record_id: str) -> dict[str, Any]:
    found = names_of(view).of_id(record_id)
    return {
        "id": record_id,
        "message": "several files have this id, so it names none of them; give all but one another id",
        "records": [brief(view, one, one.record) for one in found if one.record is not None],
    }
