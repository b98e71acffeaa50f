"""A kill at any step of making or deleting a bank ends in a whole bank or in none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from storage_kit import ALL, add, memory, open_engine

from lorebank.errors import NotFound
from lorebank.storage.ports import MemoryQuery

STEPS = ["begin_create", "create_store", "insert", "begin_delete", "remove_folder", "settled"]

CRASH = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from lorebank.storage.sqlite import banks
from lorebank.storage.sqlite.registry import Registry
from storage_kit import open_engine

step, when, act = sys.argv[2], sys.argv[3], sys.argv[5]
owner = Registry if hasattr(Registry, step) else banks
engine = open_engine(Path(sys.argv[1]))
real = getattr(owner, step)

def killed(*args, **kwargs):
    if when == "before":
        os.kill(os.getpid(), 9)
    real(*args, **kwargs)
    os.kill(os.getpid(), 9)

setattr(owner, step, killed)
engine.bank("new") if act == "create" else engine.banks.delete(engine.grant("old"))
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_while_making_or_deleting_a_bank(step: str, when: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    engine = open_engine(data)
    add(engine.bank("old"), memory("kept"))
    engine.directory.close()
    act = "create" if STEPS.index(step) < 3 else "delete"
    script = [sys.executable, "-c", CRASH, str(data), step, when, str(Path(__file__).parent), act]
    killed = subprocess.run(script, capture_output=True, check=False)
    assert (killed.returncode, killed.stderr) == (-9, b"")

    engine = open_engine(data)
    assert engine.directory.warnings == () and engine.directory.check() == []
    banks = [row.bank_id for row in engine.banks.all_rows(engine.ticket())]
    made = ["new"] if (step, when) == ("insert", "after") else []
    left = [] if act == "delete" and (step, when) != ("begin_delete", "before") else ["old"]
    assert banks == made + left
    assert len(list((data / "banks").iterdir())) == len(banks)
    for bank_id in banks:
        handle = engine.banks.open(engine.grant(bank_id))
        with handle.read() as reader:
            assert reader.memories(MemoryQuery(), ALL).total == int(bank_id == "old")
    if "old" not in banks:
        with pytest.raises(NotFound):
            engine.banks.open(engine.grant("old"))
    engine.directory.close()
