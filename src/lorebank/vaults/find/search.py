"""One search of a partition: rank, page, and show with freshly read texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorebank.search.columns import Floats
from lorebank.search.tokenize import query_terms
from lorebank.vaults.find import cursor as cursors
from lorebank.vaults.find.hits import brief, text_of
from lorebank.vaults.find.ports import Embed
from lorebank.vaults.find.question import DEFAULT_LIMIT, Question
from lorebank.vaults.find.rank import Ranked, rank
from lorebank.vaults.find.snippet import snippet
from lorebank.vaults.store.values import View


def search(
    view: View,
    question: Question,
    *,
    limit: int = DEFAULT_LIMIT,
    cursor: str | None = None,
    embed: Embed | None = None,
) -> dict[str, Any]:
    """`hits` best first, `total` of them all, and `nextCursor`, None at the end. No match is an empty list.

    Every shown hit is read again: `Unavailable` when a file is not what the view has (ask again).
    """
    question.check()
    found = rank(view, question, vector_of(question.text, embed))
    order = found.order()
    asked = question.digest(view.partition.folder)
    start = 0 if cursor is None else cursors.decode(cursor, asked, order)
    page = found.part(start, start + limit)
    rest = start + len(page)
    return {
        "hits": shown(view, page, question.text),
        "total": len(found),
        "nextCursor": cursors.encode(rest, asked, order) if page and rest < len(found) else None,
    }


def vector_of(text: str, embed: Embed | None) -> Floats | None:
    """The question's vector where meaning is searched."""
    return None if embed is None or not text else embed(text)


def shown(view: View, found: Sequence[Ranked], query: str) -> list[dict[str, Any]]:
    """Hits as answers have them, each file read now."""
    wanted = frozenset(query_terms(query))
    return [_hit(view, one, wanted) for one in found]


def _hit(view: View, one: Ranked, wanted: frozenset[str]) -> dict[str, Any]:
    record = one.entry.record
    if record is None:
        return {}
    piece = snippet(text_of(view, one.entry), wanted)
    hit = brief(view, one.entry, record)
    hit |= {"score": round(one.score, 4), "snippet": piece.text, "matched": list(piece.matched)}
    if one.exact is not None:
        hit["exact"] = one.exact
    return hit
