"""Servers whose audit logs are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from audited import Audited, audited


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Audited]:
    """A fresh server."""
    with audited(tmp_path / "data") as made:
        yield made
