"""`knowledge_search`: find records of the caller's partition by words, identity and dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lorebank.vaults.find.ports import Embed
from lorebank.vaults.find.question import DEFAULT_LIMIT, Question
from lorebank.vaults.find.search import search
from lorebank.vaults.store.values import VaultHandle
from lorebank.vaults.tools.reading import read


@dataclass(frozen=True, slots=True)
class SearchAsk:
    """A question, how many hits one answer has (1 to 50), and where to go on."""

    question: Question
    limit: int = DEFAULT_LIMIT
    cursor: str | None = None


def run(handle: VaultHandle, ask: SearchAsk, embed: Embed | None = None) -> dict[str, Any]:
    """`hits`, `total`, `nextCursor`; see `find.search.search`."""
    return read(
        handle, lambda view: search(view, ask.question, limit=ask.limit, cursor=ask.cursor, embed=embed)
    )
