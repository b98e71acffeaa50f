"""Watching long work."""

from __future__ import annotations

import io
import json

import pytest

from lorebank.cli import progress
from lorebank.cli.failures import FAILED, INTERRUPTED, CliError
from lorebank.cli.output import Printer
from lorebank.cli.progress import Step, operation_step, watch

DONE = {"status": "completed", "progress": {"stage": "store", "processed": 5, "total": 5, "at": "2026-01-01"}}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_POLL", 0.0)


def test_elsewhere_a_line_at_the_start_and_one_at_the_end() -> None:
    err = io.StringIO()
    steps = iter([Step("pending"), Step("processing", "read", 1, 5), operation_step(DONE)])
    answer = watch(Printer(as_json=False, err=err), "import", lambda: next(steps), "it goes on")
    assert answer == DONE
    assert err.getvalue().splitlines() == [
        "import: status pending",
        "import: status completed, stage store, processed 5, total 5",
    ]


def test_a_line_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    err = io.StringIO()
    monkeypatch.setattr(progress, "EVENT_SECONDS", 0.0)
    steps = iter([Step("processing", "read", n, 3) for n in range(3)] + [operation_step(DONE)])
    watch(Printer(as_json=True, err=err), "import", lambda: next(steps), "it goes on")
    events = [json.loads(line) for line in err.getvalue().splitlines()]
    assert [event["processed"] for event in events] == [0, 1, 2, 5]


def test_a_failed_operation_fails_with_its_reason() -> None:
    with pytest.raises(CliError, match="import failed: the archive is damaged") as caught:
        watch(Printer(as_json=True, err=io.StringIO()), "import",
              lambda: Step("failed", error="the archive is damaged"), "")  # fmt: skip
    assert caught.value.exit_code == FAILED


def test_ctrl_c_ends_the_watching_and_says_that_the_work_goes_on() -> None:
    def interrupt() -> Step:
        raise KeyboardInterrupt

    with pytest.raises(CliError, match="stopped watching import: it goes on in the server") as caught:
        watch(Printer(as_json=True, err=io.StringIO()), "import", interrupt, "it goes on in the server")
    assert caught.value.exit_code == INTERRUPTED
