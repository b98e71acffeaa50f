"""A small keep-alive HTTP client and the driving of several of them at once."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, wall milliseconds and body of one request."""

    status: int
    ms: float
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Client:
    """One keep-alive connection to a loopback server; one per thread."""

    def __init__(self, base_url: str, key: str, timeout_s: float = 300.0) -> None:
        parts = urlsplit(base_url)
        if parts.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise SystemExit("the benchmark talks to loopback only")
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout_s)
        self._headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}

    def use(self, key: str) -> None:
        """Another key from now on."""
        self._headers["authorization"] = f"Bearer {key}"

    def call(self, method: str, path: str, body: Any = None) -> Reply:
        """One request and its whole answer."""
        data = None if body is None else json.dumps(body)
        began = time.perf_counter()
        self._connection.request(method, path, data, self._headers)
        answer = self._connection.getresponse()
        raw = answer.read()
        return Reply(answer.status, (time.perf_counter() - began) * 1000, raw)


Request = tuple[str, str, Any]


def drive(
    connect: Callable[[], Client], clients: int, total: int, seconds: float, make: Callable[[int], Request]
) -> dict[str, Any]:
    """`total` requests from `clients` connections, at most `seconds` long: latencies and rate."""
    latencies: list[float] = []
    errors: dict[str, int] = {}
    lock = threading.Lock()
    numbers: Iterator[int] = iter(range(total))
    began = time.perf_counter()

    def run() -> None:
        client = connect()
        while time.perf_counter() - began < seconds:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            reply = client.call(*make(number))
            with lock:
                if reply.status == 200:
                    latencies.append(reply.ms)
                else:
                    errors[str(reply.status)] = errors.get(str(reply.status), 0) + 1

    threads = [threading.Thread(target=run) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - began
    return {**spread(latencies), "per_s": round(len(latencies) / spent, 1), "errors": errors}


def spread(values: list[float]) -> dict[str, Any]:
    """Count, median, 95th percentile and maximum of milliseconds."""
    ordered = sorted(values)
    if not ordered:
        return {"n": 0}
    at = lambda share: round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)  # noqa: E731
    return {"n": len(ordered), "p50": at(0.5), "p95": at(0.95), "max": round(ordered[-1], 1)}
