"""The wire as clients know it: ids, ignored fields, status codes, compression, request ids."""

from __future__ import annotations

import gzip
import json
import threading
from typing import Any
from urllib.parse import quote

import anyio
import anyio.to_thread
import httpx
import pytest

from lorebank.banks.transfer.keys import file_key
from lorebank.errors import (
    BadRequest,
    Bug,
    Conflict,
    Corrupt,
    FieldProblem,
    Forbidden,
    Gone,
    InvalidInput,
    LimitExceeded,
    LorebankError,
    NeedsLLM,
    NotFound,
    Unavailable,
)
from lorebank.service.answers import FileAnswer, Status, Text

BANK = "/v1/default/banks/team"
IDS = [
    "a",
    "A",
    "a1",
    "a/..",
    "a%",
    "a%2F",
    "x/y",
    "tenant::team",
    "emoji 🦉",
    "..",
    ".",
    "é",
    "a?b#c",
    "a+b",
]


@pytest.mark.parametrize("bank_id", [*IDS, "ü" * 2048])
async def test_a_bank_id_arrives_as_it_was_meant(stage: Any, bank_id: str) -> None:
    url = f"/v1/default/banks/{quote(bank_id, safe='')}/stats"
    answer = await stage.exact("GET", url)
    assert answer.status == 200
    assert stage.calls[0].grant.bank == bank_id


@pytest.mark.parametrize("document_id", [*IDS, "a/b/c", "chat/chunks", "chat/history"])
async def test_a_document_id_arrives_as_it_was_meant(stage: Any, document_id: str) -> None:
    for rest in ("", "/chunks"):
        await stage.exact("GET", f"{BANK}/documents/{quote(document_id, safe='')}{rest}")
    assert [call.params["document_id"] for call in stage.calls] == [document_id, document_id]
    assert "limit" not in stage.calls[0].params and stage.calls[1].params["limit"] == 100


async def test_a_document_id_may_be_sent_with_plain_slashes(stage: Any) -> None:
    async with stage.client() as client:
        await client.get(f"{BANK}/documents/2026/notes/may.md")
        await client.get(f"{BANK}/documents/2026/notes/may.md/history")
        await client.delete(f"{BANK}/documents/2026/notes/may.md")
    assert {call.params["document_id"] for call in stage.calls} == {"2026/notes/may.md"}


async def test_names_of_collections_are_not_taken_for_ids(stage: Any) -> None:
    async with stage.client() as client:
        await client.get(f"{BANK}/memories/list")
        await client.get(f"{BANK}/entities/graph")
        await client.get(f"{BANK}/memories/3f2b")
    assert ["memory_id" in call.params for call in stage.calls] == [False, False, True]


async def test_composed_and_decomposed_ids_are_one(stage: Any) -> None:
    async with stage.client() as client:
        await client.get("/v1/default/banks/caf%C3%A9/documents/caf%C3%A9")
        await client.get("/v1/default/banks/cafe%CC%81/documents/cafe%CC%81")
    assert len({(call.grant.bank, call.params["document_id"]) for call in stage.calls}) == 1


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/default/banks/a%00b/stats", "bank_id"),
        ("/v1/default/banks/%20/stats", "bank_id"),
        ("/v1/default/banks/" + "a" * 4097 + "/stats", "bank_id"),
        (f"{BANK}/documents/a%0Ab", "document_id"),
        (f"{BANK}/documents/", "document_id"),
        (f"{BANK}/documents/" + "a" * 4097, "document_id"),
    ],
)
async def test_an_impossible_id_is_refused_by_name(stage: Any, path: str, field: str) -> None:
    answer = await stage.exact("GET", path)
    assert answer.status == 400
    assert field in answer.json()["detail"] and not stage.calls


async def test_a_path_that_is_no_utf8_is_refused(stage: Any) -> None:
    answer = await stage.exact("GET", "/v1/default/banks/%ff/stats")
    assert answer.status == 422
    assert answer.json()["detail"][0]["loc"] == ["path", "bank_id"]


async def test_unknown_fields_are_named_in_a_header_and_otherwise_ignored(stage: Any) -> None:
    body = {"query": "x", "colour": 1, "include": {"chunks": {"size": 1}, "pictures": {}}}
    async with stage.client() as client:
        answer = await client.post(f"{BANK}/memories/recall?verbose=1", json=body)
        wrong = await client.post(f"{BANK}/memories/recall", json={"query": 5.5, "colour\n": 1})
        clean = await client.post(f"{BANK}/memories/recall", json={"query": "x"})
    names = answer.headers["X-Ignored-Params"].split(", ")
    assert sorted(names) == ["colour", "include.chunks.size", "include.pictures", "verbose"]
    assert wrong.status_code == 422 and wrong.headers["X-Ignored-Params"].startswith("colour")
    assert "X-Ignored-Params" not in clean.headers


ERRORS: list[tuple[LorebankError, int]] = [
    (InvalidInput("the answer is no"), 422),
    (BadRequest("no"), 400),
    (NeedsLLM("no"), 400),
    (Forbidden("no"), 403),
    (NotFound("Bank 'x' not found"), 404),
    (Conflict("no"), 409),
    (Gone("no"), 410),
    (LimitExceeded("no"), 429),
    (Unavailable("no"), 503),
    (Corrupt("no"), 500),
    (Bug("no"), 500),
]


@pytest.mark.parametrize(("error", "status"), ERRORS, ids=[type(error).__name__ for error, _ in ERRORS])
async def test_errors_carry_their_status_and_a_plain_detail(
    stage: Any, error: LorebankError, status: int
) -> None:
    stage.answer = _raiser(error)
    async with stage.client() as client:
        answer = await client.get(f"{BANK}/stats")
    assert answer.status_code == status
    assert answer.json() == {"detail": error.message}
    assert ("Retry-After" in answer.headers) is (status in (429, 503))


async def test_a_wrong_field_is_told_as_the_client_library_reads_it(stage: Any) -> None:
    stage.answer = _raiser(InvalidInput("no", fields=[FieldProblem(("body", "items", 0), "is bad", "bad")]))
    async with stage.client() as client:
        answer = await client.get(f"{BANK}/stats")
    assert answer.status_code == 422
    assert answer.json() == {"detail": [{"loc": ["body", "items", 0], "msg": "is bad", "type": "bad"}]}


async def test_a_mistake_of_ours_says_nothing_of_the_inside(
    stage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    stage.answer = _raiser(RuntimeError("secret /srv/data/token"))
    async with stage.client() as client:
        answer = await client.get(f"{BANK}/stats", headers={"X-Request-Id": "find-me"})
    assert answer.status_code == 500
    assert "secret" not in answer.text and "Traceback" not in answer.text
    assert "find-me" in answer.json()["detail"]
    logged = next(one.getMessage() for one in caplog.records if one.levelname == "ERROR")
    assert "find-me" in logged and "RuntimeError" in logged and "test_wire.py" in logged
    assert "secret" not in logged and "/srv" not in logged


async def test_unknown_paths_and_methods_answer_in_json(stage: Any) -> None:
    async with stage.client() as client:
        missing = await client.get("/v1/nothing")
        method = await client.post("/health")
    assert (missing.status_code, missing.json()) == (404, {"detail": "Not Found"})
    assert (method.status_code, method.json()) == (405, {"detail": "Method Not Allowed"})
    assert "GET" in method.headers["Allow"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "profile"),
        ("POST", "background"),
        ("POST", "entities/e1/regenerate"),
        ("GET", "document-transfer"),
    ],
)
async def test_retired_routes_say_so(stage: Any, method: str, path: str) -> None:
    async with stage.client() as client:
        answer = await client.request(method, f"{BANK}/{path}")
    assert answer.status_code == 410
    assert "retired" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "reflect"), ("GET", "mental-models"), ("POST", "webhooks"), ("GET", "knowledge-base/tree")],
)
async def test_what_needs_a_language_model_answers_400_with_a_sentence(
    stage: Any, method: str, path: str
) -> None:
    async with stage.client() as client:
        answer = await client.request(method, f"{BANK}/{path}", json={"query": "x"})
    assert answer.status_code == 400
    assert "language model" in answer.json()["detail"]


async def test_answers_over_a_kilobyte_are_compressed_when_the_client_takes_it(stage: Any) -> None:
    stage.answer = lambda call: {"text": "x" * 5000}
    async with stage.client() as client:
        packed = await _raw(client, {"Accept-Encoding": "gzip, deflate"})
        plain = await _raw(client, {"Accept-Encoding": "identity"})
        refused = await _raw(client, {"Accept-Encoding": "br, gzip;q=0"})
        stage.answer = lambda call: {"text": "x" * 900}
        small = await _raw(client, {"Accept-Encoding": "gzip"})
    assert packed[0]["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed[1])) == json.loads(plain[1])
    assert int(packed[0]["content-length"]) == len(packed[1]) < 200
    for headers, _ in (plain, refused, small):
        assert "content-encoding" not in headers
    assert packed[0]["vary"] == plain[0]["vary"] == "Accept-Encoding"


async def test_every_answer_carries_a_request_id(stage: Any) -> None:
    async with stage.client() as client:
        made = [(await client.get("/health")).headers["X-Request-Id"] for _ in range(2)]
        echoed = await client.get("/v1/nothing", headers={"X-Request-Id": "req-7.a_b"})
        replaced = await client.get("/health", headers={"X-Request-Id": "bad id\x7f"})
    assert len(set(made)) == 2
    assert echoed.headers["X-Request-Id"] == "req-7.a_b"
    assert replaced.headers["X-Request-Id"] != "bad id\x7f"


async def test_statuses_of_their_own(stage: Any) -> None:
    async with stage.client() as client:
        alias = await client.post(f"{BANK}/aliases", json={"alias": "b"})
        clone = await client.post(f"{BANK}/clone?target_bank_id=c")
        stage.answer = lambda call: Status(503, {"status": "unhealthy"})
        own = await client.get(f"{BANK}/stats")
        stage.answer = lambda call: Text("a 1\n")
        text = await client.get("/v1/bank-template-schema")
    assert (alias.status_code, clone.status_code, own.status_code) == (201, 202, 503)
    assert text.headers["content-type"].startswith("text/plain") and text.text == "a 1\n"


async def test_a_file_is_streamed_and_its_source_closed(stage: Any) -> None:
    closed = []

    def chunks() -> Any:
        try:
            yield b"one"
            yield b"two"
        finally:
            closed.append(True)

    stage.answer = lambda call: FileAnswer(chunks(), 'a "b".zip', "application/zip", 6)
    async with stage.client() as client:
        answer = await client.get(f"/v1/default/files/download/{file_key('x/y', 'e.zip')}")
    assert answer.content == b"onetwo" and closed == [True]
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''a%20%22b%22.zip"


async def test_a_chunk_and_a_file_are_looked_for_in_the_bank_that_their_name_says(stage: Any) -> None:
    async with stage.client() as client:
        await client.get(f"/v1/default/chunks/{quote('a%2Fb:doc/1:0', safe='')}")
        nowhere = await client.get("/v1/default/chunks/nothing")
        no_file = await client.get("/v1/default/files/download/nothing")
    assert stage.calls[0].grant.bank == "a/b"
    assert stage.calls[0].params["chunk_id"] == "a%2Fb:doc/1:0"
    assert (nowhere.status_code, nowhere.json()["detail"]) == (404, "Chunk 'nothing' not found")
    assert no_file.status_code == 404


async def test_version_tells_clients_what_they_compare(stage: Any) -> None:
    async with stage.client(key=None) as client:
        version = (await client.get("/version")).json()
        same = (await client.get("/v1/version")).json()
        live = (await client.get("/health/live")).json()
        health = await client.get("/health")
        ready = await client.get("/health/ready")
    assert version["api_version"] == "1.1.0" and version == same
    assert len(version["features"]) == 11 and all(isinstance(v, bool) for v in version["features"].values())
    assert live["status"] == "alive" and live["uptime_seconds"] == 5
    assert (health.status_code, health.json()["status"]) == (200, "healthy")
    assert ready.status_code == 200


def _raiser(error: Exception) -> Any:
    def answer(call: Any) -> Any:
        raise error

    return answer


async def _raw(client: httpx.AsyncClient, headers: dict[str, str]) -> tuple[dict[str, str], bytes]:
    async with client.stream("GET", f"{BANK}/stats", headers=headers) as answer:
        body = b"".join([part async for part in answer.aiter_raw()])
        return {name.lower(): value for name, value in answer.headers.items()}, body


async def test_health_answers_while_all_threads_are_busy(stage: Any) -> None:
    free, waiting = threading.Event(), threading.Semaphore(0)

    def block(call: Any) -> Any:
        waiting.release()
        free.wait(10)
        return {}

    stage.answer = block
    async with stage.client() as client, anyio.create_task_group() as group:
        for _ in range(70):
            group.start_soon(client.get, f"{BANK}/stats")
        for _ in range(64):
            await anyio.to_thread.run_sync(waiting.acquire, limiter=anyio.CapacityLimiter(1))
        health = await client.get("/health")
        free.set()
    assert health.status_code == 200
    assert len(stage.calls) == 70
