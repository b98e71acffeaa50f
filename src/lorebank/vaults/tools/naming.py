"""Which pages a name names. One pass over the records: a save changes the view, so tables would not last."""

from __future__ import annotations

from lorebank.vaults.find.facets import folded
from lorebank.vaults.record.values import Record
from lorebank.vaults.store.values import View


def pages_called(view: View, name: str) -> list[Record]:
    """The active pages with that id, title or alias, in order of path; compared as searching does."""
    wanted = folded(name)
    return [
        page
        for entry in view.entries.values()
        if (page := entry.record) is not None
        and page.kind == "page"
        and page.lifecycle == "active"
        and (page.id == name or any(_equal(own, wanted) for own in (page.title, *page.aliases)))
        and view.by_id(page.id) is not None
    ]


def _equal(own: str, wanted: str) -> bool:
    if own.isascii() and "  " not in own:
        return own.lower() == wanted
    return folded(own) == wanted
