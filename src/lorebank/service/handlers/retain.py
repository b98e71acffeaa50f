"""Operations that put memories into a bank or change one: retain, files, dry run, edit, reprocess."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from lorebank.banks.files import Upload, check_files, submit_files
from lorebank.banks.retain.edit import TIMES, edit
from lorebank.banks.retain.items import DEFAULT_ENTITY_TYPE, Item
from lorebank.banks.retain.preview import Preview, preview
from lorebank.banks.retain.reprocess import submit_reprocess
from lorebank.banks.retain.service import Tools, check_retain, retain
from lorebank.banks.retain.submit import check_submission, submit
from lorebank.clock import to_datetime, to_iso, to_micros
from lorebank.errors import BadRequest
from lorebank.models.parse import FileParser
from lorebank.service import render
from lorebank.service.context import Context
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.requests.memories import UpdateMemoryRequest
from lorebank.service.requests.retain import DryRunExtractRequest, FileMetadata, MemoryItem, RetainRequest
from lorebank.service.requests.uploads import FileRetain

_NO_USAGE: Final = {
    "input_tokens": 0,
    "output_tokens": 0,
    "total_tokens": 0,
    "cached_tokens": 0,
    "thoughts_tokens": 0,
}
"""TokenUsage of work that called no model."""
_OVERRIDES: Final = (
    "retain_mission",
    "retain_extraction_mode",
    "retain_custom_instructions",
    "retain_chunk_size",
    "entity_labels",
    "entities_allow_free_form",
)


def retain_tools(context: Context) -> Tools:
    """What retain needs of the running server."""
    return Tools(
        banks=context.banks,
        bank_defaults=context.settings.bank_defaults,
        clock=context.clock,
        vectors=context.work.vectors,
        jobs=context.work.notify,
    )


def retain_memories(call: Call) -> render.Wire:
    """RetainResponse: stored when it returns, or queued where the request says `async`."""
    request: RetainRequest = call.request
    items, tags = _items(call)
    tools = retain_tools(call.context)
    if request.asynchronous:
        ids = submit(call.handle, tools, items, tags, request.operation_id)
        return _retained(call, len(items), ids)
    _refuse_operation_id(request)
    written = retain(call.handle, tools, items, tags)
    answer = _retained(call, len(items), None)
    # Beside the wire's own fields: which label groups wait for somebody who can read.
    return answer | ({"labels_undecided": list(written.labels_undecided)} if written.labels_undecided else {})


def check_retain_memories(call: Call) -> None:
    """Refuse what cannot be retained before a bank is made for it."""
    request: RetainRequest = call.request
    items, tags = _items(call)
    defaults = call.context.settings.bank_defaults
    if request.asynchronous:
        check_submission(call.grant, defaults, {}, items, tags, request.operation_id)
    else:
        _refuse_operation_id(request)
        check_retain(call.grant, defaults, {}, items, tags)


def _items(call: Call) -> tuple[list[Item], tuple[str, ...]]:
    now = to_datetime(call.context.clock())
    return [_item(item, now) for item in call.request.items], tuple(call.request.document_tags or ())


def _refuse_operation_id(request: RetainRequest) -> None:
    if request.operation_id is not None:
        raise BadRequest("operation_id: is for asynchronous requests only; leave it out or send async=true")


def _retained(call: Call, count: int, ids: list[str] | None) -> render.Wire:
    return {
        "success": True,
        "bank_id": call.handle.bank.bank_id,
        "items_count": count,
        "async": ids is not None,
        "operation_id": ids[0] if ids else None,
        "operation_ids": ids if ids and len(ids) > 1 else None,
        "usage": None if ids else _NO_USAGE,
    }


def _item(sent: MemoryItem, now: datetime) -> Item:
    said = sent.timestamp
    return Item(
        content=sent.content,
        context=sent.context or "",
        when=now if said is None else _when(said),
        stated=said is not None,
        metadata=sent.metadata or {},
        document_id=sent.document_id,
        entities=tuple((e.text, e.type or DEFAULT_ENTITY_TYPE) for e in sent.entities or ()),
        resolve_entities=sent.resolve_entities,
        tags=tuple(sorted(sent.tags or ())),
        observation_scopes=sent.observation_scopes,
        strategy=sent.strategy,
        append=sent.update_mode == "append",
    )


def _when(said: datetime | str) -> datetime | None:
    return said if isinstance(said, datetime) else None


def file_retain(call: Call) -> render.Wire:
    """FileRetainResponse: one operation a file."""
    uploads, tags = _uploads(call)
    return {
        "operation_ids": submit_files(call.handle, retain_tools(call.context), FileParser(), uploads, tags)
    }


def check_file_retain(call: Call) -> None:
    """Refuse files that cannot be retained before a bank is made for them."""
    uploads, tags = _uploads(call)
    check_files(call.grant, call.context.settings.bank_defaults, {}, FileParser(), uploads, tags)


def _uploads(call: Call) -> tuple[list[Upload], tuple[str, ...]]:
    request: FileRetain = call.request
    now = to_datetime(call.context.clock())
    uploads = []
    for file, metadata in zip(request.files, request.metadata, strict=True):
        file.file.seek(0)  # read once by the check, once by the handler
        item = _file_item(metadata, now)
        uploads.append(Upload(file.filename, file.media_type, file.file.read(), item))
    return uploads, tuple(request.options.document_tags or ())


def _file_item(sent: FileMetadata, now: datetime) -> Item:
    said = sent.timestamp
    return Item(
        content="",
        context=sent.context or "",
        when=now if said is None else _when(said),
        stated=said is not None,
        metadata=sent.metadata or {},
        document_id=sent.document_id,
        tags=tuple(sorted(sent.tags or ())),
        strategy=sent.strategy,
    )


def dry_run_extract_memories(call: Call) -> render.Wire:
    """DryRunExtractionResult: what retain would find, nothing stored."""
    request: DryRunExtractRequest = call.request
    when = request.timestamp or to_datetime(call.context.clock())
    item = Item(
        request.content, request.context, when, request.timestamp is not None, strategy=request.strategy
    )
    overrides = {name: value for name in _OVERRIDES if (value := getattr(request, name)) is not None}
    found = preview(
        call.handle,
        retain_tools(call.context),
        item,
        overrides,
        request.agent_name,
        request.retain_extract_causal_links,
        acquainted=call.context.resolver.allowed(call.grant.principal, "bank:entities:list", call.grant.bank),
    )
    return {"facts": list(_facts(found)), "chunks": list(_chunks(found)), "usage": _NO_USAGE}


def _facts(found: Preview) -> Iterable[render.Wire]:
    for fact in found.extraction.facts:
        yield {
            "text": fact.text,
            "fact_type": fact.fact_type,
            "occurred_start": _iso(fact.occurred_start),
            "occurred_end": _iso(fact.occurred_end),
            "entities": [*(mention.name for mention in fact.entities), *fact.labels],
            "chunk_index": fact.chunk_index,
            "attachments": [],
            "labels_undecided": list(fact.labels_undecided),
        }


def _chunks(found: Preview) -> Iterable[render.Wire]:
    for chunk in found.extraction.chunks:
        yield {"text": chunk.text, "fact_count": found.facts_of_chunk.get(chunk.index, 0)}


def _iso(when: datetime | None) -> str | None:
    return None if when is None else to_iso(to_micros(when))


def update_memory(call: Call) -> render.Wire:
    """The memory after the change, with its history; a time sent as null is cleared."""
    request: UpdateMemoryRequest = call.request
    sent = request.model_fields_set - {"reason", "resolve_entities"}
    changes: dict[str, Any] = {name: getattr(request, name) for name in sent}
    for name in sent & set(TIMES):
        changes[name] = None if changes[name] is None else to_micros(changes[name])
    memory, history = edit(
        call.handle, retain_tools(call.context), call.params["memory_id"], changes, request.reason
    )
    return render.memory_detail(memory, history)


def reprocess_document(call: Call) -> render.Wire:
    """ReprocessDocumentResponse: the extraction is queued."""
    operation = submit_reprocess(call.handle, retain_tools(call.context), call.params["document_id"])
    return {"success": True, "operation_id": operation.id, "items_count": operation.items_count}


OPERATIONS = (
    Operation("retain_memories", "bank:retain", Scope.NEW_BANK, retain_memories, check_retain_memories),
    Operation("file_retain", "bank:retain", Scope.NEW_BANK, file_retain, check_file_retain),
    Operation("dry_run_extract_memories", "bank:retain", Scope.BANK, dry_run_extract_memories),
    Operation("update_memory", "bank:memories:update", Scope.BANK, update_memory),
    Operation("reprocess_document", "bank:documents:update", Scope.BANK, reprocess_document),
)
