"""The small local model, loaded once, and stores that search by meaning with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS / "vault_store"), str(_TESTS)]

from semantic_world import SemanticWorld  # noqa: E402

from lorebank.models.local import local_embedder  # noqa: E402
from lorebank.models.service import EmbedService  # noqa: E402
from lorebank.models.workers import WorkerPool  # noqa: E402


@pytest.fixture(scope="module")
def model() -> Iterator[EmbedService]:
    pool = WorkerPool(1)
    service = EmbedService(local_embedder(query_prefix=""), pool)
    service.start()
    yield service
    service.close()
    pool.close()


@pytest.fixture
def stores(tmp_path: Path, model: EmbedService) -> Iterator[SemanticWorld]:
    made = SemanticWorld(tmp_path, model)
    yield made
    made.close()
