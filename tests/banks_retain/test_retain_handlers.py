"""The handlers' answers, read by the models of the real client."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from hindsight_client_api.models.dry_run_extraction_result import DryRunExtractionResult
from hindsight_client_api.models.operation_status_response import OperationStatusResponse
from hindsight_client_api.models.operations_list_response import OperationsListResponse
from hindsight_client_api.models.reprocess_document_response import ReprocessDocumentResponse
from hindsight_client_api.models.retain_response import RetainResponse
from retain_bank import Bank

from lorebank import clock
from lorebank.errors import BadRequest, NeedsLLM
from lorebank.ids import new_uuid
from lorebank.limits import Limits
from lorebank.service.guard import Call
from lorebank.service.handlers import operations as operation_handlers
from lorebank.service.handlers import retain as retain_handlers
from lorebank.service.requests.base import RequestModel, parse
from lorebank.service.requests.memories import UpdateMemoryRequest
from lorebank.service.requests.retain import (
    DryRunExtractRequest,
    FileMetadata,
    FileRetainOptions,
    RetainRequest,
)
from lorebank.service.requests.uploads import FileRetain, UploadedFile


def call(bank: Bank, request: Any = None, **params: Any) -> Call:
    work = SimpleNamespace(vectors=lambda handle: None, notify=lambda handle: None)
    settings = SimpleNamespace(bank_defaults={}, limits=Limits())
    context: Any = SimpleNamespace(
        banks=bank.banks, clock=clock.now, work=work, settings=settings, resolver=bank.resolver
    )
    return Call(context, request, params, bank.handle, bank.handle.grant)


def body(model: type[RequestModel], **fields: Any) -> Any:
    return parse(model, fields, Limits())


def nulls(content: str, **given: Any) -> dict[str, Any]:
    """An item as the high-level client sends it: every optional field null."""
    names = ["timestamp", "context", "metadata", "document_id", "entities", "tags", "strategy", "update_mode"]
    names.append("observation_scopes")
    return {"content": content, **dict.fromkeys(names), **given}


def test_a_synchronous_retain_is_answered_without_an_operation(bank: Bank) -> None:
    request = body(RetainRequest, items=[nulls("Mona sold the violin.")], document_tags=None)
    answer = retain_handlers.retain_memories(call(bank, request))
    read = RetainResponse.from_dict(answer)
    assert read is not None and read.success and not read.var_async and read.operation_id is None
    assert (read.bank_id, read.items_count) == ("team/ä", 1)
    assert read.usage is not None and read.usage.total_tokens == 0
    assert bank.memories()[0].mentioned_at is not None


def test_an_asynchronous_retain_names_its_operation(bank: Bank) -> None:
    wanted = new_uuid()
    request = body(
        RetainRequest, items=[nulls("Mona sold the violin.")], operation_id=wanted, **{"async": True}
    )
    read = RetainResponse.from_dict(retain_handlers.retain_memories(call(bank, request)))
    assert read is not None and read.var_async and (read.operation_id, read.operation_ids) == (wanted, None)
    status = operation_handlers.get_operation_status(call(bank, operation_id=wanted, include_payload=True))
    state = OperationStatusResponse.from_dict(status)
    assert state is not None and (state.status, state.operation_type) == ("pending", "retain")
    assert state.task_payload is not None
    listed = operation_handlers.list_operations(
        call(bank, status=None, type="retain", exclude_parents=False, limit=20, offset=0)
    )
    page = OperationsListResponse.from_dict(listed)
    assert page is not None and page.total == 1 and page.operations[0].id == wanted
    cancelled = operation_handlers.cancel_operation(call(bank, operation_id=wanted))
    assert cancelled["success"] and cancelled["operation_id"] == wanted
    assert operation_handlers.delete_operation(call(bank, operation_id=wanted))["success"]


def test_several_strategies_give_several_operation_ids(bank: Bank) -> None:
    bank.configure(retain_strategies={"logs": {"retain_extraction_mode": "chunks"}})
    items = [nulls("Mona sold the violin."), nulls("Erik bought a harp.", strategy="logs")]
    answer = retain_handlers.retain_memories(call(bank, body(RetainRequest, items=items, **{"async": True})))
    assert len(answer["operation_ids"]) == 2 and answer["operation_id"] == answer["operation_ids"][0]


def test_an_operation_id_is_refused_for_a_synchronous_retain(bank: Bank) -> None:
    request = body(RetainRequest, items=[nulls("Mona sold the violin.")], operation_id=new_uuid())
    with pytest.raises(BadRequest, match="asynchronous"):
        retain_handlers.retain_memories(call(bank, request))
    assert bank.count() == 0


def test_an_unknown_operation_has_the_status_not_found(bank: Bank) -> None:
    status = operation_handlers.get_operation_status(
        call(bank, operation_id=new_uuid(), include_payload=False)
    )
    read = OperationStatusResponse.from_dict(status)
    assert read is not None and read.status == "not_found"
    with pytest.raises(BadRequest):
        operation_handlers.get_operation_status(call(bank, operation_id="x", include_payload=False))


def test_a_dry_run_shows_facts_and_chunks_and_stores_nothing(bank: Bank) -> None:
    request = body(
        DryRunExtractRequest,
        content="Mona: I sold the violin yesterday.\nErik: I bought a harp in Turku.",
        timestamp="2026-03-04T12:00:00+00:00",
        entity_labels=[{"key": "thing", "values": [{"value": "harp"}]}],
    )
    read = DryRunExtractionResult.from_dict(retain_handlers.dry_run_extract_memories(call(bank, request)))
    assert read is not None and read.facts is not None and read.chunks is not None
    assert [fact.occurred_start for fact in read.facts] == ["2026-03-03T00:00:00+00:00", None]
    assert "thing:harp" in (read.facts[1].entities or [])
    assert [chunk.fact_count for chunk in read.chunks] == [2]
    assert bank.count() == 0 and bank.documents() == []


def test_a_dry_run_follows_what_the_call_says_over_the_strategy(bank: Bank) -> None:
    bank.configure(retain_strategies={"llm": {"retain_extraction_mode": "concise"}})
    fields = {"content": "Mona: I sold it.\nErik: I bought a harp in Turku.", "strategy": "llm"}
    with pytest.raises(NeedsLLM):
        retain_handlers.dry_run_extract_memories(call(bank, body(DryRunExtractRequest, **fields)))
    request = body(DryRunExtractRequest, **fields, retain_extraction_mode="chunks")
    assert len(retain_handlers.dry_run_extract_memories(call(bank, request))["facts"]) == 1


def test_a_file_is_retained_by_an_operation(bank: Bank) -> None:
    data = b"Mona sold the violin."
    request = FileRetain(
        (UploadedFile("a.txt", "text/plain", len(data), io.BytesIO(data)),),
        (body(FileMetadata, document_id="d", timestamp="unset"),),
        body(FileRetainOptions, document_tags=["t"]),
    )
    [operation_id] = retain_handlers.file_retain(call(bank, request))["operation_ids"]
    payload = bank.operation(operation_id).payload
    assert (
        payload is not None and payload["item"]["timestamp"] == "unset" and payload["item"]["tags"] == ["t"]
    )


def test_a_patched_memory_is_answered_as_listings_show_it(bank: Bank) -> None:
    retain_handlers.retain_memories(call(bank, body(RetainRequest, items=[nulls("Mona sold the violin.")])))
    [memory] = bank.memories()
    request = body(
        UpdateMemoryRequest, text="Mona sold a harp.", mentioned_at=None, occurred_start="2026-03-01"
    )
    answer = retain_handlers.update_memory(call(bank, request, memory_id=memory.id))
    assert (answer["id"], answer["text"], answer["mentioned_at"]) == (memory.id, "Mona sold a harp.", None)
    assert answer["occurred_start"] == "2026-03-01T00:00:00+00:00"


def test_a_reprocess_is_answered_with_its_operation(bank: Bank) -> None:
    items = [nulls("Mona sold the violin.", document_id="a/b")]
    retain_handlers.retain_memories(call(bank, body(RetainRequest, items=items)))
    read = ReprocessDocumentResponse.from_dict(
        retain_handlers.reprocess_document(call(bank, document_id="a/b"))
    )
    assert read is not None and read.success and bank.operation(read.operation_id).document_id == "a/b"
