"""Watching long work: a bar on a terminal, a plain line every few seconds elsewhere.

The work itself runs in the server as a job; watching only reads. Ctrl-C stops the watching.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from lorebank.cli.api import Api, bank_path
from lorebank.cli.failures import FAILED, INTERRUPTED, MISSING, CliError
from lorebank.cli.output import Printer, safe
from lorebank.cli.wire import path

EVENT_SECONDS = 3.0
FIRST_POLL = 0.05
SLOWEST_POLL = 1.0
ENDED = ("completed", "failed", "cancelled", "not_found")


@dataclass(frozen=True, slots=True)
class Step:
    """How far a job is. `total` 0 means that it is not known."""

    status: str
    stage: str = ""
    processed: int = 0
    total: int = 0
    error: str = ""
    answer: Any = None


class _Display(Protocol):
    def show(self, step: Step) -> None: ...


def operation_step(answer: dict[str, Any]) -> Step:
    """An operation's state as the API tells it."""
    progress = answer.get("progress") or {}
    return Step(
        status=str(answer.get("status") or ""),
        stage=str(progress.get("stage") or ""),
        processed=int(progress.get("processed") or 0),
        total=int(progress.get("total") or 0),
        error=str(answer.get("error_message") or ""),
        answer=answer,
    )


def watch_operation(
    api: Api, printer: Printer, bank: str, operation_id: str, title: str, *, local: bool
) -> Any:
    """Wait for an operation of a bank and return its last state; a failure when it did not complete."""
    target = bank_path(bank, "operations", operation_id)
    left = (
        "it goes on in the server" if not local else "it goes on as soon as a server runs ('lorebank serve')"
    )
    how = f"{left}; see 'lorebank operation show {operation_id} --bank {bank}'"
    return watch(printer, title, lambda: operation_step(api.get(target)), how)


def watch_task(api: Api, printer: Printer, task_id: str, title: str, *, local: bool) -> Any:
    """Wait for work on the whole data directory and return its result."""
    target = path("v1", "lorebank", "tasks", task_id)
    how = "it goes on in the server; see 'lorebank status'" if not local else "it ended with this command"
    return watch(printer, title, lambda: operation_step(api.get(target)), how).get("result_metadata") or {}


def watch(printer: Printer, title: str, poll: Callable[[], Step], when_left: str) -> Any:
    """Poll until the work has ended; the last answer. `when_left` is told on Ctrl-C."""
    try:
        with _display(printer, title) as display:
            step = _until_ended(poll, display)
    except KeyboardInterrupt:
        raise CliError("interrupted", f"stopped watching {title}: {when_left}", INTERRUPTED) from None
    if step.status == "completed":
        return step.answer
    if step.status == "not_found":
        raise CliError("not_found", f"{title}: the operation is not there any more", MISSING)
    ended = (
        "was cancelled" if step.status == "cancelled" else f"failed: {step.error or 'no reason was given'}"
    )
    raise CliError(step.status, f"{title} {ended}", FAILED)


def _until_ended(poll: Callable[[], Step], display: _Display) -> Step:
    wait = FIRST_POLL
    while True:
        step = poll()
        display.show(step)
        if step.status in ENDED:
            return step
        time.sleep(wait)
        wait = min(wait * 1.5, SLOWEST_POLL)


@contextmanager
def _display(printer: Printer, title: str) -> Iterator[_Display]:
    if printer.as_json or not sys.stderr.isatty():
        yield _Lines(printer, title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False, markup=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(title, total=None)

        class Bar:
            def show(self, step: Step) -> None:
                told = f"{title}: {safe(step.stage or step.status)}"
                progress.update(task, description=told, completed=step.processed, total=step.total or None)

        yield Bar()


class _Lines:
    """One line at the start, one every few seconds, one at the end."""

    def __init__(self, printer: Printer, title: str) -> None:
        self._printer = printer
        self._title = title
        self._next = 0.0

    def show(self, step: Step) -> None:
        now = time.monotonic()
        if now < self._next and step.status not in ENDED:
            return
        self._next = now + EVENT_SECONDS
        far = {"processed": step.processed, "total": step.total} if step.total else {}
        self._printer.event(self._title, status=step.status, stage=step.stage or None, **far)
