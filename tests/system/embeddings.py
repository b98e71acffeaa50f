"""A hosted embedder for tests: an HTTP server whose vectors depend on the text and the model's name alone."""

from __future__ import annotations

import hashlib
import json
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast


def vector(text: str, model: str, dimension: int) -> list[float]:
    """Numbers between -1 and 1 that look random and are always the same."""
    raw = hashlib.shake_256(f"{model}\n{text}".encode()).digest(2 * dimension)
    return [number / 32768 for number in struct.unpack(f"<{dimension}h", raw)]


class Embeddings(ThreadingHTTPServer):
    """Answers `/v1/embeddings`. `wait_s` slows it down, `status` makes it fail, both at any time."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, dimension: int = 16) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.dimension = dimension
        self.wait_s = 0.0
        self.status = 200
        self.texts = 0
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    def __enter__(self) -> Embeddings:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()

    def settings(self, model: str = "scripted", **more: str) -> dict[str, str]:
        """The environment that makes it the embedder of a server."""
        return {
            "LOREBANK_EMBED_BASE_URL": f"http://127.0.0.1:{self.server_address[1]}/v1",
            "LOREBANK_EMBED_MODEL": model,
            "LOREBANK_EMBED_DIMENSION": str(self.dimension),
            **more,
        }

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = cast("Embeddings", self.server)
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if server.wait_s:
            time.sleep(server.wait_s)
        texts = asked["input"]
        server.texts += len(texts)
        rows = [
            {"index": place, "embedding": vector(text, asked["model"], server.dimension)}
            for place, text in enumerate(texts)
        ]
        body = json.dumps({"data": rows} if server.status == 200 else {"error": "scripted"}).encode()
        self.send_response(server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
