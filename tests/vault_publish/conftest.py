"""A store of real parts for each test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from vault_publish_store import Store, make_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    make_store(tmp_path)
    found = Store(tmp_path)
    found.recover()
    yield found
    found.close()
