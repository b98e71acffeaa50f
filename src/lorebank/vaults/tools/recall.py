"""`knowledge_recall`: numbered candidates for a question, opened or approved by number.

Candidates are short, so that automatic recall costs a prompt little. Opening gives whole records. Approving
gives their texts as one fenced block that may stand in the prompt; that needs a grant that reads and saves
(statement 1.3.24).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from lorebank.clock import to_iso
from lorebank.errors import Forbidden, NotFound
from lorebank.vaults.find.candidates import Candidates
from lorebank.vaults.find.fence import fenced, plain, plain_lines
from lorebank.vaults.find.ports import Embed
from lorebank.vaults.find.question import Question
from lorebank.vaults.find.rank import rank
from lorebank.vaults.find.search import shown, vector_of
from lorebank.vaults.store.values import VaultHandle, View
from lorebank.vaults.tools.get import opened
from lorebank.vaults.tools.reading import read

DEFAULT_CANDIDATES: Final = 8
MAX_CANDIDATES: Final = 20
_SHORT: Final = ("id", "kind", "type", "title", "score", "validFrom", "validTo", "attribution", "valid")
_NO_APPROVAL: Final = "approving recalled knowledge needs a grant that may read and save"


@dataclass(frozen=True, slots=True)
class RecallAsk:
    """A `query`, or a `recall` id with the numbers to `open` or to `approve`."""

    query: str | None = None
    limit: int = DEFAULT_CANDIDATES
    min_score: float = 0.0
    recall: str | None = None
    open: tuple[int, ...] = ()
    approve: tuple[int, ...] = ()


def run(
    handle: VaultHandle, ask: RecallAsk, candidates: Candidates, embed: Embed | None = None
) -> dict[str, Any]:
    """Candidates (`recallId`, `candidates`, `expiresAt`), or what was opened (see `get.run`), or `approved`
    numbers with their `text`. `Forbidden` when approval is not this caller's."""
    if ask.approve and not handle.grant.may_save:
        raise Forbidden(_NO_APPROVAL)
    if ask.recall is None:
        return _offer(handle, ask, candidates, embed)
    ids = candidates.ids(handle, ask.recall, ask.approve or ask.open)
    found = read(handle, lambda view: opened(view, ids))
    return _approved(found, ask.approve) if ask.approve else found


def _offer(
    handle: VaultHandle, ask: RecallAsk, candidates: Candidates, embed: Embed | None
) -> dict[str, Any]:
    question = Question(query=ask.query or "", min_score=ask.min_score)
    question.check()
    vector = vector_of(question.text, embed)

    def work(view: View) -> list[dict[str, Any]]:
        # Only what can be opened: an id that stands twice names nothing, nothing rests on what is invalid.
        found = rank(view, question, vector)
        usable = [
            one
            for one in found.part(0, 10 * MAX_CANDIDATES)
            if one.entry.record is not None
            and one.entry.record.valid
            and view.by_id(one.entry.record.id) is not None
        ]
        return shown(view, usable[: ask.limit], question.text)

    hits = read(handle, work)
    recall, until = candidates.remember(handle, [hit["id"] for hit in hits])
    numbered = [
        {"number": number, "text": hit["snippet"]} | {name: hit[name] for name in _SHORT if name in hit}
        for number, hit in enumerate(hits, start=1)
    ]
    return {"recallId": recall, "candidates": numbered, "expiresAt": to_iso(until)}


def _approved(found: dict[str, Any], numbers: tuple[int, ...]) -> dict[str, Any]:
    """`NotFound` when a candidate went away: what was not seen is not approved."""
    if found["missing"] or found["duplicates"]:
        raise NotFound("a candidate is not there any more; recall again")
    lines = [line for record in found["records"] for line in _told(record)]
    return {"approved": list(dict.fromkeys(numbers)), "text": fenced(lines)}


def _told(record: dict[str, Any]) -> list[str]:
    dates = [
        f"{word} {record[key]}" for word, key in (("from", "validFrom"), ("to", "validTo")) if key in record
    ]
    facts = [record["id"], record["lifecycle"], *dates, f"recorded {record['recordedAt']}"]
    if "attribution" in record:
        facts.append(f"according to {record['attribution']}")
    return [f"# {plain(record['title'])} [{plain(', '.join(facts))}]", *plain_lines(record["text"]), ""]
