"""operation: the jobs of a bank."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.api import bank_path
from lorebank.cli.base import Group, State, bank_option, pass_state
from lorebank.cli.failures import MISSING, CliError
from lorebank.cli.output import Column, when
from lorebank.cli.progress import operation_step, watch_operation

STATES = ("pending", "processing", "completed", "failed", "cancelled")


@click.group(cls=Group)
def operation() -> None:
    """Operations: work that goes on in the background."""


@operation.command("list")
@bank_option
@click.option("--status", "only", type=click.Choice(STATES), help="Only in this state.")
@click.option("--type", "kind", metavar="TYPE", help="Only of this type, for example retain.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True, help="Rows to show.")
@click.option("--offset", type=click.IntRange(0), default=0, help="Rows to skip.")
@pass_state
def list_operations(
    state: State, bank: str, only: str | None, kind: str | None, limit: int, offset: int
) -> None:
    """List a bank's operations, newest first."""
    with state.api() as api:
        answer = api.get(bank_path(bank, "operations"), status=only, type=kind, limit=limit, offset=offset)
    rows = [(o["id"], o["task_type"], o["status"], when(o["created_at"])) for o in answer["operations"]]
    columns = (Column("id", whole=True), Column("type"), Column("state", whole=True), Column("made"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "The bank has no operation."))


@operation.command("show")
@click.argument("operation_id")
@bank_option
@click.option("--wait", is_flag=True, help="Watch it until it has ended.")
@pass_state
def show_operation(state: State, operation_id: str, bank: str, wait: bool) -> None:
    """Show one operation."""
    with state.api() as api:
        if wait:
            watch_operation(api, state.printer, bank, operation_id, "operation", local=state.in_process)
        answer = api.get(bank_path(bank, "operations", operation_id))
    if answer.get("status") == "not_found":
        raise CliError("not_found", f"there is no operation {operation_id} in the bank '{bank}'", MISSING)
    state.printer.result(answer, lambda: state.printer.pairs(_told(answer)))


def _told(answer: dict[str, Any]) -> list[tuple[str, Any]]:
    step = operation_step(answer)
    far = f"{step.processed} of {step.total}" if step.total else ""
    return [
        ("operation", answer.get("operation_id")),
        ("type", answer.get("operation_type")),
        ("state", answer.get("status")),
        ("stage", " ".join(part for part in (step.stage, far) if part)),
        ("made", when(answer.get("created_at"))),
        ("ended", when(answer.get("completed_at"))),
        ("tried again", answer.get("retry_count") or None),
        ("next try", when(answer.get("next_retry_at"))),
        ("error", answer.get("error_message")),
        ("result", answer.get("result_metadata") or None),
    ]


@operation.command("cancel")
@click.argument("operation_id")
@bank_option
@pass_state
def cancel_operation(state: State, operation_id: str, bank: str) -> None:
    """Stop an operation."""
    with state.api() as api:
        answer = api.delete(bank_path(bank, "operations", operation_id))
    _say(state, answer, "Cancelled.")


@operation.command("retry")
@click.argument("operation_id")
@bank_option
@pass_state
def retry_operation(state: State, operation_id: str, bank: str) -> None:
    """Try a failed or cancelled operation again."""
    with state.api() as api:
        answer = api.post(bank_path(bank, "operations", operation_id, "retry"))
    _say(state, answer, "It will be tried again.")


@operation.command("delete")
@click.argument("operation_id")
@bank_option
@pass_state
def delete_operation(state: State, operation_id: str, bank: str) -> None:
    """Forget an operation that has ended."""
    with state.api() as api:
        answer = api.delete(bank_path(bank, "operations", operation_id, "delete"))
    _say(state, answer, "Deleted.")


def _say(state: State, answer: dict[str, Any], otherwise: str) -> None:
    state.printer.result(answer, lambda: state.printer.say(str(answer.get("message") or otherwise)))
