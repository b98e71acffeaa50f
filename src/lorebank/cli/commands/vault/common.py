"""What the vault commands share: paths, the agent whom a command is about, and records as rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from lorebank.cli.api import Api
from lorebank.cli.base import State
from lorebank.cli.output import Column, Printer, when
from lorebank.cli.progress import operation_step, watch
from lorebank.cli.wire import path

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT_AGENT = "main"


def knowledge(*rest: str) -> str:
    """A path of the knowledge API."""
    return path("v1", "lorebank", "knowledge", *rest)


def of_agent(agent: str, *rest: str) -> str:
    """A path of what concerns one agent."""
    return knowledge("agents", agent, *rest)


def agent_option(command: F) -> F:
    """The option `--agent`."""
    return click.option(
        "--agent", metavar="AGENT", default=DEFAULT_AGENT, show_default=True, help="Whose private knowledge."
    )(command)


def run_task(state: State, api: Api, target: str, body: Any, title: str) -> dict[str, Any]:
    """Start work on all stores, wait for it, and give back its result."""
    started = api.post(target, body)
    task = knowledge("tasks", str(started["operation_id"]))
    left = "it ended with this command" if state.in_process else "it goes on in the server"
    answer = watch(state.printer, title, lambda: operation_step(api.get(task)), left)
    return dict(answer.get("result_metadata") or {})


def show_records(printer: Printer, records: Sequence[dict[str, Any]], empty: str) -> None:
    """Records as a table; `id` is what 'show' takes."""
    columns = (Column("id", whole=True), Column("kind"), Column("title"), Column("state"), Column("updated"))
    printer.table(columns, [_row(one) for one in records], empty)
    if any(one.get("withheld") for one in records):
        printer.note(
            "Withheld files stand under their path; 'lorebank vault diagnostics' says what is wrong."
        )


def _row(one: dict[str, Any]) -> tuple[Any, ...]:
    if one.get("withheld"):
        return ("", "", one.get("path"), "withheld", "")
    return (
        one.get("id"),
        one.get("type") if one.get("kind") == "page" else one.get("kind"),
        one.get("title"),
        one.get("lifecycle") if one.get("valid", True) else f"{one.get('lifecycle')}, not valid",
        when(one.get("updatedAt"))[:10],
    )


def more(printer: Printer, answer: dict[str, Any]) -> None:
    """Say that there is more."""
    if answer.get("nextCursor"):
        printer.note(f"There is more: --cursor {answer['nextCursor']}")
