"""One server process with planted stores for the whole folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

for _room in ("system", "isolation"):
    sys.path.insert(0, str(Path(__file__).parents[1] / _room))

from agents_world import SETTINGS, AgentsWorld  # noqa: E402
from live_server import Server  # noqa: E402


@pytest.fixture(scope="session")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentsWorld]:
    """Everything planted."""
    home = tmp_path_factory.mktemp("agents")
    with Server(home, {**SETTINGS, "LOREBANK_KNOWLEDGE_CONFIG": str(home / "knowledge.json5")}) as server:
        world = AgentsWorld(server)
        yield world
        world.close()
