"""The benchmark's figures as a Markdown page, with the peer's figures and the marks beside them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

# Hindsight 1.1.0 with PostgreSQL, MiniLM and no reranker, on the same kind of machine.
PEER = {
    "start: health answers, s": "18",
    "resident MB after a first retain and recall": "800",
    "retain one item a request": "17 items/s",
    "retain batches of 100 up to 1000": "98-103 items/s",
    "recall mid, 1 clients, at 1000": "72 / 87 ms",
    "recall mid, 8 clients, at 1000": "20.6 requests/s",
    "recall mid, 1 clients, at 5000": "107 / 131 ms",
    "recall mid, 8 clients, at 5000": "13.3 requests/s",
    "list 100 rows from 0 of 1000": "14 ms",
    "list 100 rows from 0 of 5000": "26 ms",
}
MARKS = {
    "start: first recall answered after, s": "1.5, aim 1",
    "start: model warm after, s": "3, aim 2",
    "resident MB after a first retain and recall": "300, aim 250",
    "resident MB at 100000": "700, aim 500",
    "recall mid, 1 clients, at 5000": "20 / 40 ms, aim 12 / 20",
    "recall mid, 8 clients, at 5000": "100 requests/s, aim 150",
    "recall mid, 1 clients, at 100000": "35 / 70 ms, aim 20 / 40",
    "recall mid, 8 clients, at 100000": "40 requests/s, aim 80",
    "retain one item a request": "p95 30 ms, aim 15",
    "recall mid with 1 and 1,000 policies, in turn, at 5000": "overhead under 5 %",
    "decision, 1000 policies all on *: another bank each time, ms": "1",
    "decision, 1000 policies each on its bank: another bank each time, ms": "1",
    "retain batches of 100 up to 5000": "searchable 150/s, acknowledged 1,500/s; aim 300 / 3,000",
    "vault: first index of 10,000 records, s": "90",
    "vault: opened again, unchanged, s": "2",
    "vault: search, watched": "p95 30 ms",
    "vault: search, watcher off": "p95 250 ms",
    "vault: remember": "100 ms",
    "vault: save a page's section": "100 ms",
    "vault: save a claim": "100 ms",
    "vault: with one entry more": "refused",
}
HEAD = """# Benchmarks

Written by `make bench` on {day}; {machine}. Figures are taken through HTTP from a real server process
on the embedded default; latencies are the client's wall time as median / 95th percentile. The load
generator shares the machine's cores. The vectors of sizes above 20,000 are computed once and cached
outside the checkout by text hash; smaller sizes embed afresh. The peer is Hindsight 1.1.0 with
PostgreSQL, MiniLM and no reranker, measured once on the same kind of machine with other made-up facts of
the same length (at 20,000: recall `mid` 123 / 169 ms, 8 clients 12.3 requests/s, bank deleted in 2.4 s).

| what | lorebank | mark | peer |
|---|---|---|---|
"""


def earlier(path: Path) -> dict[str, Any]:
    """The figures of the last report; none when there is none."""
    raw = path.with_suffix(".json")
    return dict(json.loads(raw.read_text(encoding="utf-8"))) if raw.exists() else {}


def write(path: Path, figures: dict[str, Any]) -> None:
    """Write the page, and the raw figures beside it as JSON."""
    machine = figures.get("machine", "")
    head = HEAD.format(day=f"{datetime.now(UTC):%Y-%m-%d}", machine=machine)
    rows = [
        f"| {name} | {_cell(value)} | {MARKS.get(name, '')} | {PEER.get(name, '')} |"
        for name, value in figures.items()
        if name != "machine"
    ]
    path.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    path.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _cell(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    if "acknowledged_per_s" in value:
        request = value["request_ms"]
        return (
            f"acknowledged {value['acknowledged_per_s']}/s, searchable {value['searchable_per_s']}/s, "
            f"request {request['p50']} / {request['p95']} ms"
        )
    if "overhead_percent" in value:
        one, many = value["p50_one_policy_ms"], value["p50_1000_policies_ms"]
        return f"{one} and {many} ms, overhead {value['overhead_percent']} % ({value['pairs']} pairs)"
    failed = f", errors {value['errors']}" if value.get("errors") else ""
    used = f", {value['cpu_ms']} ms of the server's CPU each" if "cpu_ms" in value else ""
    return f"{value.get('p50')} / {value.get('p95')} ms, {value.get('per_s')} requests/s{used}{failed}"
