"""A kill while vectors are made loses none that were stored, and the rest is made at the next use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from semantic_child import RECORDS
from semantic_world import SemanticWorld

from lorebank.models.service import EmbedService
from lorebank.vaults.store.vectors import BATCH

CHILD = Path(__file__).with_name("semantic_child.py")
SOURCE = Path(__file__).parents[2] / "src"


def test_a_kill_between_two_batches(tmp_path: Path, model: EmbedService) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    dead = subprocess.run([sys.executable, str(CHILD), str(tmp_path)], env=environment, timeout=120)
    assert dead.returncode == -signal.SIGKILL
    stores = SemanticWorld(tmp_path, model)
    try:
        stored = stores.vectors()
        assert len(stored) == BATCH
        assert len(stores.found("Who is that human being?")) > 0, "what was stored is searched at once"
        stores.settle()
        assert len(stores.vectors()) == RECORDS and set(stored) <= set(stores.vectors())
    finally:
        stores.close()
