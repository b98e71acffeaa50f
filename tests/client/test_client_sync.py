"""The client library's plain methods: what goes in comes out, read by its own models."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException, NotFoundException

WHEN = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


def test_version_and_features(client: Hindsight) -> None:
    version = client.get_version()
    assert version.api_version == "1.1.0"
    features = version.features
    assert features.worker and features.store_document_text and features.bank_config_api
    assert features.file_upload_api and features.document_export_api and features.document_import_api
    assert not features.mcp and not features.observations and not features.bank_llm_health


def test_what_is_retained_is_recalled(client: Hindsight, bank: str) -> None:
    answer = client.retain(
        bank,
        "Mira planted forty tulip bulbs behind the boathouse.",
        timestamp=WHEN,
        context="garden log",
        document_id="garden/2026/may",
        metadata={"author": "Mira", "page": "7"},
        entities=[{"text": "Mira", "type": "PERSON"}],
        tags=["garden", "user:mira"],
    )
    assert answer.success and answer.bank_id == bank and answer.items_count == 1
    assert answer.var_async is False and answer.operation_id is None and answer.usage is not None
    found = client.recall(bank, "Who planted tulips?", trace=True).results
    assert "tulip" in found[0].text
    first = found[0]
    assert first.type in ("world", "experience") and first.document_id == "garden/2026/may"
    assert first.metadata == {"author": "Mira", "page": "7"} and first.context == "garden log"
    assert set(first.tags or []) == {"garden", "user:mira"} and "Mira" in (first.entities or [])
    assert first.scores is not None and first.scores.final > 0
    assert datetime.fromisoformat(first.mentioned_at or "") == WHEN


def test_a_batch_is_stored_whole(client: Hindsight, bank: str) -> None:
    items: list[dict[str, Any]] = [
        {"content": "The kiln in workshop two reaches 1280 degrees.", "tags": ["kiln"]},
        {"content": "Glazes with copper turn green in oxidation.", "timestamp": "2026-05-05T10:00:00Z"},
        {"content": "Clay body P41 shrinks eleven percent.", "timestamp": "unset", "document_id": "clay"},
    ]
    answer = client.retain_batch(bank, items, document_tags=["pottery"])
    assert answer.success and answer.items_count == 3
    listed = client.list_memories(bank)
    assert listed.total >= 3
    assert all("pottery" in (row.tags or []) for row in listed.items)
    undated = client.list_memories(bank, document_id="clay").items
    assert len(undated) >= 1 and all(row.mentioned_at is None for row in undated)


def test_suspended_retains_send_nothing(client: Hindsight, bank: str) -> None:
    with client.suspend_retains():
        assert client.retain(bank, "never sent").items_count == 0
    with pytest.raises(NotFoundException):
        client.recall(bank, "anything")


def test_every_option_of_recall(client: Hindsight, bank: str) -> None:
    client.retain_batch(
        bank,
        [
            {
                "content": "Anselm repaired the north lighthouse lamp.",
                "tags": ["a"],
                "timestamp": "2026-03-01T00:00:00Z",
            },
            {
                "content": "Berit repainted the south lighthouse.",
                "tags": ["b"],
                "timestamp": "2026-04-01T00:00:00Z",
            },
            {
                "content": "The lighthouse logbook is kept in the archive.",
                "timestamp": "2026-05-01T00:00:00Z",
            },
        ],
    )
    query = "Who worked on the lighthouse?"
    plain = client.recall(bank, query)
    assert len(plain.results) == 3
    assert plain.entities is None and plain.chunks is None and plain.trace is None

    full = client.recall(
        bank,
        query,
        types=["world", "experience"],
        max_tokens=2000,
        budget="low",
        trace=True,
        query_timestamp="2026-05-02T00:00:00Z",
        include_entities=True,
        include_chunks=True,
        include_source_facts=True,
        prefer_observations=True,
        min_scores={"final": 0.0},
        temporal_window={"start": "2026-02-15T00:00:00Z", "end": "2026-03-15T00:00:00Z"},
    )
    assert {one.document_id for one in full.results} == {one.document_id for one in plain.results}
    assert full.trace and full.chunks and full.entities
    assert any("lighthouse" in chunk.text for chunk in full.chunks.values())

    only_a = client.recall(bank, query, tags=["a"], tags_match="any_strict").results
    assert [one.tags for one in only_a] == [["a"]]
    assert len(client.recall(bank, query, tags=["a"]).results) == 2
    assert [one.tags for one in client.recall(bank, query, tags_match="exact", tags=["b"]).results] == [["b"]]
    groups = [{"or": [{"tags": ["a"]}, {"not": {"tags": ["a"], "match": "any_strict"}}]}]
    assert len(client.recall(bank, query, tag_groups=groups).results) == 3
    assert client.recall(bank, query, min_scores={"final": 1e9}).results == []
    assert client.recall(bank, query, types=["opinion"]).results == []
    assert client.recall(bank, query, max_tokens=1).results == []


def test_memories_are_listed_by_page_and_by_filter(client: Hindsight, bank: str) -> None:
    months = ("January", "February", "March")
    for number, month in enumerate(months, 1):
        client.retain(
            bank, f"The harbour froze in {month}.", timestamp=f"2026-0{number}-10T00:00:00Z", tags=[month]
        )
    pages = [client.list_memories(bank, limit=2, offset=offset) for offset in (0, 2)]
    assert [page.total for page in pages] == [3, 3] and [len(page.items) for page in pages] == [2, 1]
    assert len({row.id for page in pages for row in page.items}) == 3
    strict = client.list_memories(bank, tags=["March"], tags_match="any_strict")
    assert [row.tags for row in strict.items] == [["March"]]
    assert client.list_memories(bank, search_query="february").total == 1
    ranged = client.list_memories(
        bank, time_field="mentioned_at", start_date="2026-02-01", end_date="2026-03-01"
    )
    assert ranged.total == 1 and "February" in (ranged.items[0].text or "")
    assert client.list_memories(bank, state="invalidated").total == 0


def test_a_bank_is_made_configured_and_deleted(client: Hindsight, bank: str) -> None:
    made = client.create_bank(
        bank,
        name="Boat yard",
        mission="Remember boats.",
        disposition={"skepticism": 4, "literalism": 2, "empathy": 1},
    )
    assert (made.bank_id, made.name, made.mission) == (bank, "Boat yard", "Remember boats.")
    assert (made.disposition.skepticism, made.disposition.literalism, made.disposition.empathy) == (4, 2, 1)
    plain: Any = client  # the library annotates set_mission as a dict, and returns a profile
    assert plain.set_mission(bank, "Remember sails.").mission == "Remember sails."
    assert plain.set_reflect_mission(bank, "Remember ropes.").mission == "Remember ropes."

    changed = client.update_bank_config(bank, retain_chunk_size=1234, enable_graph_retrieval=False)
    assert changed["overrides"]["retain_chunk_size"] == 1234
    config = client.get_bank_config(bank)
    assert config["bank_id"] == bank and config["config"]["retain_chunk_size"] == 1234
    assert config["overrides"]["reflect_mission"] == "Remember ropes."
    reset = client.reset_bank_config(bank)
    assert reset["overrides"] == {} and reset["config"]["retain_chunk_size"] != 1234

    client.retain(bank, "The sloop Wanda has a new mast.")
    assert client.delete_bank(bank).success
    with pytest.raises(NotFoundException) as missing:
        client.recall(bank, "mast")
    assert f"Bank '{bank}' not found" in str(missing.value.body)


def test_files_are_retained(client: Hindsight, bank: str, tmp_path: Path) -> None:
    first, second = tmp_path / "log.txt", tmp_path / "überblick.md"
    first.write_text("The winch on pier four was replaced in June.", encoding="utf-8")
    second.write_text("# Harbour\n\nThe crane lifts nine tons.", encoding="utf-8")
    answer = client.retain_files(
        bank,
        [first, second],
        files_metadata=[{"document_id": "log", "tags": ["pier"]}, {"context": "overview"}],
    )
    assert len(answer.operation_ids) == 2


def test_a_language_model_is_asked_for_in_a_plain_sentence(client: Hindsight, bank: str) -> None:
    client.create_bank(bank)
    with pytest.raises(ApiException) as refused:
        client.reflect(bank, "What is missing?")
    assert refused.value.status == 400 and "language model" in str(refused.value.body)


def test_a_wrong_key_is_refused(server: Any, plain_loop: None, bank: str) -> None:
    with (
        Hindsight(base_url=server.url, api_key="hc_u_wrong") as stranger,
        pytest.raises(ApiException) as refused,
    ):
        stranger.recall(bank, "x")
    assert refused.value.status == 401
