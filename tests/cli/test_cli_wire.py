"""The command line's HTTP, against a real socket and against an application in this process."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lorebank.cli import inprocess
from lorebank.cli.api import Api, bank_path
from lorebank.cli.failures import DENIED, INVALID, MISSING, UNAVAILABLE, CliError, from_response
from lorebank.cli.inprocess import running
from lorebank.cli.wire import HttpTransport, Request, Upload, multipart, path, split_url, with_query
from lorebank.errors import InvalidInput, Unavailable


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked; closes the connection after every answer when told to."""

    protocol_version = "HTTP/1.1"
    hang_up = False

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        told = {
            "method": self.command,
            "path": self.path,
            "authorization": self.headers.get("authorization"),
            "host": self.headers.get("host"),
            "body": self.rfile.read(length).decode("latin-1"),
        }
        status = 404 if self.path.endswith("missing") else 200
        body = gzip.compress(json.dumps(told if status == 200 else {"detail": "gone fishing"}).encode())
        self.send_response(status)
        self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.hang_up

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_ids_of_any_kind_become_one_path_segment_each() -> None:
    assert bank_path("a/..", "documents", "ä %::\U0001f600") == (
        "/v1/default/banks/a%2F../documents/%C3%A4%20%25%3A%3A%F0%9F%98%80"
    )
    assert path("a", "b c") == "/a/b%20c"


def test_query_parameters_repeat_and_leave_out_none() -> None:
    assert with_query("/x", {"a": ["1", "2"], "b": None, "c": True, "d": "ü"}) == "/x?a=1&a=2&c=true&d=%C3%BC"
    assert with_query("/x", {"a": None}) == "/x"


@pytest.mark.parametrize("url", ["", "127.0.0.1:8888", "ftp://x", "http://", "http://x:99999"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="--url must be an address"):
        split_url(url)


def test_an_address_may_have_a_base_path() -> None:
    assert split_url("https://example.org/lore/") == ("example.org", 443, True, "/lore")


def test_a_form_keeps_bytes_and_cannot_be_broken_by_a_file_name() -> None:
    kind, body = multipart({"request": "{}"}, [Upload("files", 'a"\r\nX: y', b"\x00\r\n--")])
    boundary = kind.split("boundary=")[1]
    assert body.count(boundary.encode()) == 3
    assert b'filename="a___X: y"' in body
    assert b"\r\n\r\n\x00\r\n--\r\n" in body


def test_requests_reach_the_server_with_the_key(server: ThreadingHTTPServer) -> None:
    transport = HttpTransport(f"http://127.0.0.1:{server.server_port}/base")
    told = Api(transport, "secret").post("/v1/x", {"a": "é"}, q=1)
    transport.close()
    assert told["method"] == "POST"
    assert told["path"] == "/base/v1/x?q=1"
    assert told["authorization"] == "Bearer secret"
    assert told["host"] == f"127.0.0.1:{server.server_port}"
    assert json.loads(told["body"]) == {"a": "é"}


def test_a_connection_that_the_server_closed_is_opened_again(
    server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Echo, "hang_up", True)
    transport = HttpTransport(f"http://127.0.0.1:{server.server_port}")
    api = Api(transport, "")
    assert [api.get("/one")["path"], api.get("/two")["path"]] == ["/one", "/two"]
    transport.close()


def test_an_error_answer_is_a_failure_with_the_servers_words(server: ThreadingHTTPServer) -> None:
    transport = HttpTransport(f"http://127.0.0.1:{server.server_port}")
    with pytest.raises(CliError, match="gone fishing") as caught:
        Api(transport, "").get("/missing")
    transport.close()
    assert (caught.value.code, caught.value.exit_code) == ("not_found", MISSING)


def test_nobody_there_is_unavailable_and_says_what_to_do(server: ThreadingHTTPServer) -> None:
    port = server.server_port
    server.shutdown()
    server.server_close()
    with pytest.raises(Unavailable, match="lorebank serve"):
        HttpTransport(f"http://127.0.0.1:{port}").send(Request("GET", "/", {}, b""))


@pytest.mark.parametrize(
    ("status", "detail", "code", "exit_code", "message"),
    [
        (401, "no key", "unauthenticated", DENIED, "no key"),
        (403, "denied", "forbidden", DENIED, "denied"),
        (422, [{"loc": ["body", "items", 0, "tags"], "msg": "too many"}], "invalid_input", INVALID,
         "items.0.tags: too many"),
        (503, "busy", "unavailable", UNAVAILABLE, "busy"),
        (500, None, "failed", 1, "the server answered with status 500"),
    ],
)  # fmt: skip
def test_each_status_has_its_code(status: int, detail: Any, code: str, exit_code: int, message: str) -> None:
    error = from_response(status, {"detail": detail})
    assert (error.code, error.exit_code, error.message) == (code, exit_code, message)


async def little_app(scope: Any, receive: Any, send: Any) -> None:
    """A real ASGI application: a lifespan, a background task, and an answer that tells what it got."""
    if scope["type"] == "lifespan":
        await receive()
        seen.append("started")
        await send({"type": "lifespan.startup.complete"})
        await receive()
        seen.append("stopped")
        await send({"type": "lifespan.shutdown.complete"})
        return
    message = await receive()
    seen.append("worked" if await asyncio.to_thread(lambda: True) else "")
    told = {
        "path": scope["path"],
        "raw_path": scope["raw_path"].decode(),
        "body": message["body"].decode(),
        "headers": {name.decode(): value.decode() for name, value in scope["headers"]},
        "transport": scope["lorebank.transport"],
    }
    await send({"type": "http.response.start", "status": 200, "headers": [(b"X-Y", b"z")]})
    await send({"type": "http.response.body", "body": json.dumps(told).encode(), "more_body": False})


seen: list[str] = []


def test_an_application_in_this_process_is_started_asked_and_stopped() -> None:
    seen.clear()
    with running(little_app) as transport:
        told = Api(transport, "k").post(path("a", "b/c"), {"x": 1})
    assert told["path"] == "/a/b/c" and told["raw_path"] == "/a/b%2Fc"
    assert json.loads(told["body"]) == {"x": 1}
    assert told["headers"]["authorization"] == "Bearer k"
    assert told["headers"]["host"] == "127.0.0.1"
    assert told["transport"] == "cli"
    assert seen == ["started", "worked", "stopped"]


def test_an_end_that_takes_long_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await asyncio.sleep(0.05)
        await send({"type": "lifespan.shutdown.complete"})

    monkeypatch.setattr(inprocess, "PATIENCE_SECONDS", 0.01)
    told: list[str] = []
    with running(slow, told.append):
        assert told == []
    assert told == [inprocess.FINISHING]


def test_an_application_that_cannot_start_says_why() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "the disk is full"})

    with pytest.raises(Unavailable, match="the disk is full"), running(broken):
        pytest.fail("it must not start")
