"""Clients that are not as polite as the library: torn connections, hostile pages, random bodies."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SECRET = "the-otter-sleeps-at-noon"


@pytest.fixture
def wire(server: Any) -> Iterator[http.client.HTTPConnection]:
    """A bare connection to the server."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    yield connection
    connection.close()


def call(
    connection: http.client.HTTPConnection, key: str, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, Any]:
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    given_headers = {"Authorization": f"Bearer {key}"} | {k.replace("_", "-"): v for k, v in headers.items()}
    connection.request(method, path, data, given_headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read() or b"null")


def memories(bank: str, rest: str = "") -> str:
    return f"/v1/default/banks/{quote(bank, safe='')}/memories{rest}"


def send_and_leave(server: Any, path: str, body: bytes, sent: int) -> None:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.key}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(head.encode() + body[:sent])


def test_a_client_that_leaves_does_no_harm(server: Any, wire: http.client.HTTPConnection, bank: str) -> None:
    items = [{"content": f"Crate {n} holds lanterns.", "document_id": f"crate-{n}"} for n in range(50)]
    body = json.dumps({"items": items}).encode()
    for sent in (0, 10, len(body) - 1):
        send_and_leave(server, memories(bank), body, sent)
    status, answer = call(wire, server.key, "GET", memories(bank, "/list"))
    assert status == 404, answer

    send_and_leave(server, memories(bank), body, len(body))
    total = 0
    for _ in range(100):
        status, answer = call(wire, server.key, "GET", memories(bank, "/list?limit=1"))
        total = answer["total"] if status == 200 else 0
        if total:
            break
        time.sleep(0.05)
    assert total == 50  # all of it or, had it come too late, nothing: never a part
    assert call(wire, server.key, "GET", "/health")[0] == 200


def test_a_body_that_grows_without_end_is_cut_off(server: Any) -> None:
    head = f"POST {memories('x')} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.key}\r\n"
    part = b"10000\r\n" + b" " * 65536 + b"\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as raw:
        raw.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        sent = 0
        try:
            for _ in range(2000):
                raw.sendall(part)
                sent += 65536
        except (ConnectionError, TimeoutError):
            pass
        raw.settimeout(10)
        try:
            answer = raw.recv(4096)
        except ConnectionError:
            answer = b""
    assert answer.startswith(b"HTTP/1.1 413") or sent < 2000 * 65536


def test_no_page_of_another_site_gets_at_a_server_without_keys(open_server: Any, bank: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", open_server.port, timeout=30)
    stored = {"items": [{"content": f"Note: {SECRET}."}]}
    assert call(connection, "", "POST", memories(bank), stored)[0] == 200
    query = {"query": SECRET}
    status, answer = call(
        connection, "", "POST", memories(bank, "/recall"), query, Origin="http://localhost:3000"
    )
    assert status == 200 and SECRET in answer["results"][0]["text"]
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Host": "evil.example"},
        {"Host": f"evil.example:{open_server.port}", "Authorization": f"Bearer {open_server.key}"},
    ):
        for method, path, body in (
            ("POST", memories(bank, "/recall"), query),
            ("GET", memories(bank, "/list"), None),
            ("GET", "/v1/default/banks", None),
            ("DELETE", memories(bank), None),
        ):
            status, answer = call(connection, "", method, path, body, **headers)
            assert status == 403 and SECRET not in json.dumps(answer)
    connection.close()


def test_what_is_asked_and_stored_stays_out_of_the_log(
    server: Any, wire: http.client.HTTPConnection, bank: str
) -> None:
    path = memories(bank + SECRET)
    item = {"content": f"Note: {SECRET}.", "document_id": SECRET, "tags": [SECRET], "context": SECRET}
    wrong = {"items": [{"content": SECRET, "timestamp": SECRET}]}
    calls = [
        ("POST", path, {"items": [item]}, 200),
        ("POST", path + "/recall", {"query": SECRET, "trace": True}, 200),
        ("GET", f"{path}/list?q={SECRET}", None, 200),
        ("POST", path, wrong, 422),
    ]
    for method, where, body, expected in calls:
        assert call(wire, server.key, method, where, body)[0] == expected
    log = server.log.read_text(encoding="utf-8")
    assert "operation=recall_memories" in log
    assert SECRET not in log and server.key not in log


NAMES = [
    "items",
    "content",
    "timestamp",
    "tags",
    "metadata",
    "document_id",
    "entities",
    "update_mode",
    "async",
    "operation_id",
    "strategy",
    "query",
    "types",
    "budget",
    "max_tokens",
    "query_timestamp",
    "include",
    "tags_match",
    "tag_groups",
    "min_scores",
    "temporal_window",
    "start",
    "end",
    "chunks",
    "source_facts",
    "trace",
    "text",
    "not",
]
SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KNOWN = st.sampled_from(
    ["any", "exact", "unset", "2026-11-29", "replace", "append", "world", "high", "9999-12-31", "\ud800"]
)
VALUE = st.recursive(
    SCALAR | KNOWN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.parametrize("path", ["", "/recall"])
def test_random_bodies_never_end_in_a_server_error(
    server: Any, wire: http.client.HTTPConnection, bank: str, path: str
) -> None:
    base = {"items": [{"content": "Ida keeps bees."}], "query": "bees"}
    assert call(wire, server.key, "POST", memories(bank), base)[0] == 200

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        top=st.dictionaries(st.sampled_from(NAMES), VALUE, max_size=4),
        item=st.dictionaries(st.sampled_from(NAMES), VALUE, max_size=4),
    )
    def check(top: dict[str, Any], item: dict[str, Any]) -> None:
        body = base | {"items": [{"content": "Ida keeps bees."} | item]} | top
        raw = json.dumps(body).encode("utf-8", "surrogatepass")
        status, answer = call(wire, server.key, "POST", memories(bank, path), raw)
        assert status in (200, 400, 404, 409, 422), (status, answer)

    check()
