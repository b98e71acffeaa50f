"""Over a real socket: a client that reads slowly gets nothing that was confirmed before it was written."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from changing_rules import DENIED, FILE, ChangingRules, change

from lorebank.service.answers import FileAnswer

PART = 1 << 20
PARTS = 64
REQUEST = f"GET {FILE} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer hc_u_root\r\n\r\n".encode()


@contextmanager
def served(app: Any) -> Iterator[int]:
    """The application behind uvicorn on a free port."""
    config = uvicorn.Config(app, http="httptools", lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)


def test_what_waits_behind_a_slow_client_is_not_served_after_a_change(make_stage: Any) -> None:
    stage = make_stage(rules=ChangingRules())
    made = []

    def chunks() -> Iterator[bytes]:
        for _ in range(PARTS):
            made.append(1)
            yield b"x" * PART

    stage.answer = lambda call: FileAnswer(chunks(), "e.zip", "application/zip", PARTS * PART)
    with served(stage.app) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(REQUEST)
        first = client.recv(1 << 16)
        assert first.startswith(b"HTTP/1.1 200")
        change(stage, DENIED)
        got = len(first)
        while part := client.recv(1 << 20):
            got += len(part)
    # What the change found written has left already; no part was begun after it.
    assert got < PARTS * PART
    assert len(made) < PARTS
