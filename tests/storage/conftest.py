"""One fixture for every engine: the port's suite runs against each of `ENGINES`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from storage_kit import Engine, open_engine

from lorebank.storage.ports import BankHandle

ENGINES = {"sqlite": open_engine}


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    opened = ENGINES[request.param](tmp_path / "data")
    yield opened
    opened.directory.close()


@pytest.fixture
def bank(engine: Engine) -> Iterator[BankHandle]:
    """A bank with everything in sight; afterwards its own rules must hold."""
    handle = engine.bank()
    yield handle
    assert list(handle.check()) == []
