"""A bench for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from recall_bank import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    opened = Bench(tmp_path / "data")
    yield opened
    opened.close()
