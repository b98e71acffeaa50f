"""Processes that are killed while they write: files are old or new, the history is whole."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lorebank.storage.tree.git import GitHistory
from lorebank.storage.tree.tree import FileTree

WRITER = """
import hashlib, sys
from pathlib import Path
from lorebank.storage.tree.git import GitHistory
from lorebank.storage.tree.tree import FileTree
vault = Path(sys.argv[1])
tree, history = FileTree(vault), GitHistory(vault, create=True)
path, number = "private/people/a.md", int(sys.argv[2])
while True:
    old = tree.read(path, max_bytes=100_000)[1] if tree.state(path) else None
    number += 1
    new = (f"{number} " * 2000).encode()
    tree.put(path, new, expected=old and hashlib.sha256(old).hexdigest())
    commit = history.commit({path: new}, author="main", message=str(number))
    history.refresh_index()
    print(number, commit, flush=True)
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_kill_leaves_whole_files_and_a_usable_history(tmp_path: Path, seed: int) -> None:
    (tmp_path / "private").mkdir()
    script = tmp_path.parent / "writer.py"
    script.write_text(WRITER)
    number = 0
    for kill in range(3):
        writer = subprocess.Popen(
            [sys.executable, str(script), str(tmp_path), str(number)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(3 + (seed * 7 + kill * 5) % 11)]
        writer.send_signal(signal.SIGKILL)
        lines += [line for line in writer.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        writer.stdout.close()
        writer.wait()
        last, commit = lines[-1].split()
        number = int(last)
        tree, history = FileTree(tmp_path), GitHistory(tmp_path, create=True)
        tree.sweep()
        content = tree.read("private/people/a.md", max_bytes=100_000)[1].decode().split()
        assert len(content) == 2000 and set(content) <= {str(number), str(number + 1)}
        assert commit in {found.id for found in history.log(limit=3)}
        assert all("lock" in line for line in history.check())
        assert list(tmp_path.rglob(".lb-*")) == []
        number = int(content[0])
