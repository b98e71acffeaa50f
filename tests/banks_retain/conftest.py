"""A bank for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from retain_bank import Bank


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    opened = Bank(tmp_path / "data")
    yield opened
    opened.close()
