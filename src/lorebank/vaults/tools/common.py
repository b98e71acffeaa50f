"""What all tools that write have in common: the request's digest, finding the record to change, the checks
of what is going to be published, and the form of the answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from lorebank.clock import Clock, to_datetime
from lorebank.errors import (
    Conflict,
    InvalidInput,
    LorebankError,
    NotFound,
    RevisionConflict,
    StoreUnavailable,
    Unavailable,
    one_line,
)
from lorebank.ids import new_uuid
from lorebank.vaults.record.edit import edit_record
from lorebank.vaults.record.once import made_before, once, only_here, remembering
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.parse import parse_record
from lorebank.vaults.record.references import check_references
from lorebank.vaults.record.render import render_record
from lorebank.vaults.record.values import (
    FORMAT,
    MAX_DIAGNOSTICS,
    MAX_RECORD_BYTES,
    Finding,
    Record,
    RecordKind,
)
from lorebank.vaults.store.values import Draft, Entry, FileChange, Receipt, RecordChange, VaultHandle, View
from lorebank.vaults.tools import inputs
from lorebank.vaults.tools.cited import Cited

_TRIES: Final = 3
_ANYWAY: Final = "work on a large record here and now"
_LARGE: Final = 100_000
"""Bytes of a record that takes so long to change that nobody else of the store should wait for it."""
_NEVER_COMPARED: Final = frozenset({"request_id"})


@dataclass(frozen=True, slots=True)
class Saved:
    """A record as it shall be written, before it is checked.

    `expected` is the SHA-256 of the file before, None for a new one. `before` are the findings that it had
    already: they do not stand against this change.
    """

    path: str
    data: bytes
    expected: str | None
    revision: int
    before: tuple[Finding, ...] = ()
    more_files: tuple[FileChange, ...] = ()
    sources: frozenset[str] = frozenset()
    extra: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Finding, ...] = ()


def publish(
    handle: VaultHandle,
    tool: str,
    request: Any,
    request_id: str | None,
    plan: Callable[[View], Draft],
    cited: Cited | None = None,
) -> dict[str, Any]:
    """Publish and answer. A file that a person saves in the very moment is looked at once more.

    What the request cites is checked before the save takes its turn in the store.
    """
    name = inputs.record_id(request_id, "requestId") if request_id is not None else new_uuid()
    digest = digest_of(tool, request)
    large = cited is not None and cited.many
    with remembering():
        for _ in range(_TRIES):
            try:
                if handle.grant.may_save and (large or cited is not None):
                    _ahead(handle, cited, plan if large else None)
                return answer(handle.publish(name, digest, plan))
            except StoreUnavailable:
                raise
            except _Large:
                large = True
            except Unavailable:
                continue
        once(_ANYWAY, lambda: True)
        return answer(handle.publish(name, digest, plan))


class _Large(Unavailable):
    """The record to change is large: the work is done before the save takes its turn, not inside."""


def _ahead(handle: VaultHandle, cited: Cited | None, plan: Callable[[View], Draft] | None) -> None:
    """What takes long, done before the lane. What `plan` makes is remembered; what it refuses is refused by
    the one that counts."""
    with handle.reading() as view:
        if cited is not None:
            cited.look(view)
        if plan is not None:
            with suppress(LorebankError), only_here(_ANYWAY):
                plan(view)


def answer(receipt: Receipt) -> dict[str, Any]:
    """The answer of every save. The store's generation is not in it: a conversation could read from it how
    often others save (statement 1.5.46)."""
    return {**receipt.answer, "requestId": receipt.request_id, "replayed": receipt.replayed}


def digest_of(tool: str, request: Any) -> str:
    """What a retry must equal: the tool and every argument but the request id."""
    given = {key: value for key, value in asdict(request).items() if key not in _NEVER_COMPARED}
    text = json.dumps([tool, given], ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def moment(clock: Clock) -> str:
    """Now, as records have it; the same for the whole of a save."""
    now = once("moment", clock)
    return to_datetime(now).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def envelope(view: View, kind: RecordKind, title: str, now: str) -> dict[str, Any]:
    """The frontmatter that a new record begins with. The scope is the partition's, never a caller's."""
    return {
        "format": FORMAT,
        "id": once("id", new_uuid),
        "revision": 1,
        "kind": kind,
        "title": title,
        "recorded_at": now,
        "updated_at": now,
        "scope": view.partition.scope,
        "lifecycle": "active",
    }


def existing(view: View, record_id: str, kind: RecordKind) -> tuple[Entry, Record]:
    """The record to change. `NotFound`, also for one of another partition; `Conflict` for an id that stands
    in two files; `InvalidInput` for another kind."""
    entry = view.by_id(inputs.record_id(record_id, "id"))
    if entry is None or entry.record is None:
        same = [one.path for one in view.entries.values() if one.record and one.record.id == record_id]
        if len(same) > 1:
            raise Conflict(
                f"the id stands in {len(same)} files ({', '.join(same[:3])}); it must be mended first"
            )
        raise NotFound(f"there is no {kind} with this id")
    if entry.record.kind != kind:
        raise InvalidInput(f"id names a {entry.record.kind}; it is saved with its own tool")
    return entry, entry.record


def check_revision(
    view: View, entry: Entry, expected: int | None, mine: Mapping[str, Any], *, needed: str
) -> None:
    """Compare with the effective revision. `needed` says, when it is not empty, why one must be given."""
    if expected is None:
        if needed:
            raise InvalidInput(
                f"expectedRevision is needed {needed}; it is {entry.revision} if you have read that"
            )
        return
    if expected != entry.revision:
        record = entry.record
        current = {
            "revision": entry.revision,
            "path": entry.path,
            "updatedAt": None if record is None else record.updated_at,
            "content": view.read(entry).decode("utf-8", "replace"),
        }
        raise RevisionConflict(
            f"the record is at revision {entry.revision}, not {expected}: it was changed meanwhile. "
            "Read it again and bring both together",
            {"current": current, "yours": {"expectedRevision": expected, "changes": dict(mine)}},
        )


def changed(
    view: View, entry: Entry, changes: Mapping[str, Any], now: str, body: str | None = None
) -> tuple[bytes, int]:
    """The file with the changes and its next revision."""
    revision = entry.revision + 1
    raw, every = view.read(entry), {**changes, "revision": revision, "updated_at": now}
    key = ("edit", raw, _told_apart(every), body)
    if len(raw) > _LARGE and not made_before(key) and not made_before(_ANYWAY):
        raise _Large("the record is large; ask again")
    return once(key, lambda: edit_record(raw, every, body)), revision


def rendered(meta: Mapping[str, Any], body: str) -> bytes:
    """The file of a new record."""
    return once(("render", _told_apart(meta), body), lambda: render_record(meta, body))


def _told_apart(meta: Mapping[str, Any]) -> str:
    return json.dumps(meta, default=repr)


def findings_of(view: View, path: str) -> tuple[Finding, ...]:
    """What the view says about one file."""
    return tuple(one for one in view.findings if one.path == path)


def draft(view: View, saved: Saved, what: str) -> Draft:
    """Check what shall be published as a reader will, and make the draft.

    `InvalidInput` for everything that this change would make wrong; what was wrong before is answered.
    """
    if len(saved.data) > MAX_RECORD_BYTES:
        raise InvalidInput(f"the record would be larger than {MAX_RECORD_BYTES:,} bytes; shorten it")
    parsed = parse_record(saved.path, saved.data, view.partition, view.ontology)
    found = list(parsed.findings)
    if parsed.record is not None:
        found += _reference_findings(view, parsed.record, saved.sources)
    known = {(one.rule, one.message) for one in saved.before}
    new = [one for one in found if (one.rule, one.message) not in known]
    if new or parsed.record is None:
        raise InvalidInput("; ".join(dict.fromkeys(one.message for one in new[:5])) or "no readable record")
    record = parsed.record
    file = FileChange(
        saved.path,
        content=saved.data,
        sha256=hashlib.sha256(saved.data).hexdigest(),
        expected=saved.expected,
    )
    return Draft(
        files=(*saved.more_files, file),
        records=(RecordChange(record.id, saved.revision, saved.path, record.title),),
        answer={
            "id": record.id,
            "revision": saved.revision,
            "path": saved.path,
            **saved.extra,
            **told([*found, *saved.notes]),
        },
        message=f"{what}: {record.title}",
    )


def told(found: Sequence[Finding]) -> dict[str, Any]:
    """Findings as an answer has them."""
    shown = [
        {"line": one.line, "rule": one.rule, "message": one_line(one.message)}
        for one in found[:MAX_DIAGNOSTICS]
    ]
    cut = {"findingsTruncated": True} if len(found) > MAX_DIAGNOSTICS else {}
    return {"findings": shown, **cut}


def _reference_findings(view: View, record: Record, new_sources: frozenset[str]) -> list[Finding]:
    """Only what the record names is looked up, not the whole partition."""
    named = {target for target in _targets(record) if target != record.id}
    others = [other for target in named for other in _called(view, target)]
    sources = {
        one.source
        for one in record.evidence
        if one.source in new_sources or view.descriptor(one.source) is not None
    }
    return list(check_references([record, *others], view.ontology, sources).get(record.path, ()))


def _called(view: View, record_id: str) -> list[Record]:
    """The records with that id: usually one; more when it stands in several files."""
    entry = view.by_id(record_id)
    if entry is not None:
        return [] if entry.record is None else [entry.record]
    every = (one.record for one in view.entries.values())
    return [record for record in every if record is not None and record.id == record_id]


def _targets(record: Record) -> Iterable[str]:
    meta = record.meta
    yield from record.dependencies
    yield from record.entities
    fields = meta.get("fields")
    values = fields.values() if isinstance(fields, Mapping) else ()
    for value in (
        meta.get("source_page"),
        meta.get("replaced_by"),
        meta.get("from"),
        meta.get("to"),
        *values,
    ):
        if isinstance(value, str):
            yield value


def relation_named(ontology: Ontology, name: str) -> str:
    """A relation by its name or alias."""
    if name in ontology.relations:
        return name
    folded = name.strip().casefold().replace(" ", "_")
    for one in ontology.relations.values():
        if folded in (one.name, one.label.casefold().replace(" ", "_"), *one.aliases):
            return one.name
    raise InvalidInput(f"relation must be one of {', '.join(ontology.relations)}")


def type_named(ontology: Ontology, name: str) -> str:
    """A page type by its name or alias."""
    if name in ontology.types:
        return name
    folded = name.strip().casefold().replace(" ", "_")
    for one in ontology.types.values():
        if folded in (one.name, one.label.casefold(), *one.aliases):
            return one.name
    raise InvalidInput(f"type must be one of {', '.join(ontology.types)}")
