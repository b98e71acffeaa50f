"""`make bench`: speed of a real server over HTTP, written to docs/benchmarks.md with the peer's figures.

Every loop is bounded by a count and by seconds. The vectors of the 100k bank are computed once and
cached outside the checkout by text hash; the sizes below measure fresh vectors.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from access_recall import compare
from facts import fact, question
from report import earlier, write
from running import Running, server
from vaults import measure as measure_vaults

from access import decisions
from client import Client, drive, spread

HERE = Path(__file__).parent
_BIG = 20_000
_POLICY_SIZE = 5_000
_ASKED = itertools.count(1)


def bank(name: str) -> str:
    """The path of a bank."""
    return f"/v1/default/banks/{name}"


def retain(run: Running, name: str, start: int, count: int, size: int) -> dict[str, Any]:
    """`count` facts in requests of `size`: acknowledged rate, latencies, and until vectors are there."""
    client, latencies = run.connect(), []
    began = time.perf_counter()
    for at in range(start, start + count, size):
        items = [fact(at + i) for i in range(min(size, start + count - at))]
        reply = client.call("POST", bank(name) + "/memories", {"items": items})
        if reply.status != 200:
            raise SystemExit(f"retain answered {reply.status}: {reply.body[:300]!r}")
        latencies.append(reply.ms)
    acknowledged = time.perf_counter() - began
    _wait_vectors(client, name)
    complete = time.perf_counter() - began
    return {
        "items": count,
        "request_ms": spread(latencies),
        "acknowledged_per_s": round(count / acknowledged),
        "searchable_per_s": round(count / complete),
    }


def _wait_vectors(client: Client, name: str) -> None:
    for _ in range(60_000):
        if client.call("GET", bank(name) + "/stats?refresh=true").json()["pending_vectors"] == 0:
            return
        time.sleep(0.02)
    raise SystemExit("vectors were not complete in time")


def recall(run: Running, name: str, clients: int, total: int, budget: str, **more: Any) -> dict[str, Any]:
    """Recall latencies and rate."""

    def make(number: int) -> tuple[str, str, Any]:
        # The number makes each question a new one, so that no vector comes from the query cache.
        asked = f"{question(number)} ({next(_ASKED)})"
        body = {"query": asked, "budget": budget, "max_tokens": 2048, **more}
        return "POST", bank(name) + "/memories/recall", body

    drive(run.connect, 1, 5, 10, lambda n: make(n + 1_000_000))
    return drive(run.connect, clients, total, 30, make)


def measure_size(run: Running, size: int, have: int, note: Callable[[str, Any], None]) -> None:
    """Fill the bank up to `size` facts and measure everything at that size."""
    note(f"retain batches of 100 up to {size}", retain(run, "bench", have, size - have, 100))
    _recalls(run, size, ("low", "mid"), 300, note)
    if size == _POLICY_SIZE:
        path = bank("bench") + "/memories/recall"
        note(
            f"recall mid with 1 and 1,000 policies, in turn, at {size}",
            compare(run.connect_as, run.key, path),
        )
    tags = {"tags": ["user:1", "team:1"], "tags_match": "all_strict"}
    note(f"recall mid with tags, 1 client, at {size}", recall(run, "bench", 1, 200, "mid", **tags))
    path = bank("bench") + "/memories/list?limit=100&offset="
    for offset in (0, size // 2):
        listing = drive(run.connect, 1, 50, 20, lambda _, o=offset: ("GET", path + str(o), None))
        note(f"list 100 rows from {offset} of {size}", listing)
    note(f"resident MB at {size}", run.resident_mb())
    _recalls(run, size, ("high",), 60, note)
    note(f"resident MB at {size}, cross-encoder loaded", run.resident_mb())


def _recalls(
    run: Running, size: int, budgets: tuple[str, ...], total: int, note: Callable[[str, Any], None]
) -> None:
    for budget in budgets:
        for clients in (1, 8):
            figures = recall(run, "bench", clients, total * (1 if clients == 1 else 2), budget)
            note(f"recall {budget}, {clients} clients, at {size}", figures)


def small(run: Running, note: Callable[[str, Any], None]) -> None:
    """Single retains and memory after a first retain and recall."""
    retain(run, "first", 0, 1, 1)
    recall(run, "first", 1, 1, "mid")
    note("resident MB after a first retain and recall", run.resident_mb())
    note("retain one item a request", retain(run, "single", 0, 300, 1))


def start_figures(data: Path, cache: Path, note: Callable[[str, Any], None]) -> None:
    """Start on an existing 100k-or-smaller directory: health, keyword recall, warm model."""
    with server(data, cache) as run:
        note("start: health answers, s", round(run.ready_s, 2))
        client, began = run.connect(), time.perf_counter()
        ask = {"query": "Who shipped the payroll export?"}
        client.call("POST", bank("first") + "/memories/recall", ask)
        note("start: first recall answered after, s", round(run.ready_s + time.perf_counter() - began, 2))
        while True:
            answer = client.call("POST", bank("first") + "/memories/recall", ask | {"trace": True}).json()
            if not answer["trace"]["degraded"]:
                break
            time.sleep(0.01)
        note("start: model warm after, s", round(run.ready_s + time.perf_counter() - began, 2))


def measure_banks(folder: Path, cache: Path, sizes: list[int], note: Callable[[str, Any], None]) -> None:
    """Decisions, and banks of these sizes."""
    decisions(note)
    data, have = folder / "data", 0
    for at, size in enumerate(sizes):
        # Fresh vectors up to 20k facts; beyond, the cache stands in for minutes of embedding.
        with server(data, cache if size > _BIG else folder / f"fresh-{size}.sqlite") as run:
            if at == 0:
                small(run, note)
            measure_size(run, size, have, note)
            have = size
            if at == len(sizes) - 1:
                gone = run.connect().call("DELETE", bank("bench"))
                note(f"delete a bank of {size}, ms", round(gone.ms))
    start_figures(data, cache, note)


def main() -> None:
    """Run everything and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,5000,100000")
    parser.add_argument("--parts", default="banks,vaults", help="the others' figures stay")
    parser.add_argument(
        "--cache", type=Path, default=Path("~/.cache/lorebank-bench/vectors.sqlite").expanduser()
    )
    parser.add_argument("--report", type=Path, default=HERE.parent / "docs" / "benchmarks.md")
    options = parser.parse_args()
    parts = options.parts.split(",")
    figures: dict[str, Any] = earlier(options.report) if len(parts) == 1 else {}
    figures["machine"] = f"{os.cpu_count()} cores, Python {platform.python_version()}"

    def note(name: str, value: Any) -> None:
        figures[name] = value
        print(name, json.dumps(value), flush=True)

    with tempfile.TemporaryDirectory(prefix="lorebank-bench-") as folder:
        if "banks" in parts:
            sizes = [int(size) for size in options.sizes.split(",")]
            measure_banks(Path(folder), options.cache, sizes, note)
        if "vaults" in parts:
            measure_vaults(Path(folder), options.cache, note)
    write(options.report, figures)


if __name__ == "__main__":
    main()
