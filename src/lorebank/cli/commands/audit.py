"""audit: read the audit log, check its chain, and take it elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from lorebank.cli.api import Api
from lorebank.cli.base import Group, State, pass_state
from lorebank.cli.failures import FAILED, OK, CliError, usage
from lorebank.cli.output import Column, Printer, when
from lorebank.cli.progress import operation_step, watch
from lorebank.cli.wire import path

LOGS = path("v1", "lorebank", "audit-logs")
PAGE = 500
OUTCOMES = ("allow", "deny", "failure", "unauthenticated", "done", "error", "note")
_EXPECTED = re.compile(r"([1-9]\d{0,17}):([0-9a-f]{64})")
F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=Group)
def audit() -> None:
    """The audit log: who did what, and what was refused."""


def _filters(command: F) -> F:
    options = (
        click.option("-b", "--bank", metavar="BANK", help="Only of this bank."),
        click.option("--principal", metavar="NAME", help="Only of this one, for example user:bob or sa:ci."),
        click.option("--action", metavar="ACTION", help="Only this action, for example bank:recall."),
        click.option("--outcome", type=click.Choice(OUTCOMES), help="Only what ended so."),
        click.option("--request-id", metavar="ID", help="Only of this request."),
        click.option("--since", "start_date", metavar="TIME", help="From this time on (ISO 8601, UTC)."),
        click.option("--until", "end_date", metavar="TIME", help="Up to this time."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@audit.command("list")
@_filters
@click.option("--limit", type=click.IntRange(1, PAGE), default=20, show_default=True, help="Rows to show.")
@click.option("--offset", type=click.IntRange(0), default=0, help="Rows to skip.")
@pass_state
def list_rows(state: State, /, **asked: Any) -> None:
    """List rows, newest first."""
    with state.api() as api:
        answer = api.get(LOGS, **asked)
    columns = (
        Column("row", right=True, whole=True),
        Column("time", whole=True),
        Column("who"),
        Column("action"),
        Column("bank"),
        Column("outcome"),
        Column("why"),
    )
    rows = [_row(item) for item in answer["items"]]
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "No row matches."))


def _row(item: dict[str, Any]) -> tuple[Any, ...]:
    data = item["metadata"]
    why = data["reason"] or ", ".join(data["determining"])
    who = data["principal"] or "nobody"
    return (
        item["id"],
        when(item["started_at"])[5:],
        who,
        item["action"],
        item["bank_id"],
        data["outcome"],
        why,
    )


@audit.command("verify")
@click.option(
    "--expect",
    metavar="SEQ:HASH",
    help="A row noted down earlier; proves that the log was not written anew since.",
)
@pass_state
def verify(state: State, expect: str | None) -> int:
    """Walk the whole chain and say whether every row is what it was.

    Prints the newest row as SEQ:HASH: note it down elsewhere, and give it to --expect next time.
    The exit code is 1 when something does not fit.
    """
    with state.api() as api:
        started = api.post(f"{LOGS}/verify", {"expect": _expected(expect)})
        result = _watched(api, state.printer, started["operation_id"])
    state.printer.result(result, lambda: _verified(state.printer, result))
    return FAILED if result["problems"] else OK


def _expected(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    found = _EXPECTED.fullmatch(text.strip().lower())
    if found is None:
        raise usage("--expect takes SEQ:HASH as 'lorebank audit verify' prints it")
    return {"seq": int(found[1]), "hash": found[2]}


def _watched(api: Api, printer: Printer, task_id: str) -> dict[str, Any]:
    target = LOGS + path("verify", task_id)
    left = "the check goes on, or ended with this command"
    answer = watch(printer, "verify", lambda: operation_step(api.get(target)), left)
    return dict(answer.get("result_metadata") or {})


def _verified(printer: Printer, result: dict[str, Any]) -> None:
    for problem in result["problems"]:
        printer.say(problem)
    if not result["problems"]:
        printer.say(f"The chain is whole: {result['rows']} rows.")
    printer.raw(f"{result['head_seq']}:{result['head_hash']}")


@audit.command("export")
@_filters
@click.option("-o", "--output", metavar="FILE", help="Where to write. Default: to the terminal.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@pass_state
def export(state: State, /, output: str | None, force: bool, **asked: Any) -> None:
    """Write all rows that match as JSON lines, newest first, each with its place in the chain."""
    asked["end_date"] = asked["end_date"] or datetime.now(UTC).isoformat()
    with state.api() as api:
        if output is None:
            for item in _all(api, asked):
                state.printer.raw(json.dumps(item, ensure_ascii=True))
            return
        count = _to_file(Path(output), _all(api, asked), force=force)
    result = {"file": output, "rows": count}
    state.printer.result(result, lambda: state.printer.say(f"Wrote {count} rows to {output}."))


def _to_file(target: Path, items: Iterator[dict[str, Any]], *, force: bool) -> int:
    try:
        with open(target, "w" if force else "x", encoding="utf-8") as file:
            return _write(file, items)
    except FileExistsError:
        raise CliError("conflict", f"{target} exists already; overwrite it with --force", FAILED) from None


def _write(file: TextIO, items: Iterator[dict[str, Any]]) -> int:
    count = 0
    for item in items:
        file.write(json.dumps(item, ensure_ascii=True) + "\n")
        count += 1
    return count


def _all(api: Api, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every row once. Rows that are written meanwhile come in front and push the others back, so that a
    page may begin with rows that were there already; none is passed over."""
    last, offset = float("inf"), 0
    while True:
        items = api.get(LOGS, **asked, limit=PAGE, offset=offset)["items"]
        yield from (item for item in items if item["metadata"]["seq"] < last)
        if len(items) < PAGE:
            return
        last, offset = min(last, items[-1]["metadata"]["seq"]), offset + PAGE
