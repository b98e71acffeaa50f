"""One fresh server for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from iam_server import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that knows nobody but root."""
    made = Server(tmp_path / "data")
    yield made
    made.close()
