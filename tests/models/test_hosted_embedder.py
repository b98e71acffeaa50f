"""A hosted embedder against a scripted server: retries, limits, validation, and a key that is never told."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import numpy as np
import pytest

from lorebank.errors import InvalidInput, Unavailable
from lorebank.models.providers.http_call import CallPolicy, retry_after_s
from lorebank.models.providers.openai_compatible import hosted_embedder
from lorebank.models.service import EmbedService
from lorebank.models.workers import WorkerPool

KEY = "sk-very-secret-value"
QUICK = CallPolicy(deadline_s=2.0, attempts=3, pause_s=0.001, max_bytes=20_000)


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0


class ScriptedServer(ThreadingHTTPServer):
    """Answers with the given replies in order (the last one again and again) and keeps the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ScriptedHandler)
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class ScriptedHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = cast("ScriptedServer", self.server)
        body = self.rfile.read(int(self.headers["content-length"]))
        server.requests.append({"path": self.path, **json.loads(body)})
        server.keys.append(self.headers["authorization"])
        reply = server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]
        if reply.wait_s:
            server.released.wait(reply.wait_s)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        try:
            self.wfile.write(reply.body)
        except OSError:
            self.close_connection = True  # the client has hung up, as some tests want

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the tests read `requests`."""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as one:
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield one
        one.released.set()
        one.shutdown()
        thread.join()


def embed(server: ScriptedServer, texts: list[str], **changed: Any) -> Any:
    options: dict[str, Any] = {"dimension": 2, "policy": QUICK} | changed
    source = hosted_embedder(base_url=server.base_url, api_key=KEY, model="small", **options)
    return source.load().embed_documents(texts)


def vectors(*rows: list[float], **headers: str) -> Reply:
    items = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
    return Reply(body=json.dumps({"data": items}).encode(), headers=headers)


def refusal(server: ScriptedServer, texts: list[str], **changed: Any) -> str:
    """The public message of the failure; also proves that the key is in no part of the error."""
    with pytest.raises(Unavailable) as caught:
        embed(server, texts, **changed)
    assert KEY not in repr(caught.value) + str(caught.value.cause) + str(caught.value.__cause__)
    return caught.value.message


def test_vectors_come_back_normalised_and_in_order(server: ScriptedServer) -> None:
    items = [{"index": 1, "embedding": [0, 5]}, {"index": 0, "embedding": [3, 4]}]
    server.replies = [Reply(body=json.dumps({"data": items}).encode())]
    np.testing.assert_allclose(embed(server, ["a", "b"]), [[0.6, 0.8], [0.0, 1.0]], rtol=1e-6)
    request = {"path": "/v1/embeddings", "model": "small", "input": ["a", "b"], "encoding_format": "float"}
    assert server.requests == [request]
    assert server.keys == [f"Bearer {KEY}"]


def test_no_text_means_no_request(server: ScriptedServer) -> None:
    assert embed(server, []).shape == (0, 2)
    assert server.requests == []


def test_texts_are_cut_to_the_token_limit_and_never_empty(server: ScriptedServer) -> None:
    server.replies = [vectors([1, 0], [1, 0], [1, 0])]
    embed(server, ["one two three four", "", "\ud800"], max_tokens=2)
    assert server.requests[0]["input"] == ["one two", " ", "?"]


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_passing_failure_is_tried_again(server: ScriptedServer, status: int) -> None:
    server.replies = [Reply(status), vectors([1, 0])]
    np.testing.assert_allclose(embed(server, ["a"]), [[1, 0]])
    assert len(server.requests) == 2


def test_a_lasting_failure_ends_after_the_allowed_attempts(server: ScriptedServer) -> None:
    server.replies = [Reply(500, body=f"internal {KEY}".encode())]
    assert refusal(server, ["a"]) == "The embedding provider answered with status 500."
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [302, 400, 404, 422])
def test_a_refusal_is_not_tried_again(server: ScriptedServer, status: int) -> None:
    server.replies = [Reply(status)]
    assert f"status {status}" in refusal(server, ["a"])
    assert len(server.requests) == 1


def test_a_rejected_key_says_where_to_look(server: ScriptedServer) -> None:
    server.replies = [Reply(401, body=f"wrong key {KEY}".encode())]
    assert refusal(server, ["a"]).endswith("status 401; check the key in the settings.")


def test_retry_after_is_honoured(server: ScriptedServer) -> None:
    server.replies = [Reply(429, headers={"Retry-After": "1"}), vectors([1, 0])]
    started = time.monotonic()
    embed(server, ["a"])
    assert time.monotonic() - started >= 1.0


def test_a_retry_after_beyond_the_deadline_ends_at_once(server: ScriptedServer) -> None:
    server.replies = [Reply(429, headers={"Retry-After": "3600"})]
    assert "status 429" in refusal(server, ["a"])
    assert len(server.requests) == 1


def test_a_hanging_server_ends_at_the_deadline(server: ScriptedServer) -> None:
    server.replies = [Reply(wait_s=5.0)]
    policy = CallPolicy(deadline_s=0.1)
    assert refusal(server, ["a"], policy=policy) == "The embedding provider did not answer within 0.1 s."


def test_a_server_that_is_not_there_is_named(server: ScriptedServer) -> None:
    source = hosted_embedder(
        base_url="http://127.0.0.1:9/v1", api_key=KEY, model="m", dimension=2, policy=QUICK
    )
    with pytest.raises(Unavailable, match="cannot be reached"):
        source.load().embed_documents(["a"])


def test_a_wrong_dimension_names_both_sizes(server: ScriptedServer) -> None:
    server.replies = [vectors([1, 2, 3])]
    message = refusal(server, ["a"])
    assert "a vector of 3 numbers where 2 are configured" in message


@pytest.mark.parametrize("number", ["null", "1e400", "1e39", "-1e39"])
def test_numbers_that_are_not_finite_are_refused(server: ScriptedServer, number: str) -> None:
    server.replies = [Reply(body=f'{{"data": [{{"index": 0, "embedding": [1, {number}]}}]}}'.encode())]
    assert "not finite" in refusal(server, ["a"]) or "not JSON" in refusal(server, ["a"])


def test_a_vector_of_zeros_has_no_direction(server: ScriptedServer) -> None:
    server.replies = [vectors([0, 0])]
    assert "zeros only" in refusal(server, ["a"])


def test_large_finite_numbers_are_normalised(server: ScriptedServer) -> None:
    server.replies = [vectors([3e38, 3e38])]
    np.testing.assert_allclose(embed(server, ["a"]), [[0.5**0.5] * 2], rtol=1e-6)


def test_a_short_list_names_both_counts(server: ScriptedServer) -> None:
    server.replies = [vectors([1, 0])]
    assert "1 vectors for 2 texts" in refusal(server, ["a", "b"])


@pytest.mark.parametrize("body", [b"<html>", b"", b'{"data": [{"index": 0, "embedding": [1, NaN]}]}'])
def test_an_answer_that_is_not_json_is_refused(server: ScriptedServer, body: bytes) -> None:
    server.replies = [Reply(body=body)]
    assert "not JSON" in refusal(server, ["a"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {"data": 3},
        {"data": [{"embedding": [1, 0]}]},
        {"data": [{"index": 0, "embedding": "x"}]},
        {"data": [{"index": 4, "embedding": [1, 0]}]},
        {"data": [{"index": 0, "embedding": [1, [2]]}]},
        {"data": [{"index": 0, "embedding": [1, "x"]}]},
    ],
)
def test_an_answer_in_another_form_is_refused(server: ScriptedServer, answer: Any) -> None:
    server.replies = [Reply(body=json.dumps(answer).encode())]
    assert "not in the /embeddings form" in refusal(server, ["a"])


def test_an_answer_beyond_the_size_cap_is_refused_also_when_compressed(server: ScriptedServer) -> None:
    server.replies = [Reply(body=b" " * 30_000)]
    assert "more than 20000 bytes" in refusal(server, ["a"])
    server.replies = [Reply(body=gzip.compress(b" " * 30_000), headers={"Content-Encoding": "gzip"})]
    assert "more than 20000 bytes" in refusal(server, ["a"])


@pytest.mark.parametrize("url", ["ftp://host/v1", "host", "http://", "http://user:pw@host/v1", "http://[::1"])
def test_an_address_that_cannot_work_is_refused_without_a_call(url: str) -> None:
    with pytest.raises(InvalidInput, match="base_url"):
        hosted_embedder(base_url=url, api_key=KEY, model="m", dimension=2)


@pytest.mark.parametrize("key", ["two\nlines", " padded ", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_echoed(key: str) -> None:
    with pytest.raises(InvalidInput, match="api_key") as caught:
        hosted_embedder(base_url="http://127.0.0.1/v1", api_key=key, model="m", dimension=2)
    assert key not in caught.value.message


def test_the_key_is_in_no_representation(server: ScriptedServer) -> None:
    source = hosted_embedder(base_url=server.base_url, api_key=KEY, model="m", dimension=2)
    assert KEY not in repr(source) + repr(source.load()) + repr(vars(source.load()))


def test_another_address_or_model_is_another_model_id() -> None:
    ids = {
        hosted_embedder(base_url=url, api_key=KEY, model=model, dimension=2).model_id
        for url in ("http://one/v1", "http://one/v1/", "http://two/v1")
        for model in ("a", "b")
    }
    assert len(ids) == 4
    assert all(model_id.startswith("hosted:") for model_id in ids)


def test_it_works_behind_the_service(server: ScriptedServer) -> None:
    server.replies = [vectors([0, 2])]
    pool = WorkerPool(1)
    source = hosted_embedder(base_url=server.base_url, api_key=KEY, model="m", dimension=2, policy=QUICK)
    np.testing.assert_allclose(EmbedService(source, pool).embed_query("a", 5), [0, 1])
    pool.close()


def test_retry_after_reads_both_forms() -> None:
    in_a_minute = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert retry_after_s("7") == 7
    assert 50 < (retry_after_s(in_a_minute) or 0) <= 60
    assert retry_after_s("soon") is None
    assert retry_after_s(None) is None
