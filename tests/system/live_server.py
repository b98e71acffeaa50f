"""A real server process on a data directory of its own, and a small client for it (stdlib only)."""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlencode

SOURCE = Path(__file__).parents[2] / "src"
WAIT_S = 60.0
_ADDRESS = re.compile(r"lorebank serves http://127\.0\.0\.1:(\d+)")
_BANK = "/v1/default/banks/"


class Gone(Exception):
    """The server ended before it answered."""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    def json(self) -> Any:
        return json.loads(self.body)

    def ok(self) -> Any:
        """The JSON of a request that must succeed."""
        assert self.status < 300, (self.status, self.body[:2000])
        return self.json()


@dataclass(frozen=True)
class File:
    """One part of a multipart body."""

    name: str
    filename: str
    data: bytes
    media_type: str = "text/plain"


def bank_path(bank: str, rest: str = "") -> str:
    """The path of a bank, percent-encoded, with `rest` behind it as it is."""
    return _BANK + quote(bank, safe="") + rest


def multipart(files: Iterable[File], fields: Mapping[str, str] | None = None) -> tuple[bytes, str]:
    """A multipart body and its content type."""
    boundary = secrets.token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in (fields or {}).items()
    ]
    for file in files:
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{file.name}"; '
            f'filename="{file.filename}"\r\nContent-Type: {file.media_type}\r\n\r\n'
        )
        parts.append(head.encode() + file.data + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


class Client:
    """One kept-alive connection. Not for several threads."""

    def __init__(self, port: int, key: str | None, timeout: float = WAIT_S) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
        self._key = key

    def close(self) -> None:
        self._connection.close()

    def use(self, key: str | None) -> None:
        """Speak with another credential from now on."""
        self._key = key

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        files: Iterable[File] | None = None,
        fields: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request; `Gone` when the server dies over it."""
        sent = {} if self._key is None else {"Authorization": f"Bearer {self._key}"}
        data: bytes | None = None
        if files is not None:
            data, sent["Content-Type"] = multipart(files, fields)
        elif body is not None:
            data, sent["Content-Type"] = json.dumps(body).encode(), "application/json"
        target = quote(path, safe="/%") + ("?" + urlencode(query, doseq=True) if query else "")
        try:
            self._connection.request(method, target, data, {**sent, **(headers or {})})
            response = self._connection.getresponse()
            return Answer(response.status, response.read(), dict(response.getheaders()))
        except (OSError, http.client.HTTPException) as exc:
            self._connection.close()
            raise Gone(str(exc)) from exc

    # what most tests do
    def retain(self, bank: str, *items: Mapping[str, Any], **options: Any) -> Any:
        return self.request("POST", bank_path(bank, "/memories"), {"items": items, **options}).ok()

    def recall(self, bank: str, query: str, **options: Any) -> list[dict[str, Any]]:
        answer = self.request("POST", bank_path(bank, "/memories/recall"), {"query": query, **options})
        results: list[dict[str, Any]] = answer.ok()["results"]
        return results

    def get(self, path: str, **query: Any) -> Any:
        return self.request("GET", path, query=query).ok()

    def bank(self, bank: str, rest: str, **query: Any) -> Any:
        return self.get(bank_path(bank, rest), **query)

    def pages(self, path: str, member: str, **query: Any) -> list[dict[str, Any]]:
        """All rows of a listing."""
        rows: list[dict[str, Any]] = []
        while True:
            page = self.get(path, limit=1000, offset=len(rows), **query)
            rows += page[member]
            if len(rows) >= page["total"] or not page[member]:
                return rows

    def memories(self, bank: str, **query: Any) -> list[dict[str, Any]]:
        return self.pages(bank_path(bank, "/memories/list"), "items", **query)

    def documents(self, bank: str) -> list[dict[str, Any]]:
        return self.pages(bank_path(bank, "/documents"), "items", tags_match="any")

    def operation(self, bank: str, operation_id: str) -> Any:
        return self.bank(bank, f"/operations/{operation_id}")

    def ended(self, bank: str, operation_id: str) -> Any:
        """Wait for an operation to end; its status."""

        def look() -> Any:
            found = self.operation(bank, operation_id)
            return found if found["status"] not in ("pending", "processing") else None

        return until(look, f"operation {operation_id} of {bank}")

    def completed(self, bank: str, operation_id: str) -> Any:
        """Wait for an operation that must succeed."""
        found = self.ended(bank, operation_id)
        assert found["status"] == "completed", found
        return found

    def task(self, path: str, body: Mapping[str, Any]) -> Any:
        """Run a task of the whole server to its end; its result."""

        def look() -> Any:
            found = self.get(f"/v1/lorebank/tasks/{started['operation_id']}")
            return found if found["status"] != "processing" else None

        started = self.request("POST", path, body).ok()
        found = until(look, f"task {path}")
        assert found["status"] == "completed", found
        return found["result_metadata"]

    def doctor(self, **options: bool) -> Any:
        """Run the doctor; its result, which must name no problem."""
        result = self.task("/v1/lorebank/doctor", options)
        assert result["problems"] == {}, result
        return result

    def settled(self) -> None:
        """Wait until no operation and no vector is waiting anywhere."""

        def look() -> bool:
            pending = self.get("/v1/lorebank/status")["pending"]
            return not pending["operations"] and not pending["vectors"]

        until(look, "pending operations and vectors")

    def exported(self, bank: str, path: str = "/transfer/export", **query: Any) -> bytes:
        """Export the bank and download the archive."""
        started = self.request("POST", bank_path(bank, path), query=query).ok()
        done = self.completed(bank, started["operation_id"])
        return self.request("GET", done["result_metadata"]["download_url"]).body


def _drain(stream: IO[str]) -> None:
    with stream:
        stream.read()


def until(look: Callable[[], Any], what: str, timeout: float = WAIT_S) -> Any:
    """The first true answer of `look`."""
    deadline = time.monotonic() + timeout
    pause = 0.01
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)
    raise AssertionError(f"waited {timeout:.0f} s in vain for: {what}")


@dataclass
class Server:
    """A server that can be started, killed and started again on one data directory."""

    home: Path
    settings: dict[str, str] = field(default_factory=dict)
    wrapper: Sequence[str] = ()
    port: int = 0
    starts: int = 0
    process: subprocess.Popen[str] | None = None
    _reader: threading.Thread | None = None
    _clients: list[Client] = field(default_factory=list)

    @property
    def data_dir(self) -> Path:
        return self.home / "data"

    @property
    def temp_dir(self) -> Path:
        return self.home / "tmp"

    @property
    def log(self) -> str:
        """What the server wrote to its standard error so far."""
        return (self.home / "stderr.log").read_text(encoding="utf-8", errors="replace")

    @property
    def key(self) -> str:
        return (self.data_dir / "root.key").read_text(encoding="utf-8").strip()

    @property
    def pid(self) -> int:
        """The server's own process, also where a wrapper started it."""
        assert self.process is not None
        if not self.wrapper:
            return self.process.pid
        return int(json.loads((self.data_dir / "lorebank.lock").read_text())["pid"])

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LOREBANK_")}
        self.temp_dir.mkdir(parents=True, exist_ok=True)
        return kept | {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "PYTHONPATH": str(SOURCE),
            "TMPDIR": str(self.temp_dir),
            "LOREBANK_MODEL_THREADS": "1",
            "LOREBANK_DATA_DIR": str(self.data_dir),
            **self.settings,
        }

    def command(self, *argv: str) -> list[str]:
        return [sys.executable, "-m", "lorebank", *argv]

    def spawn(self, *flags: str) -> subprocess.Popen[str]:
        """A server process, not waited for."""
        environment = self.environment()
        with open(self.home / "stderr.log", "a", encoding="utf-8") as log:
            return subprocess.Popen(
                [*self.wrapper, *self.command("serve", "--port", "0", *flags)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self.home,
            )

    def start(self, *flags: str) -> Server:
        """Start it and wait until it says where it listens."""
        self.process = self.spawn(*flags)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = _ADDRESS.match(line)
        if found is None:
            self.kill()
            raise AssertionError(f"the server did not start: {line!r} {self.log[-3000:]}")
        self.port = int(found[1])
        self.starts += 1
        # Whatever else it prints must not fill the pipe.
        self._reader = threading.Thread(target=_drain, args=(self.process.stdout,), daemon=True)
        self._reader.start()
        return self

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and wait; its clients are closed."""
        while self._clients:
            self._clients.pop().close()
        self._end(signal.SIGTERM)

    def _end(self, how: int) -> None:
        if self.process is None:
            return
        os.kill(self.pid, how)
        self.process.wait(WAIT_S)
        if self._reader is not None:
            self._reader.join(WAIT_S)
        elif self.process.stdout is not None:
            self.process.stdout.close()
        self.process = self._reader = None

    def client(self, key: str | None = "") -> Client:
        """A client with the root key, or with the key given (None: without any). Closed with the server."""
        made = Client(self.port, self.key if key == "" else key)
        self._clients.append(made)
        return made

    def spawn_command(self, *argv: str) -> subprocess.Popen[str]:
        """A command of the command line, not waited for."""
        return subprocess.Popen(
            self.command(*argv),
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
        )

    def run(self, *argv: str, **extra: str) -> subprocess.CompletedProcess[str]:
        """A command of the command line on this data directory."""
        return subprocess.run(
            self.command(*argv),
            env=self.environment() | extra,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * WAIT_S,
            cwd=self.home,
            check=False,
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
