"""Old rows go where a setting says so, at the start and then daily; the chain stays whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lorebank.access.audit import AuditEvent, AuditQuery
from lorebank.bootstrap.retention import Retention
from lorebank.errors import Unavailable
from lorebank.storage.ports import Page
from lorebank.storage.sqlite.directory import DataDirectory

DAY = 86_400_000_000


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[DataDirectory]:
    with DataDirectory.open(tmp_path / "data") as opened:
        for day in range(10):
            event = AuditEvent(at=day * DAY, principal="user:bob", action="bank:recall", outcome="allow")
            opened.audit.record(event, durable=False)
        yield opened


def of_bob(directory: DataDirectory) -> list[int]:
    found = directory.audit.rows(AuditQuery(principal="user:bob"), Page(100))
    return [row.event.at // DAY for row in found.rows]


def test_rows_older_than_the_setting_go_and_the_chain_still_holds(directory: DataDirectory) -> None:
    assert Retention(directory.audit, 4, clock=lambda: 9 * DAY).trim() == 5
    assert of_bob(directory) == [9, 8, 7, 6, 5]
    assert directory.audit.verify(lambda *_: None).problems == ()
    assert Retention(directory.audit, 4, clock=lambda: 9 * DAY).trim() == 0


def test_the_background_trims_at_once_and_again(directory: DataDirectory) -> None:
    days, trimmed = iter([7, 9]), threading.Semaphore(0)

    class Watched(Retention):
        def trim(self) -> int:
            gone = super().trim()
            trimmed.release()
            return gone

    retention = Watched(directory.audit, 4, clock=lambda: next(days, 9) * DAY, every_s=0.01)
    retention.start()
    assert trimmed.acquire(timeout=30) and trimmed.acquire(timeout=30)
    retention.close()
    assert of_bob(directory) == [9, 8, 7, 6, 5]


def test_without_a_setting_nothing_goes_and_nothing_runs(directory: DataDirectory) -> None:
    before = threading.active_count()
    retention = Retention(directory.audit, 0, clock=lambda: 10**6 * DAY)
    retention.start()
    assert threading.active_count() == before
    retention.close()
    assert len(of_bob(directory)) == 10


def test_a_disk_that_refuses_is_told_and_tried_again(
    directory: DataDirectory, caplog: pytest.LogCaptureFixture
) -> None:
    calls = threading.Semaphore(0)

    class Refusing(Retention):
        def trim(self) -> int:
            calls.release()
            raise Unavailable("the disk is full")

    retention = Refusing(directory.audit, 1, every_s=0.01)
    retention.start()
    assert calls.acquire(timeout=30) and calls.acquire(timeout=30)
    retention.close()
    assert "could not be trimmed: the disk is full" in caplog.text
