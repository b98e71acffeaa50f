"""The jobs of retain: slices of a batch, each stored together with how far the job has come.

A kill at any moment leaves the last committed slice and its checkpoint; the next run goes on behind
it, so that nothing is lost and nothing is stored twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lorebank.banks.retain.commit import Written
from lorebank.banks.retain.drafts import Draft, Way
from lorebank.banks.retain.granted import kept_items, under_strategy
from lorebank.banks.retain.items import Item, from_json
from lorebank.banks.retain.queue import RETAIN as RETAIN
from lorebank.banks.retain.service import Tools, prepare, write
from lorebank.errors import Corrupt
from lorebank.jobs.kinds import Job

SLICE_ITEMS = 200
SLICE_CHARS = 200_000
_STAGE = "storing"


def run_retain(job: Job, tools: Tools) -> dict[str, Any]:
    """Store the items of an operation that `submit` made; the operation's result."""
    payload = job.operation.payload
    if payload is None or not isinstance(payload.get("items"), list):
        raise Corrupt("the operation has lost its items; send them again")
    items = [from_json(entry) for entry in payload["items"]]
    done = job.operation.processed or 0
    added = removed = 0
    undecided: set[str] = set()
    while done < len(items):
        upto = slice_end(items, done)
        made = _drafts(payload, _kept(job, tools, items[done:upto]), extending=done > 0)
        written = store(job, tools, made, upto, len(items))
        added, removed = added + written.facts_added, removed + written.facts_removed
        undecided.update(written.labels_undecided)
        done = upto
    result: dict[str, Any] = {"items_count": len(items), "facts_added": added, "facts_removed": removed}
    return result | ({"labels_undecided": sorted(undecided)} if undecided else {})


def store(job: Job, tools: Tools, made: Sequence[Draft], processed: int, total: int) -> Written:
    """Write the drafts and the checkpoint in one transaction; `Conflict` when the job is no longer ours."""
    prepared = prepare(job.handle, tools, made)
    with job.handle.write() as writer:
        job.checkpoint(writer, _STAGE, processed, total)
        written = write(job.handle, tools, writer, prepared, job.operation.id)
    tools.vectors(job.handle)
    return written


def slice_end(items: Sequence[Item], begin: int) -> int:
    """Where the slice that starts at `begin` ends: never empty, bounded in items and characters."""
    end, chars = begin + 1, len(items[begin].content)
    while end < len(items) and end - begin < SLICE_ITEMS and chars + len(items[end].content) <= SLICE_CHARS:
        chars += len(items[end].content)
        end += 1
    return end


def _kept(job: Job, tools: Tools, items: Sequence[Item]) -> list[Item]:
    """What the principal may store now, which may be less than when it asked; tags stay as decided then."""
    grant, config = job.handle.grant, job.handle.bank.config
    return kept_items(grant, under_strategy(grant, items, tools.bank_defaults, config))


def _drafts(payload: Mapping[str, Any], items: Sequence[Item], *, extending: bool) -> list[Draft]:
    shared = payload.get("shared_document")
    if shared is not None:
        way: Way = "extend" if extending else "replace"
        return [Draft(shared, tuple(items), way, named=False)] if items else []
    # An id that lorebank made is treated as the caller's: a second look-up, and no other difference.
    return [
        Draft(str(item.document_id), (item,), "append" if item.append else "replace", named=True)
        for item in items
    ]
