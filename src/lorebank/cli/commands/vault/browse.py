"""vault browse and diagnostics: an agent's private knowledge as an operator sees it, read-only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from lorebank.cli.base import Command, Group, State, pass_state
from lorebank.cli.commands.vault.common import agent_option, more, of_agent, show_records
from lorebank.cli.failures import FAILED, OK
from lorebank.cli.output import Column, Printer, moment, one_line

F = TypeVar("F", bound=Callable[..., Any])
KINDS = ("page", "claim", "relationship")
_ASIDE = ("text", "meta", "entities", "evidence", "relations", "claims", "findings")
"""What is told below the names and values of a record, or in --json only."""
_BY = {"relink": "the pass", "import": "an import"}


@click.group(cls=Group)
def browse() -> None:
    """Look into an agent's private knowledge. Operators never change it."""


def _page(command: F) -> F:
    options = (
        click.option("--kind", type=click.Choice(KINDS), help="Only records of this kind."),
        click.option(
            "--limit", type=click.IntRange(1, 50), default=20, show_default=True, help="Records to show."
        ),
        click.option("--cursor", metavar="CURSOR", help="Go on where an earlier answer ended."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@browse.command("list")
@agent_option
@_page
@pass_state
def list_records(state: State, /, agent: str, **page: Any) -> None:
    """List records."""
    with state.api() as api:
        answer = api.get(of_agent(agent, "records"), **page)
    _show_page(state.printer, answer, "There is no record.")


@browse.command("search")
@click.argument("query")
@agent_option
@_page
@pass_state
def search_records(state: State, /, query: str, agent: str, **page: Any) -> None:
    """Find records, best first."""
    with state.api() as api:
        answer = api.get(of_agent(agent, "records"), q=query, **page)
    _show_page(state.printer, answer, "Nothing matches.")


def _show_page(printer: Printer, answer: dict[str, Any], empty: str) -> None:
    def human() -> None:
        show_records(printer, answer.get("records") or answer.get("hits") or [], empty)
        more(printer, answer)

    printer.result(answer, human)


@browse.command("show")
@click.argument("record_id")
@agent_option
@pass_state
def show_record(state: State, record_id: str, agent: str) -> None:
    """Show one record with its evidence."""
    with state.api() as api:
        answer = api.get(of_agent(agent, "records", record_id))
    state.printer.result(answer, lambda: _show(state.printer, answer))


def _show(printer: Printer, answer: dict[str, Any]) -> None:
    for record in answer.get("records", [answer]):
        plain = ((name, value) for name, value in record.items() if name not in _ASIDE)
        printer.pairs([*plain, *_joined(record)])
        printer.say()
        printer.say(str(record.get("text") or ""))
        for finding in record.get("findings", ()):
            printer.say(one_line(f"{_place(finding)}: {finding.get('message')}"))
    for twin in answer.get("duplicates", ()):
        printer.say(str(twin.get("message")))


def _joined(record: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What it is about, what it rests on, and what rests on it."""
    for entity in record.get("entities") or ():
        yield "about", f"{entity.get('title')} ({entity.get('id')})"
    for one in record.get("evidence") or ():
        checked = "" if one.get("verified") else " [not verified]"
        lines = f", lines {one['lines']}" if one.get("lines") else ""
        name = one.get("filename") or "source"
        yield "evidence", f"{_quoted(one.get('quote'))}{name} {one.get('source')}{lines}{checked}"
    for one in record.get("relations") or ():
        other = one.get("other") or {}
        named = f"{other.get('title')} ({other.get('id')})" if isinstance(other, dict) else str(other)
        yield "relation", f"{'to' if one.get('direction') == 'out' else 'from'} {named}: {one.get('type')}"
    for one in record.get("claims") or ():
        yield "claim", f"{one.get('title')} ({one.get('id')})"


def _quoted(text: str | None) -> str:
    return f'"{text}", ' if text else ""


@browse.command("history")
@click.argument("record_id")
@agent_option
@pass_state
def show_history(state: State, record_id: str, agent: str) -> None:
    """Show who wrote each of a record's revisions."""
    with state.api() as api:
        answer = api.get(of_agent(agent, "records", record_id, "history"))
    rows = [
        (one.get("revision"), moment(one.get("at")), one.get("change"), _by(one))
        for one in answer.get("revisions") or answer.get("history") or []
    ]
    columns = (Column("revision", right=True), Column("time", whole=True), Column("change"), Column("by"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "Nothing is known of it."))


def _by(revision: dict[str, Any]) -> str:
    return revision.get("agent") or _BY.get(str(revision.get("change")), "an editor")


@click.command(cls=Command)
@agent_option
@pass_state
def diagnostics(state: State, agent: str) -> int:
    """Say what is wrong with files of an agent's private knowledge.

    The exit code is 1 when something is wrong.
    """
    with state.api() as api:
        answer = api.get(of_agent(agent, "diagnostics"))
    found = answer.get("findings") or []

    def human() -> None:
        rows = [(_place(one), one.get("id"), one.get("rule"), one.get("message")) for one in found]
        columns = (Column("file"), Column("record"), Column("rule"), Column("what"))
        state.printer.table(columns, rows, "Nothing is wrong.")
        if answer.get("truncated"):
            state.printer.note("There are more; mend these first.")

    state.printer.result(answer, human)
    return FAILED if found else OK


def _place(one: dict[str, Any]) -> str:
    return f"{one.get('path')}:{one['line']}" if one.get("line") else str(one.get("path"))
