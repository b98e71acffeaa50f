"""Other models, models that fail and models that are missing: nothing is mixed, hidden or lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from embeddings import Embeddings
from live_server import Client, Server, bank_path, until

MANY = 300


@pytest.fixture
def embeddings() -> Iterator[Embeddings]:
    with Embeddings() as running:
        yield running


def _many(client: Client, bank: str = "a", count: int = MANY) -> None:
    items = [
        {"content": f"Warden {n} keeps relic mark{n:04d} in the cellar.", "document_id": f"d{n}"}
        for n in range(count)
    ]
    client.retain(bank, *items)


def _ask(client: Client, query: str, **options: Any) -> Any:
    path = bank_path("a", "/memories/recall")
    return client.request("POST", path, {"query": query, "trace": True, **options}).ok()


def test_another_embedder_takes_over_in_place_while_every_question_is_answered(
    make_server: Callable[..., Server], embeddings: Embeddings
) -> None:
    with make_server(**embeddings.settings()).start() as server:
        client = server.client()
        _many(client)
        client.settled()
        before = {row["id"]: row["text"] for row in client.memories("a")}
        embeddings.wait_s = 0.1
        started = client.request("POST", "/v1/lorebank/reembed", {"to": "hosted"}).ok()
        answered = 0

        def ended() -> bool:
            nonlocal answered
            answer = _ask(client, "Who keeps mark0042?")
            assert any("mark0042" in row["text"] for row in answer["results"])
            assert "degraded" not in answer
            answered += 1
            task = client.get(f"/v1/lorebank/tasks/{started['operation_id']}")
            return bool(task["status"] == "completed")

        until(ended, "the re-embed")
        assert answered > 1
        assert embeddings.texts >= MANY
        assert {row["id"]: row["text"] for row in client.memories("a")} == before
        assert client.bank("a", "/stats")["pending_vectors"] == 0


def test_a_memory_can_be_invalidated_and_restored_after_a_change_of_models(
    make_server: Callable[..., Server], embeddings: Embeddings
) -> None:
    with make_server(**embeddings.settings()).start() as server:
        client = server.client()
        _many(client, count=5)
        client.settled()
        (row,) = client.memories("a", document_id="d3")
        path = bank_path("a", f"/memories/{row['id']}")
        client.request("PATCH", path, {"state": "invalidated", "reason": "wrong"}).ok()
        client.task("/v1/lorebank/reembed", {"to": "hosted"})
        assert not any("mark0003" in r["text"] for r in client.recall("a", "mark0003"))
        client.request("PATCH", path, {"state": "valid"}).ok()
        client.settled()
        assert "mark0003" in client.recall("a", "mark0003")[0]["text"]
        client.request("PATCH", path, {"state": "invalidated", "reason": "again"}).ok()
        client.doctor()


def test_another_model_of_the_same_width_is_told_apart_and_never_mixed(
    make_server: Callable[..., Server], embeddings: Embeddings
) -> None:
    server = make_server(**embeddings.settings("first", LOREBANK_EMBEDDER="hosted")).start()
    client = server.client()
    _many(client, count=20)
    client.settled()
    server.stop()
    server.settings |= embeddings.settings("second", LOREBANK_EMBEDDER="hosted")
    client = server.start().client()
    answer = _ask(client, "Who keeps mark0007?")
    assert "semantic" in answer["degraded"], "old vectors and a new question do not meet in silence"
    assert "mark0007" in answer["results"][0]["text"], "keywords answer"
    client.task("/v1/lorebank/reembed", {})
    answer = _ask(client, "Who keeps mark0007?")
    assert "degraded" not in answer
    assert answer["results"][0]["scores"]["semantic"] is not None
    server.stop()


def test_a_wrong_dimension_is_an_error_that_names_both_sizes_and_no_empty_success(
    make_server: Callable[..., Server], embeddings: Embeddings
) -> None:
    settings = embeddings.settings(LOREBANK_EMBEDDER="hosted", LOREBANK_EMBED_DIMENSION="24")
    with make_server(**settings).start() as server:
        client = server.client()
        _many(client, count=3)
        until(lambda: "vectors wait" in server.log, "the reason in the log")
        assert "16" in server.log and "24" in server.log
        answer = _ask(client, "Who keeps mark0001?")
        assert "mark0001" in answer["results"][0]["text"]
        assert "semantic" in answer["degraded"]


def test_vectors_are_made_up_for_after_an_outage_without_a_new_write(
    make_server: Callable[..., Server], embeddings: Embeddings
) -> None:
    with make_server(**embeddings.settings(LOREBANK_EMBEDDER="hosted")).start() as server:
        embeddings.status = 503
        client = server.client()
        _many(client, count=4)
        until(lambda: "vectors wait" in server.log, "the first failure")
        assert client.bank("a", "/stats")["pending_vectors"] == 4
        assert client.recall("a", "mark0002")
        embeddings.status = 200
        until(lambda: not client.bank("a", "/stats")["pending_vectors"], "the backlog")


def test_a_server_without_weights_and_network_starts_and_finds_by_keyword(
    make_server: Callable[..., Server], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    with make_server(LOREBANK_WEIGHTS_DIR=str(tmp_path / "empty")).start() as server:
        client = server.client()
        _many(client, count=3)
        for budget in ("mid", "high"):
            answer = _ask(client, "Who keeps mark0001?", budget=budget)
            assert "mark0001" in answer["results"][0]["text"]
            assert "semantic" in answer["degraded"]
        embedder = client.get("/v1/lorebank/status")["models"]["embedder"]
        assert embedder["state"] != "ready"
        assert embedder["reason"]
        assert str(tmp_path) not in embedder["reason"]
