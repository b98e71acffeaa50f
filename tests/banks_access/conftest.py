"""A house for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from access_house import House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A server with root alone."""
    made = House(tmp_path / "data")
    yield made
    made.close()
