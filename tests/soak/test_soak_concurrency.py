"""Ten thousand mixed operations from eight processes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from live_server import Server
from mixed_run import run_mixed
from soak_report import write_part

CLIENTS, OPERATIONS = 8, 1250


@pytest.mark.soak
def test_ten_thousand_mixed_operations_lose_no_write(tmp_path: Path) -> None:
    began = time.monotonic()
    with Server(tmp_path, {"LOREBANK_LOG_LEVEL": "warning"}).start() as server:
        sent = run_mixed(server, CLIENTS, OPERATIONS, seed=11)
    told = (
        f"{CLIENTS} processes did {OPERATIONS:,} operations each ({sent:,} requests in all) in "
        f"{time.monotonic() - began:.0f} seconds; lost or doubled writes, lock errors, answers other than "
        "200: none."
    )
    write_part("concurrency", [told])
