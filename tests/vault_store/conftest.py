"""A server's stores for each test, with and without the watcher."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_world import World, world


@pytest.fixture(params=[True, False], ids=["watched", "unwatched"])
def stores(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    with world(tmp_path, watch=request.param) as made:
        yield made
