"""One run of relink over a partition: examine a page of claims, and publish what the rules decided.

A run reads one view, decides without changing anything, and then publishes link by link. The request id of a
link follows from claim, revision and subject, so that a run that was cut off at any point ends, with the next
one, as if it had never been.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorebank.clock import Clock, now, to_datetime
from lorebank.errors import Conflict, InvalidInput, NotFound, RevisionConflict, Unavailable, WritesDisabled
from lorebank.vaults.record.edit import edit_record
from lorebank.vaults.record.parse import body_of
from lorebank.vaults.record.values import Record
from lorebank.vaults.relink.names import Names, pages_of
from lorebank.vaults.relink.outcome import NO_SUBJECT, Outcome
from lorebank.vaults.relink.rules import Claim, is_candidate, is_open, judge
from lorebank.vaults.relink.values import MAX_LIMIT, Ask, Report
from lorebank.vaults.store.values import Draft, Entry, FileChange, RecordChange, VaultHandle, View

REMEMBER: Final = "knowledge_remember"
"""The origin of the retained excerpts whose claims relink may link (seed 002)."""
_LINKS: Final = uuid.UUID("5f0f4c64-2a43-4f0e-9d1c-4d0f9b6a7c11")


@dataclass(frozen=True, slots=True)
class Link:
    """A link to publish: the claim as it was read, and its subject's page."""

    entry: Entry
    record: Record
    outcome: Outcome
    example: dict[str, Any]

    @property
    def subject(self) -> str:
        return self.outcome.subject or ""

    @property
    def request_id(self) -> str:
        """A pure function of claim, revision and subject (statement 4.1.10)."""
        return link_request(self.record.id, self.entry.revision, self.subject)

    @property
    def digest(self) -> str:
        """The digest of the request."""
        said = f"relink\n{self.record.id}\n{self.entry.revision}\n{self.subject}"
        return hashlib.sha256(said.encode()).hexdigest()


def link_request(claim: str, revision: int, subject: str) -> str:
    """The request id of a link: a UUID."""
    return str(uuid.uuid5(_LINKS, f"{claim}\n{revision}\n{subject}"))


def relink(
    handle: VaultHandle, ask: Ask, *, clock: Clock = now, go_on: Callable[[], bool] = lambda: True
) -> Report:
    """Examine one page of claims; unless it is a dry run, link those that name their subject.

    `go_on` is asked before each link; when it says no, the report covers what was done. A link that cannot be
    published counts as failed and does not stop the others. `InvalidInput` for wrong arguments; whatever says
    that the caller may not (`Forbidden`, `WritesDisabled`) or that the store cannot be read is raised.
    """
    after = ask.after()
    report = Report(ask)
    with handle.reading() as view:
        links = list(_examined(view, ask, after, report))
    if ask.dry_run:
        for link in links:
            report.note("linked", link.outcome, link.example)
        return report
    for link in links:
        if not go_on():
            break
        _publish(handle, link, report, clock)
    return report


def unlinked(view: View) -> int:
    """How many current claims of the partition have neither a linked page nor a source page."""
    return sum(1 for entry in view.entries.values() if entry.record is not None and _is_left(entry.record))


def _is_left(record: Record) -> bool:
    return is_open(record) and not record.meta.get("source_page")


def _examined(view: View, ask: Ask, after: str, report: Report) -> Iterator[Link]:
    """The links of one page of claims; everything else that was found is noted in the report."""
    remembered = {one.id for one in view.descriptors.values() if one.origin == REMEMBER}
    names = names_of(view)
    chosen = [
        (entry, record)
        for entry, record in _claims(view)
        if record.id > after
        and (_is_left(record) if ask.include == "all" else is_candidate(record, remembered))
    ]
    page = chosen[: ask.limit]
    report.examined = len(page)
    report.next_cursor = ask.next(page[-1][1].id) if len(chosen) > len(page) else None
    for entry, record in page:
        example = _example(record)
        if not is_candidate(record, remembered):
            report.note("review", NO_SUBJECT, example)
            _list(report, record, example, "review")
            continue
        outcome = _judged(view, entry, record, names)
        if outcome is None:
            report.note("failed", NO_SUBJECT, example | {"reason": "the file is being changed"})
            continue
        _list(report, record, example, outcome.kind)
        if outcome.subject is None:
            report.note(outcome.kind, outcome, example)
        else:
            shown = {"tier": outcome.tier, "subject": outcome.subject, "subjectTitle": _title(names, outcome)}
            yield Link(entry, record, outcome, example | shown)


def names_of(view: View) -> Names:
    """The names of the partition's active pages."""
    records = [entry.record for entry in view.entries.values() if entry.record is not None]
    return Names(pages_of(records, view.ontology))


def _claims(view: View) -> Sequence[tuple[Entry, Record]]:
    """Claims in the order of their ids. An id that is there twice belongs to nobody."""
    found: dict[str, list[tuple[Entry, Record]]] = {}
    for entry in view.entries.values():
        if entry.record is not None:
            found.setdefault(entry.record.id, []).append((entry, entry.record))
    return [found[id][0] for id in sorted(found) if len(found[id]) == 1 and found[id][0][1].kind == "claim"]


def _judged(view: View, entry: Entry, record: Record, names: Names) -> Outcome | None:
    """The decision; None when the file is not what the view knows."""
    page, hint = record.meta.get("source_page"), record.meta.get("subject_hint")
    try:
        text = body_of(view.read(entry))
    except (Unavailable, NotFound):
        return None
    return judge(
        Claim(
            record.id,
            text,
            page if isinstance(page, str) else None,
            hint if isinstance(hint, str) else None,
        ),
        names,
    )


def _example(record: Record) -> dict[str, Any]:
    return {"claim": record.id, "title": record.title}


def _list(report: Report, record: Record, example: dict[str, Any], word: str) -> None:
    if report.ask.include == "all":
        hint = record.meta.get("subject_hint")
        report.claims.append(
            example
            | {"revision": record.revision, "outcome": word}
            | ({"subjectHint": hint} if isinstance(hint, str) else {})
        )


def _title(names: Names, outcome: Outcome) -> str:
    page = names.page(outcome.subject)
    return "" if page is None else page.title


def _publish(handle: VaultHandle, link: Link, report: Report, clock: Clock) -> None:
    try:
        handle.publish(link.request_id, link.digest, lambda view: _draft(view, link, clock), change="relink")
    except WritesDisabled:
        raise
    except (Conflict, InvalidInput, NotFound, Unavailable) as exc:
        report.note("failed", link.outcome, link.example | {"reason": exc.message})
    else:
        report.note("linked", link.outcome, link.example)


def _draft(view: View, link: Link, clock: Clock) -> Draft:
    """The claim with its annotation; nothing else of the file changes."""
    entry = view.by_id(link.record.id)
    if entry is None or entry.sha256 != link.entry.sha256 or entry.revision != link.entry.revision:
        raise RevisionConflict("the claim was changed meanwhile; the next pass looks at it again", {})
    if not _still(view, link):
        raise Conflict("the pages were changed meanwhile; the next pass looks at the claim again")
    revision = entry.revision + 1
    stamp = to_datetime(clock()).strftime("%Y-%m-%dT%H:%M:%SZ")
    changes = {"revision": revision, "updated_at": stamp, "entities": [link.subject]}
    content = edit_record(view.read(entry), changes)
    change = FileChange(
        entry.path, content, sha256=hashlib.sha256(content).hexdigest(), expected=entry.sha256
    )
    return Draft(
        files=(change,),
        records=(RecordChange(link.record.id, revision, entry.path, link.record.title),),
        answer={
            "claim": link.record.id,
            "revision": revision,
            "subject": link.subject,
            "tier": link.outcome.tier,
        },
        message=f"relink: {link.record.title}",
    )


def _still(view: View, link: Link) -> bool:
    """Whether the subject is still an active entity page."""
    entry = view.by_id(link.subject)
    record = None if entry is None else entry.record
    return (
        record is not None
        and record.kind == "page"
        and record.lifecycle == "active"
        and record.valid
        and view.ontology.is_entity(record.type)
    )


def every_page(
    handle: VaultHandle, *, clock: Clock = now, go_on: Callable[[], bool] = lambda: True
) -> Iterator[Report]:
    """All claims of the partition, in pages of 500; ends early when `go_on` says no."""
    cursor: str | None = None
    while go_on():
        report = relink(handle, Ask(limit=MAX_LIMIT, cursor=cursor), clock=clock, go_on=go_on)
        yield report
        cursor = report.next_cursor
        if cursor is None:
            return
