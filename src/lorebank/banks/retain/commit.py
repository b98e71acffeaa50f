"""The one place of retain that writes: prepared documents into one open write transaction."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lorebank.access.actions import UPDATE_DOCUMENTS
from lorebank.access.grant import Grant
from lorebank.banks.chunk_ids import bank_prefix, chunk_id
from lorebank.banks.retain import delta
from lorebank.banks.retain.delta import Delta
from lorebank.banks.retain.drafts import Draft
from lorebank.banks.retain.facts import Part
from lorebank.banks.retain.items import joined_tags
from lorebank.clock import Micros
from lorebank.errors import BadRequest, Forbidden
from lorebank.storage.ports import BankWriter, MemoryQuery, Page
from lorebank.storage.rows import Chunk, Document, DocumentEvent, Memory, NewMemory

_ALL = Page(limit=2**31)
_EVENTS = {"replace": "retain", "append": "append", "extend": "append", "reprocess": "reprocess"}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document whose parts are extracted. `keep_text` tells whether its text is stored."""

    draft: Draft
    parts: tuple[Part, ...]
    keep_text: bool


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did: memories that rest on it now, memories that went.

    `labels_undecided` are the groups of entity labels that rules could not decide for some of them.
    """

    facts_added: int
    facts_removed: int
    labels_undecided: tuple[str, ...] = ()


class Commit:
    """One write of several documents. Use `document` for each, then `finish`, in one transaction."""

    def __init__(
        self, writer: BankWriter, grant: Grant, bank_id: str, now: Micros, operation_id: str | None = None
    ) -> None:
        self._writer = writer
        self._grant = grant
        self._bank_id = bank_id
        self._prefix = bank_prefix(bank_id)
        self._now = now
        self._operation_id = operation_id
        self._memories: list[NewMemory] = []
        self._positions: dict[str, int] = {}
        self._retracted: list[tuple[range, Sequence[Memory]]] = []
        self._events: list[tuple[DocumentEvent, range]] = []

    def document(self, prepared: Prepared) -> None:
        """Store one document: its row, its changed chunks; its memories are added by `finish`."""
        draft, writer = prepared.draft, self._writer
        stored = writer.document(draft.document_id) if draft.named or draft.way != "replace" else None
        if stored is not None and draft.way in ("replace", "append"):
            self._refuse_foreign(stored)
        change = self._change(prepared, stored)
        retracted = self._retracted_memories(draft.document_id) if change.removed else ()
        removed = writer.remove_chunks(change.removed) if change.removed else 0
        writer.put_document(self._row(prepared, stored))
        writer.put_chunks([*self._chunks(prepared, change), *change.moved])
        begin = len(self._memories)
        self._place(prepared, change, grown=stored is not None)
        span = range(begin, len(self._memories))
        if retracted:
            self._retracted.append((span, retracted))
        event = DocumentEvent(
            draft.document_id, _EVENTS[draft.way], self._now, self._operation_id, facts_removed=removed
        )
        self._events.append((event, span))

    def _refuse_foreign(self, stored: Document) -> None:
        """Storing new memories does not include undoing what somebody else stored (issue 3: nothing
        implies deleting). One's own documents carry the tag of their user."""
        grant = self._grant
        if grant.user_tag not in stored.tags and not grant.may_replace:
            raise Forbidden(
                f"document '{stored.id[:200]}' is somebody else's: {UPDATE_DOCUMENTS} denied; "
                "retain under another document_id"
            )

    def finish(self) -> Written:
        """Add the memories and the history entries of all documents."""
        writer = self._writer
        doubles = self._doubles()
        keys = writer.add_memories(self._memories, self._now) if self._memories else []
        for span, retracted in self._retracted:
            self._retract_again(span, retracted, keys, doubles)
        added = removed = 0
        for event, span in self._events:
            facts = len({keys[i] for i in span})
            writer.add_document_event(replace(event, facts_added=facts))
            added, removed = added + facts, removed + event.facts_removed
        return Written(added, removed)

    # the document row and its chunks

    def _change(self, prepared: Prepared, stored: Document | None) -> Delta:
        draft, parts = prepared.draft, prepared.parts
        if stored is None:
            return delta.added(parts, 0, ())
        if draft.way in ("append", "extend"):
            count = self._writer.chunks(draft.document_id, Page(limit=0)).total
            return delta.added(parts, count, self._taken(draft.document_id, parts))
        chunks = self._writer.chunks(draft.document_id, _ALL).rows
        if draft.way == "reprocess":
            removed = tuple(chunk.chunk_id for chunk in chunks)
            return replace(delta.added(parts, 0, ()), removed=removed)
        return delta.replaced(parts, stored, chunks)

    def _taken(self, document_id: str, parts: Sequence[Part]) -> set[str]:
        """The id tails in the way of the new chunks; a text that comes again and again needs another look."""
        tails = {f.tail for f in delta.added(parts, 0, ()).fresh}
        taken: set[str] = set()
        while tails:
            found = self._writer.chunks_by_id([chunk_id(self._bank_id, document_id, tail) for tail in tails])
            hit = {delta.tail_of(name) for name in found}
            taken |= hit
            tails = {f.tail for f in delta.added(parts, 0, taken).fresh} - taken if hit else set()
        return taken

    def _row(self, prepared: Prepared, stored: Document | None) -> Document:
        draft = prepared.draft
        contents = [item.content for item in draft.items]
        records: list[Mapping[str, Any]] = [delta.record(part) for part in prepared.parts]
        tags = _union(item.tags for item in draft.items)
        metadata: dict[str, Any] = _metadata(draft)
        scopes = _scopes(draft)
        if stored is not None and draft.way in ("append", "extend"):
            contents.insert(0, _stored_text(stored, draft))
            records = [*delta.records_of(stored), *records]
            tags = joined_tags(stored.tags, tags)
            metadata = {**stored.metadata, **metadata}
        if stored is not None and draft.way == "reprocess":
            metadata = dict(stored.metadata)
        if stored is not None and draft.way != "replace":
            scopes = stored.observation_scopes if scopes is None else scopes
        text = delta.SEPARATOR.join(contents)
        return Document(
            id=draft.document_id,
            text=text if prepared.keep_text else None,
            text_length=len(text),
            content_hash=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
            metadata=metadata,
            retain_params={delta.RECORDS: records},
            tags=tags,
            observation_scopes=scopes,
            created_at=self._now if stored is None else stored.created_at,
            updated_at=self._now,
        )

    def _chunks(self, prepared: Prepared, change: Delta) -> list[Chunk]:
        start = f"{self._prefix}{prepared.draft.document_id}:"
        found = ((fresh, prepared.parts[fresh.part]) for fresh in change.fresh)
        return [
            Chunk(
                chunk_id=start + fresh.tail,
                document_id=prepared.draft.document_id,
                chunk_index=fresh.index,
                text=part.pieces[fresh.piece].text if prepared.keep_text else "",
                hash=part.pieces[fresh.piece].hash,
                tokens=part.tokens[fresh.piece] if prepared.keep_text else 0,
                created_at=self._now,
            )
            for fresh, part in found
        ]

    # memories

    def _place(self, prepared: Prepared, change: Delta, *, grown: bool) -> None:
        """Give the facts of the fresh chunks their chunk, thread and position."""
        draft = prepared.draft
        tails = {(fresh.part, fresh.piece): fresh.tail for fresh in change.fresh}
        start = f"{self._prefix}{draft.document_id}:"
        long = grown or draft.way == "append" or sum(len(part.facts) for part in prepared.parts) > 1
        for number, part in enumerate(prepared.parts):
            thread = _thread(draft, part, number, long=long)
            members: dict[int, int] = {}
            for fact in part.facts:
                tail = tails.get((number, fact.piece))
                if tail is None:
                    continue
                place = (thread, self._next(thread))
                memory = fact.placed(part.item, draft.document_id, start + tail, place)
                if fact.caused_by:
                    causes = tuple(members[cause] for cause in fact.caused_by if cause in members)
                    memory = replace(memory, caused_by=causes)
                members[fact.position] = len(self._memories)
                self._memories.append(memory)

    def _next(self, thread: str | None) -> int:
        if thread is None:
            return 0
        position = self._positions.get(thread)
        if position is None:
            position = self._writer.next_position(thread)
        self._positions[thread] = position + 1
        return position

    # what was invalidated stays so when its chunk is extracted again

    def _retracted_memories(self, document_id: str) -> Sequence[Memory]:
        query = MemoryQuery(document_id=document_id, state="invalidated")
        return self._writer.memories(query, _ALL).rows

    def _doubles(self) -> Mapping[int, int]:
        return self._writer.find_duplicates(self._memories) if self._retracted else {}

    def _retract_again(
        self, span: range, retracted: Sequence[Memory], keys: Sequence[int], doubles: Mapping[int, int]
    ) -> None:
        reasons = {_same(memory.text): memory for memory in retracted}
        for index in span:
            before = reasons.get(_same(self._memories[index].text))
            if before is not None and index not in doubles:
                changes = {"state": "invalidated", "invalidation_reason": before.invalidation_reason}
                self._writer.edit_memory(keys[index], changes, self._now, "invalidated")


def _stored_text(stored: Document, draft: Draft) -> str:
    if stored.text is not None:
        return stored.text
    if draft.way == "extend":
        return ""
    raise BadRequest(
        f"document '{stored.id[:200]}' is kept without its text, so nothing can be appended to it; "
        "set store_document_text to true and retain the whole document once"
    )


def _thread(draft: Draft, part: Part, number: int, *, long: bool) -> str | None:
    """The conversation that the memories of a part belong to.

    Items with a context and a time of their own are grouped by both, across documents; else what
    one document holds is one thread. The unrelated items that share a generated document are not.
    """
    item = part.item
    if item.context and item.stated and item.when is not None:
        return json.dumps([item.context, item.mentioned_at], ensure_ascii=False)
    if draft.named:
        return f"doc:{draft.document_id}" if long else None
    return f"doc:{draft.document_id}#{number}" if len(part.facts) > 1 else None


def _union(tags: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    distinct = set(tags)
    return distinct.pop() if len(distinct) == 1 else tuple(sorted({tag for one in distinct for tag in one}))


def _scopes(draft: Draft) -> Any:
    """What the last item that says anything about observation scopes says."""
    said = [item.observation_scopes for item in draft.items if item.observation_scopes is not None]
    return said[-1] if said else None


def _metadata(draft: Draft) -> dict[str, Any]:
    """The metadata of the document: that of its items, later ones first; none for unrelated items."""
    if not draft.named and len(draft.items) > 1:
        return {}
    merged: dict[str, Any] = {}
    for item in draft.items:
        merged |= item.metadata
    return merged


def _same(text: str) -> str:
    """The form in which two texts are the same fact (see `BankWriter.add_memories`)."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
