"""A world for each test of assignments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from assignments_kit import SHARED, Opener, World, opened


@pytest.fixture
def open_world(tmp_path: Path) -> Iterator[Opener]:
    """Opens the test's folder again and again, with a new configuration where one is given."""
    with ExitStack() as stack:
        yield lambda config=None: stack.enter_context(opened(tmp_path, config))


@pytest.fixture
def world(open_world: Opener) -> World:
    """One without a configuration."""
    return open_world(None)


@pytest.fixture
def shared(open_world: Opener) -> World:
    """One with two named stores."""
    return open_world(SHARED)
