"""The client library's generated groups, each read by its own models."""

from __future__ import annotations

from typing import Any

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException, NotFoundException
from hindsight_client_api.models.create_bank_alias_request import CreateBankAliasRequest
from hindsight_client_api.models.create_bank_request import CreateBankRequest
from hindsight_client_api.models.dry_run_extract_request import DryRunExtractRequest
from hindsight_client_api.models.set_bank_alias_primary_request import SetBankAliasPrimaryRequest
from hindsight_client_api.models.update_document_request import UpdateDocumentRequest
from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest

# The library marks some of the routes as deprecated; they are part of the wire all the same.
pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")
DOCUMENT = "log/2026 #1"


@pytest.fixture
async def harbour(aclient: Hindsight, bank: str) -> str:
    """A bank with two documents."""
    await aclient.aretain(
        bank,
        "Tora Lind steers the pilot boat Grebe.",
        document_id=DOCUMENT,
        tags=["pilot"],
        entities=[{"text": "Tora Lind", "type": "PERSON"}, {"text": "Grebe", "type": "BOAT"}],
        timestamp="2026-06-01T08:00:00Z",
        metadata={"page": "1"},
    )
    await aclient.aretain(bank, "Fuel is sold at the east quay.", document_id="fuel", tags=["fuel"])
    return bank


async def test_documents(aclient: Hindsight, harbour: str) -> None:
    api = aclient.documents
    listed = await api.list_documents(harbour, limit=1)
    assert listed.total == 2 and len(listed.items) == 1
    tagged = await api.list_documents(harbour, tags=["pilot"], tags_match="all_strict")
    assert [one.id for one in tagged.items] == [DOCUMENT] and tagged.items[0].memory_unit_count == 1
    document = await api.get_document(harbour, DOCUMENT)
    assert document.original_text == "Tora Lind steers the pilot boat Grebe."
    assert document.tags == ["pilot"] and document.memory_unit_count == 1

    chunks = await api.list_document_chunks(harbour, DOCUMENT)
    assert chunks.total == 1 and "Grebe" in chunks.items[0].chunk_text
    chunk = await api.get_chunk(chunks.items[0].chunk_id)
    assert (chunk.bank_id, chunk.document_id, chunk.chunk_index) == (harbour, DOCUMENT, 0)

    assert (await api.update_document(harbour, DOCUMENT, UpdateDocumentRequest(tags=["crew"]))).success
    assert (await aclient.alist_memories(harbour, tags=["crew"], tags_match="any_strict")).total == 1
    history = await api.get_document_history(harbour, DOCUMENT)
    assert {one.kind for one in history.items} >= {"retain", "retag"}

    gone = await api.delete_document(harbour, DOCUMENT)
    assert gone.success and gone.memory_units_deleted == 1 and gone.document_id == DOCUMENT
    with pytest.raises(NotFoundException):
        await api.get_document(harbour, DOCUMENT)
    with pytest.raises(NotFoundException):
        await api.get_chunk(chunk.chunk_id)


async def test_a_document_is_reprocessed(aclient: Hindsight, harbour: str, ended: Any) -> None:
    answer = await aclient.documents.reprocess_document(harbour, DOCUMENT)
    assert answer.success
    status = await ended(aclient, harbour, answer.operation_id)
    assert status.status == "completed", status.error_message
    assert (await aclient.documents.get_document(harbour, DOCUMENT)).memory_unit_count == 1


async def test_entities(aclient: Hindsight, harbour: str) -> None:
    api = aclient.entities
    listed = await api.list_entities(harbour)
    by_name = {one.canonical_name: one for one in listed.items}
    assert {"Tora Lind", "Grebe"} <= set(by_name)
    one: Any = await api.get_entity(harbour, by_name["Grebe"].id)
    assert one.canonical_name == "Grebe" and one.mention_count == 1
    assert "Grebe" in " ".join(observation.text for observation in one.observations)
    graph = await api.get_entity_graph(harbour)
    ends = {(edge.data.source, edge.data.target) for edge in graph.edges}
    assert any({by_name["Tora Lind"].id, by_name["Grebe"].id} == set(pair) for pair in ends)
    strict = await api.list_entities(harbour, tags=["fuel"], tags_match="any_strict")
    assert "Grebe" not in {entity.canonical_name for entity in strict.items}
    with pytest.raises(ApiException) as retired:
        await api.regenerate_entity_observations(harbour, by_name["Grebe"].id)
    assert retired.value.status == 410


async def test_memories(aclient: Hindsight, harbour: str) -> None:
    api = aclient.memory
    row = next(one for one in (await aclient.alist_memories(harbour)).items if "Grebe" in (one.text or ""))
    memory: Any = await api.get_memory(harbour, row.id)
    assert memory["text"] == row.text and memory["metadata"] == {"page": "1"}

    change = UpdateMemoryRequest(text="Tora Lind steers the pilot boat Heron.", occurred_start="2026-06-02")
    await api.update_memory(harbour, row.id, change)
    assert "Heron" in (await aclient.arecall(harbour, "Which boat does Tora steer?")).results[0].text
    await api.update_memory(harbour, row.id, UpdateMemoryRequest(state="invalidated", reason="sold"))
    assert not any("Heron" in one.text for one in (await aclient.arecall(harbour, "Heron")).results)
    listed = await aclient.alist_memories(harbour, state="invalidated")
    assert [one.id for one in listed.items] == [row.id] and listed.items[0].invalidation_reason == "sold"
    await api.update_memory(harbour, row.id, UpdateMemoryRequest(state="valid"))
    history: Any = await api.get_observation_history(harbour, row.id)
    assert len(history) >= 1

    graph = await api.get_graph(harbour)
    assert graph.total_units == 2 and {one.data.id for one in graph.nodes} >= {row.id}
    tags = await api.list_tags(harbour)
    assert {one.tag: one.count for one in tags.items} == {"pilot": 1, "fuel": 1}
    cleared = await api.clear_bank_memories(harbour)
    assert cleared.success and (await aclient.alist_memories(harbour)).total == 0
    assert (await aclient.documents.list_documents(harbour)).total == 2


async def test_extraction_is_tried_without_storing(aclient: Hindsight, harbour: str) -> None:
    from hindsight_client_api.models.content import Content

    request = DryRunExtractRequest(content=Content(actual_instance="Ebba moved to Holm on 3 May 2026."))
    result: Any = await aclient.memory.dry_run_extract_memories(harbour, request)
    assert result.facts and "Holm" in result.facts[0].text and result.chunks[0].fact_count == 1
    assert (await aclient.alist_memories(harbour)).total == 2


async def test_banks(aclient: Hindsight, harbour: str) -> None:
    api = aclient.banks
    profile = await api.get_bank_profile(harbour)
    assert profile.bank_id == harbour and 1 <= profile.disposition.empathy <= 5
    listed = await api.list_banks(q=harbour)
    assert [(one.bank_id, one.fact_count) for one in listed.banks] == [(harbour, 2)] and listed.total == 1
    changed = await api.update_bank(harbour, CreateBankRequest(name="Harbour"))
    assert changed.name == "Harbour"
    stats = await api.get_agent_stats(harbour, refresh=True)
    assert (stats.total_nodes, stats.total_documents) == (2, 2)
    assert sum(stats.nodes_by_fact_type.values()) == 2 and stats.pending_operations == 0
    series: Any = await api.get_memories_timeseries(harbour, period="7d")
    assert sum(one.world + one.experience for one in series.buckets or []) == 2
    with pytest.raises(NotFoundException):
        await api.update_bank(harbour + "-missing", CreateBankRequest(name="x"))
    with pytest.raises(NotFoundException):
        await api.get_agent_stats(harbour + "-missing")


async def test_aliases(aclient: Hindsight, harbour: str) -> None:
    api, alias = aclient.banks, harbour + "-alias"
    made = await api.create_bank_alias(harbour, CreateBankAliasRequest(alias=alias))
    assert [one.alias for one in made.aliases] == [alias]
    assert (await aclient.arecall(alias, "Who steers the pilot boat?")).results
    primary = await api.set_bank_alias_primary(harbour, alias, SetBankAliasPrimaryRequest(primary=True))
    assert primary.aliases[0].primary is True
    assert (await api.list_bank_aliases(alias)).bank_id == harbour
    assert (await api.delete_bank_alias(harbour, alias)).aliases == []
    with pytest.raises(NotFoundException):
        await aclient.arecall(alias, "pilot")


async def test_monitoring(aclient: Hindsight) -> None:
    api = aclient.monitoring
    health: Any = await api.health_endpoint_health_get()
    assert health["status"] == "healthy"
    live = await api.get_liveness()
    assert live.status == "alive" and live.uptime_seconds >= 0
    assert await api.get_readiness()
    assert "lorebank_operation_seconds_bucket" in str(await api.metrics_endpoint_metrics_get())


@pytest.mark.parametrize("name", ["a", "A", "a1", "a/..", "a%", "x/y::z", "🦉", "ü" * 2048])
async def test_any_name_is_a_bank_of_its_own(aclient: Hindsight, name: str) -> None:
    await aclient.aretain(name, f"This is bank number {len(name)} {name[:3]}.", document_id=name)
    listed = await aclient.alist_memories(name)
    assert listed.total == 1 and listed.items[0].document_id == name
    document = await aclient.documents.get_document(name, name)
    assert document.bank_id == name and document.id == name
    assert (await aclient.adelete_bank(name)).success
