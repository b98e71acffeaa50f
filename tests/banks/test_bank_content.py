"""Listing and reading memories, documents, chunks, entities, tags, graphs and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from bank_server import READER, Server
from hindsight_client_api.models.bank_stats_response import BankStatsResponse
from hindsight_client_api.models.chunk_response import ChunkResponse
from hindsight_client_api.models.delete_document_response import DeleteDocumentResponse
from hindsight_client_api.models.document_history_response import DocumentHistoryResponse
from hindsight_client_api.models.document_response import DocumentResponse
from hindsight_client_api.models.entity_detail_response import EntityDetailResponse
from hindsight_client_api.models.entity_graph_response import EntityGraphResponse
from hindsight_client_api.models.entity_list_response import EntityListResponse
from hindsight_client_api.models.graph_data_response import GraphDataResponse
from hindsight_client_api.models.list_chunks_response import ListChunksResponse
from hindsight_client_api.models.list_documents_response import ListDocumentsResponse
from hindsight_client_api.models.list_memory_units_response import ListMemoryUnitsResponse
from hindsight_client_api.models.list_tags_response import ListTagsResponse
from hindsight_client_api.models.memories_timeseries_response import MemoriesTimeseriesResponse
from hindsight_client_api.models.memory_unit_list_item import MemoryUnitListItem

from lorebank.banks.chunk_ids import bank_of_chunk
from lorebank.errors import BadRequest, InvalidInput, NotFound

PARIS = {
    "content": "Ada met Grace in Paris on 3 March 2024.",
    "document_id": "trip/paris",
    "tags": ["public", "travel"],
    "context": "holiday",
    "metadata": {"source": "letter"},
    "entities": [{"text": "Ada"}, {"text": "Grace"}, {"text": "Paris"}],
}
WORK = {
    "content": "Ada maintains the compiler of the Babbage project.",
    "document_id": "work",
    "tags": ["secret"],
    "entities": [{"text": "Ada"}, {"text": "Babbage"}],
}


@pytest.fixture
def filled(server: Server) -> Server:
    """A bank that the test may change."""
    server.retain("b", PARIS, WORK)
    return server


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The same bank, for tests that only read."""
    opened = Server(tmp_path_factory.mktemp("library") / "data")
    opened.retain("b", PARIS, WORK)
    yield opened
    opened.close()


def test_the_memory_listing_has_the_wire_shape(library: Server) -> None:
    listed = ListMemoryUnitsResponse.from_dict(library.call("list_memories", "b"))
    assert listed is not None and listed.total == len(listed.items) >= 2
    paris = next(item for item in listed.items if "Paris" in (item.text or ""))
    assert {"Ada", "Grace", "Paris"} <= set((paris.entities or "").split(", "))
    assert paris.tags == ["public", "travel"] and paris.metadata == {"source": "letter"}
    assert paris.context == "holiday" and paris.document_id == "trip/paris" and paris.state == "valid"
    assert paris.chunk_id is not None and bank_of_chunk(paris.chunk_id) == "b"


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"q": "PARIS"}, {"trip/paris"}),
        ({"q": "holiday"}, {"trip/paris"}),
        ({"document_id": "work"}, {"work"}),
        ({"tags": ["secret"], "tags_match": "any_strict"}, {"work"}),
        ({"tags": ["public"], "tags_match": "all"}, {"trip/paris"}),
        ({"type": "observation"}, set()),
        ({"state": "invalidated"}, set()),
        ({"consolidation_state": "failed"}, set()),
        ({"consolidation_state": "pending"}, {"trip/paris", "work"}),
        ({"start_date": "2999-01-01", "time_field": "created_at"}, set()),
        ({"end_date": "2999-01-01", "time_field": "created_at"}, {"trip/paris", "work"}),
        (
            {"start_date": "2024-03-01", "end_date": "2024-03-31", "time_field": "occurred_start"},
            {"trip/paris"},
        ),
    ],
)
def test_each_filter_of_the_memory_listing_works(
    library: Server, params: dict[str, Any], found: set[str]
) -> None:
    answer = library.call("list_memories", "b", **params)
    assert {item["document_id"] for item in answer["items"]} == found
    assert answer["total"] == len(answer["items"])


def test_memories_can_be_listed_by_entity_and_paged(library: Server) -> None:
    entities = {e["canonical_name"]: e["id"] for e in library.call("list_entities", "b")["items"]}
    by_grace = library.memories("b", entity_id=entities["Grace"])
    assert {item["document_id"] for item in by_grace} == {"trip/paris"}
    everything = library.memories("b")
    paged = [library.memories("b", limit=1, offset=i)[0]["id"] for i in range(len(everything))]
    assert paged == [item["id"] for item in everything]
    empty = library.call("list_memories", "b", limit=0)
    assert (empty["items"], empty["total"]) == ([], len(everything))


def test_an_edited_memory_shows_what_it_was(filled: Server) -> None:
    memory = filled.memories("b", document_id="work")[0]
    filled.call("update_memory", "b", {"text": "Ada left the Babbage project."}, memory_id=memory["id"])
    detail = filled.call("get_memory", "b", memory_id=memory["id"])
    assert MemoryUnitListItem.from_dict(detail) is not None
    assert detail["text"] == "Ada left the Babbage project." and detail["edited_at"] is not None
    [before] = detail["history"]
    assert before["previous_text"] == memory["text"] and before["previous_created_at"] == memory["created_at"]
    assert filled.call("get_observation_history", "b", memory_id=memory["id"]) == [before]


def test_invalidated_memories_are_listed_only_on_request(filled: Server) -> None:
    memory = filled.memories("b", document_id="work")[0]
    filled.call("update_memory", "b", {"state": "invalidated", "reason": "wrong"}, memory_id=memory["id"])
    assert memory["id"] not in {item["id"] for item in filled.memories("b")}
    [gone] = filled.memories("b", state="invalidated")
    assert (gone["id"], gone["invalidation_reason"]) == (memory["id"], "wrong")


def test_odd_memory_ids_are_bad_and_unknown_ones_are_missing(library: Server) -> None:
    for operation in ("get_memory", "get_observation_history"):
        with pytest.raises(BadRequest, match="memory_id"):
            library.call(operation, "b", memory_id="../etc")
        with pytest.raises(NotFound, match="Memory"):
            library.call(operation, "b", memory_id="00000000-0000-0000-0000-000000000000")


def test_clearing_memories_keeps_documents(filled: Server) -> None:
    count = filled.call("list_memories", "b")["total"]
    assert filled.call("clear_bank_memories", "b", type="observation")["deleted_count"] == 0
    assert filled.call("clear_bank_memories", "b")["deleted_count"] == count
    assert filled.call("list_memories", "b")["total"] == 0
    assert filled.call("list_documents", "b")["total"] == 2


# documents


def test_the_document_listing_has_the_wire_shape(library: Server) -> None:
    listed = ListDocumentsResponse.from_dict(library.call("list_documents", "b"))
    assert listed is not None and listed.total == 2
    paris = next(item for item in listed.items if item.id == "trip/paris")
    assert paris.text_length == len(PARIS["content"]) and paris.memory_unit_count == 1
    assert paris.bank_id == "b" and paris.tags == ["public", "travel"]


def test_a_document_search_says_where_it_matched(library: Server) -> None:
    found = library.call("list_documents", "b", q="paris")
    assert [(item["id"], sorted(item["matched_fields"])) for item in found["items"]] == [
        ("trip/paris", ["id", "original_text"])
    ]
    [work] = library.call("list_documents", "b", q="compiler")["items"]
    assert work["matched_fields"] == ["original_text"]
    assert library.call("list_documents", "b", q="nowhere")["total"] == 0


def test_documents_are_filtered_strictly_unless_asked(filled: Server) -> None:
    filled.retain(
        "b", {"content": "Nothing is tagged here but the weather was nice.", "document_id": "plain"}
    )
    strict = filled.call("list_documents", "b", tags=["public"])
    assert [item["id"] for item in strict["items"]] == ["trip/paris"]
    loose = filled.call("list_documents", "b", tags=["public"], tags_match="all", limit=500, offset=0)
    assert {item["id"] for item in loose["items"]} == {"trip/paris", "plain"}
    assert filled.call("list_documents", "b", start_date="2999-01-01", time_field="updated_at")["total"] == 0


def test_a_document_comes_with_text_chunks_and_history(library: Server) -> None:
    document = DocumentResponse.from_dict(library.call("get_document", "b", document_id="trip/paris"))
    assert document is not None and document.original_text == PARIS["content"]
    assert sum((document.nodes_by_fact_type or {}).values()) == 1
    chunks = ListChunksResponse.from_dict(library.call("list_document_chunks", "b", document_id="trip/paris"))
    assert chunks is not None and chunks.items[0].chunk_text == PARIS["content"]
    history = DocumentHistoryResponse.from_dict(
        library.call("get_document_history", "b", document_id="trip/paris")
    )
    assert history is not None and [event.kind for event in history.items] == ["retain"]


def test_a_chunk_is_found_by_its_id_alone(server: Server) -> None:
    server.retain("team/ä: 100%", PARIS)
    chunk_id = server.memories("team/ä: 100%")[0]["chunk_id"]
    chunk = ChunkResponse.from_dict(server.call("get_chunk", chunk_id=chunk_id))
    assert chunk is not None and chunk.bank_id == "team/ä: 100%" and chunk.chunk_text == PARIS["content"]
    for unknown in ("x", "nope:doc:0", chunk_id + "0", "%:d:0", ":::"):
        with pytest.raises(NotFound):
            server.call("get_chunk", chunk_id=unknown)


def test_a_document_without_kept_text_has_null_text(server: Server) -> None:
    server.call("update_bank_config", "b", {"updates": {"store_document_text": False}})
    server.retain("b", PARIS)
    assert server.call("get_document", "b", document_id="trip/paris")["original_text"] is None


def test_retagging_a_document_reaches_its_memories(filled: Server) -> None:
    assert filled.call("update_document", "b", {"tags": ["z", "a"]}, document_id="work") == {"success": True}
    assert filled.call("get_document", "b", document_id="work")["tags"] == ["a", "z"]
    assert filled.memories("b", document_id="work")[0]["tags"] == ["a", "z"]
    kinds = [e["kind"] for e in filled.call("get_document_history", "b", document_id="work")["items"]]
    assert kinds == ["retag", "retain"]
    filled.call("update_document", "b", {"observation_scopes": [["a"]]}, document_id="work")
    assert filled.call("get_document", "b", document_id="work")["observation_scopes"] == [["a"]]


def test_retagging_keeps_the_mark_of_undecided_labels(server: Server) -> None:
    labels = [{"key": "mood", "tag": True, "values": [{"value": "glad"}, {"value": "sad"}]}]
    server.call("update_bank_config", "b", {"updates": {"entity_labels": labels}})
    server.retain(
        "b", {"content": "Ada repaired the engine in April 2024.", "document_id": "d", "tags": ["old"]}
    )
    assert "labels:pending" in server.memories("b")[0]["tags"]
    server.call("update_document", "b", {"tags": ["new"]}, document_id="d")
    assert server.memories("b")[0]["tags"] == ["labels:pending", "new"]
    with pytest.raises(BadRequest, match="labels:pending"):
        server.call("update_document", "b", {"tags": ["labels:pending"]}, document_id="d")


def test_a_document_update_needs_a_field_and_a_document(filled: Server) -> None:
    with pytest.raises(InvalidInput):
        filled.call("update_document", "b", {}, document_id="work")
    with pytest.raises(InvalidInput, match="No fields to update"):
        filled.call("update_document", "b", {"tags": None}, document_id="work")
    with pytest.raises(NotFound, match="Document 'nope'"):
        filled.call("update_document", "b", {"tags": ["a"]}, document_id="nope")


def test_deleting_a_document_takes_its_memories(filled: Server) -> None:
    gone = DeleteDocumentResponse.from_dict(filled.call("delete_document", "b", document_id="work"))
    assert gone is not None and gone.memory_units_deleted == 1
    assert {item["document_id"] for item in filled.memories("b")} == {"trip/paris"}
    for operation in ("delete_document", "get_document", "list_document_chunks", "get_document_history"):
        with pytest.raises(NotFound):
            filled.call(operation, "b", document_id="work")


# entities and tags


def test_entities_are_listed_and_read(library: Server) -> None:
    listed = EntityListResponse.from_dict(library.call("list_entities", "b"))
    assert (
        listed is not None and listed.items[0].canonical_name == "Ada" and listed.items[0].mention_count == 2
    )
    detail = EntityDetailResponse.from_dict(library.call("get_entity", "b", entity_id=listed.items[0].id))
    assert detail is not None and len(detail.observations) == 2
    only = library.call("list_entities", "b", tags=["secret"], tags_match="any_strict")
    assert {e["canonical_name"] for e in only["items"]} == {"Ada", "Babbage"}


@pytest.mark.parametrize("entity_id", ["nope", "../x", "00000000-0000-0000-0000-000000000000", "é" * 100])
def test_an_entity_id_of_any_form_that_names_none_is_missing(library: Server, entity_id: str) -> None:
    with pytest.raises(NotFound):
        library.call("get_entity", "b", entity_id=entity_id)


def test_the_entity_graph_joins_what_is_named_together(library: Server) -> None:
    graph = EntityGraphResponse.from_dict(library.call("get_entity_graph", "b"))
    assert graph is not None
    names = {node.data.id: node.data.label for node in graph.nodes}
    pairs = {frozenset((names[e.data.source], names[e.data.target])) for e in graph.edges}
    assert frozenset(("Ada", "Grace")) in pairs and frozenset(("Grace", "Babbage")) not in pairs
    assert graph.total_edges == len(graph.edges) and graph.total_entities == len(graph.nodes)
    assert library.call("get_entity_graph", "b", min_count=2)["edges"] == []
    few = library.call("get_entity_graph", "b", limit=1)
    ends = {few["edges"][0]["data"][end] for end in ("source", "target")}
    assert len(few["edges"]) == 1 and ends <= {node["data"]["id"] for node in few["nodes"]}


def test_tags_are_counted_and_searched(library: Server) -> None:
    listed = ListTagsResponse.from_dict(library.call("list_tags", "b"))
    assert listed is not None and {item.tag: item.count for item in listed.items} == {
        "public": 1, "secret": 1, "travel": 1,
    }  # fmt: skip
    assert [item["tag"] for item in library.call("list_tags", "b", q="TRA*")["items"]] == ["travel"]
    assert library.call("list_tags", "b", source="mental_models")["items"] == []


# graph and numbers


def test_the_memory_graph_joins_memories_that_share_an_entity(library: Server) -> None:
    answer = library.call("get_graph", "b")
    graph = GraphDataResponse.from_dict(answer)
    assert graph is not None and graph.total_units == len(graph.nodes) == len(graph.table_rows) == 2
    [edge] = [e.data for e in graph.edges if e.data.link_type == "entity"]
    assert edge.entity_name == "Ada" and edge.source != edge.target
    assert library.call("get_graph", "b", limit=1)["edges"] == []
    assert library.call("get_graph", "b", tags=["secret"])["total_units"] == 1
    assert library.call("get_graph", "b", document_id="work")["total_units"] == 1


def test_edges_stay_few_when_many_memories_share_an_entity(server: Server) -> None:
    texts = [f"Ada visited town number {i} by train." for i in range(30)]
    server.retain("b", *({"content": text, "entities": [{"text": "Ada"}]} for text in texts))
    shared = [e for e in server.call("get_graph", "b")["edges"] if e["data"]["entityName"] == "Ada"]
    assert 29 <= len(shared) <= 3 * 30


def test_stats_count_everything_exactly(filled: Server) -> None:
    answer = filled.call("get_agent_stats", "b", refresh=True)
    stats = BankStatsResponse.from_dict(answer)
    assert stats is not None and stats.total_nodes == sum(stats.nodes_by_fact_type.values()) == 2
    assert stats.total_documents == 2 and stats.pending_operations == 0 and stats.last_memory_write_at
    filled.call("delete_document", "b", document_id="work")
    assert filled.call("get_agent_stats", "b")["total_nodes"] == 1
    filled.call("retain_memories", "b", {"items": [{"content": "Grace likes tea."}], "async": True})
    assert filled.call("get_agent_stats", "b")["pending_operations"] == 1


@pytest.mark.parametrize(
    ("period", "trunc", "buckets"),
    [
        ("1h", "minute", 61),
        ("12h", "hour", 13),
        ("1d", "hour", 25),
        ("7d", "day", 8),
        ("30d", "day", 31),
        ("90d", "day", 91),
    ],
)
def test_time_series_have_every_bucket(library: Server, period: str, trunc: str, buckets: int) -> None:
    answer = library.call("get_memories_timeseries", "b", period=period)
    series = MemoriesTimeseriesResponse.from_dict(answer)
    assert series is not None and series.trunc == trunc and series.buckets is not None
    assert len(series.buckets) == buckets
    totals = [(b.world or 0) + (b.experience or 0) + (b.observation or 0) for b in series.buckets]
    assert sum(totals) == 2 and sum(totals[-2:]) == 2
    times = [datetime.fromisoformat(b.time) for b in series.buckets]
    assert {b - a for a, b in pairwise(times)} <= {
        timedelta(minutes=1), timedelta(hours=1), timedelta(days=1),
    }  # fmt: skip
    assert times == sorted(times) and times[-1] <= datetime.now(UTC)


def test_an_unknown_period_is_refused(library: Server) -> None:
    with pytest.raises(BadRequest, match="period"):
        library.call("get_memories_timeseries", "b", period="2h")


# what a caller may not see


def test_what_the_filter_hides_is_nowhere(filled: Server) -> None:
    secret = filled.memories("b", document_id="work")[0]
    answers = [
        filled.call("list_memories", "b", who=READER),
        filled.call("list_documents", "b", who=READER),
        filled.call("list_entities", "b", who=READER),
        filled.call("get_entity_graph", "b", who=READER),
        filled.call("get_graph", "b", who=READER),
        filled.call("list_tags", "b", who=READER),
    ]
    told = repr(answers)
    for word in ("compiler", "Babbage", "secret", "work", secret["id"], secret["chunk_id"]):
        assert word not in told
    stats = filled.call("get_agent_stats", "b", who=READER)
    assert (stats["total_nodes"], stats["total_documents"]) == (1, 1)
    for operation, params in (
        ("get_memory", {"memory_id": secret["id"]}),
        ("get_document", {"document_id": "work"}),
        ("list_document_chunks", {"document_id": "work"}),
        ("get_document_history", {"document_id": "work"}),
        ("delete_document", {"document_id": "work"}),
        ("get_chunk", {"chunk_id": secret["chunk_id"]}),
    ):
        with pytest.raises(NotFound):
            filled.call(operation, None if operation == "get_chunk" else "b", who=READER, **params)
    assert filled.call("clear_bank_memories", "b", who=READER)["deleted_count"] == 1
    assert [item["id"] for item in filled.memories("b")] == [secret["id"]]
