"""audit: read the audit log, check its chain, and take it elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from lorebank.cli.api import Api, bank_path
from lorebank.cli.base import Group, State, pass_state
from lorebank.cli.failures import FAILED, OK, CliError, usage
from lorebank.cli.output import Column, Printer, moment
from lorebank.cli.progress import operation_step, watch
from lorebank.cli.wire import path

LOGS = path("v1", "lorebank", "audit-logs")
PAGE = 500
UNBROKEN = 18  # characters of a name or an action that are not broken in a list
OUTCOMES = ("allow", "deny", "failure", "unauthenticated", "done", "error", "note")
_EXPECTED = re.compile(r"([1-9]\d{0,17}):([0-9a-f]{64})")
F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=Group)
def audit() -> None:
    """The audit log: who did what, and what was refused."""


def _kind_and_id(context: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and ":" not in value:
        raise click.BadParameter(f"say of which kind it is: user:{value} or sa:{value}")
    return value


def _filters(command: F) -> F:
    options = (
        click.option("-b", "--bank", metavar="BANK", help="Only of this bank."),
        click.option(
            "--principal",
            metavar="NAME",
            callback=_kind_and_id,
            help="Only of this one, for example user:bob or sa:ci.",
        ),
        click.option("--action", metavar="ACTION", help="Only this action, for example bank:recall."),
        click.option(
            "--operation", metavar="NAME", help="Only this operation, for example grant_knowledge_access."
        ),
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
    """List rows, newest first.

    Times are in UTC. The operation stands behind the action where that opens several. 'on' is the bank,
    or else the id of what was asked for. --json has all fields, with the row's number and the statements
    that decided. With --bank the right to see that bank's rows (bank:audit:list) is enough.
    """
    page = {name: asked.pop(name) for name in ("limit", "offset")}
    with state.api() as api:
        answer = _Rows(api, asked).page(**page)
    state.printer.result(answer, lambda: _show(state.printer, answer["items"]))


def _show(printer: Printer, items: list[dict[str, Any]]) -> None:
    rows = [_row(item) for item in items]
    longest = max((len(item["action"]) for item in items), default=0)
    columns = (
        Column("time", whole=True),
        Column("who", whole=_short(rows, 1)),
        Column("action and operation", least=min(UNBROKEN, longest)),
        Column("on"),
        Column("outcome"),
    )
    printer.table(columns, rows, "No row matches.")


class _Rows:
    """The rows that match. Who may not read the whole server's log reads the one bank's that he names."""

    def __init__(self, api: Api, asked: dict[str, Any]) -> None:
        self._api = api
        self._target, self._asked = LOGS, asked

    def page(self, limit: int, offset: int) -> Any:
        """One page, newest first."""
        try:
            return self._api.get(self._target, **self._asked, limit=limit, offset=offset)
        except CliError as exc:
            bank = self._asked.get("bank")
            if exc.code != "forbidden" or bank is None:
                raise
        self._target = bank_path(bank, "audit-logs")
        self._asked = {name: value for name, value in self._asked.items() if name != "bank"}
        return self.page(limit, offset)


def _short(rows: Sequence[Sequence[Any]], column: int) -> bool:
    return all(len(row[column]) <= UNBROKEN for row in rows)


def _row(item: dict[str, Any]) -> tuple[Any, ...]:
    data = item["metadata"]
    who = data["principal"] or "nobody"
    return (
        moment(item["started_at"]),
        who,
        _what(item["action"], data["operation"]),
        _on(item["bank_id"], data["target"]),
        _outcome(data["outcome"], data["reason"]),
    )


def _what(action: str, operation: str) -> str:
    """The action, and the operation where the action does not say it: one opens several."""
    return action if operation == action.rpartition(":")[2] else f"{action} {operation}".rstrip()


def _on(bank: str | None, target: str | None) -> str | None:
    """The bank, else the target; of an agent's knowledge also what it was that was asked for."""
    if bank and bank.startswith("agent:") and target and target.startswith(f"{bank[6:]}/"):
        return f"agent:{target}"
    return bank or target


def _outcome(outcome: str, reason: str) -> str:
    """The outcome, and why not where something was refused."""
    return f"{outcome}: {reason}" if reason and outcome not in ("allow", "done") else outcome


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
        first = result["head_seq"] - result["rows"] + 1
        since = f", from row {first} on; those before went because of their age" if first > 1 else ""
        printer.say(f"The chain is whole: {result['rows']} rows{since}.")
    printer.raw(f"{result['head_seq']}:{result['head_hash']}")


@audit.command("export")
@_filters
@click.option("-o", "--output", metavar="FILE", help="Where to write. Default: to the terminal.")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@pass_state
def export(state: State, /, output: str | None, force: bool, **asked: Any) -> None:
    """Write all rows that match as JSON lines.

    Newest first, each with its place in the chain.
    """
    asked["end_date"] = asked["end_date"] or datetime.now(UTC).isoformat()
    with state.api() as api:
        if output is None:
            for item in _all(api, asked):
                state.printer.raw(json.dumps(item, ensure_ascii=True))
            return
        count = _to_file(Path(output), _begun(_all(api, asked)), force=force)
    result = {"file": output, "rows": count}
    state.printer.result(result, lambda: state.printer.say(f"Wrote {count} rows to {output}."))


def _begun(items: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same items, the first one fetched: a request that is refused leaves no empty file behind."""
    return chain(list(islice(items, 1)), items)


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
    rows, last, offset = _Rows(api, asked), float("inf"), 0
    while True:
        items = rows.page(PAGE, offset)["items"]
        yield from (item for item in items if item["metadata"]["seq"] < last)
        if len(items) < PAGE:
            return
        last, offset = min(last, items[-1]["metadata"]["seq"]), offset + PAGE
