"""vault check, resolve, import: care for knowledge stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.commands.access.common import without_none
from lorebank.cli.commands.vault.common import knowledge, run_task
from lorebank.cli.failures import FAILED, OK, usage
from lorebank.cli.output import Printer, one_line


@click.command(cls=Command)
@click.option("--read-all", is_flag=True, help="Read every file and every retained source.")
@pass_state
def check(state: State, read_all: bool) -> int:
    """Check every knowledge store, and the store map, and say what is wrong.

    The exit code is 1 when something is wrong.
    """
    with state.api() as api:
        result = run_task(state, api, knowledge("check"), {"readAll": read_all}, "check")
    problems = _problems(result.get("stores") or {})
    settings = [str(said) for said in result.get("settings") or ()]
    state.printer.result(result, lambda: _show(state.printer, settings, problems))
    return FAILED if problems or settings else OK


def _problems(stores: Any) -> dict[str, list[str]]:
    """Store -> what is wrong with it."""
    if isinstance(stores, dict):
        return {str(store): [str(one) for one in found] for store, found in stores.items() if found}
    return {
        str(one.get("store") or one.get("vaultId")): [str(said) for said in one["problems"]]
        for one in stores
        if one.get("problems")
    }


def _show(printer: Printer, settings: list[str], problems: dict[str, list[str]]) -> None:
    for said in settings:
        printer.say(said)
    for store, found in problems.items():
        printer.say(f"{store}:")
        for problem in found:
            printer.say(one_line(problem), indent=2)  # a file name can have line breaks
    if not problems and not settings:
        printer.say("Nothing is wrong. 'lorebank vault diagnostics' looks at what records say.")


@click.command(cls=Command)
@click.argument("vault_id")
@click.argument("request_id")
@click.option(
    "--keep",
    type=click.Choice(("mine", "theirs")),
    required=True,
    help="mine: what was to be saved; theirs: what stands in the files now.",
)
@click.option("--partition", metavar="FOLDER", default="private", show_default=True, help="Where it is.")
@pass_state
def resolve(state: State, vault_id: str, request_id: str, keep: str, partition: str) -> None:
    """End a save that a change of its files stopped.

    'lorebank vault check' tells the ids. With mine, what stands in the files goes into history first.
    """
    body = {"requestId": request_id, "keep": keep, "folder": partition}
    with state.api() as api:
        answer = api.post(knowledge("stores", vault_id, "resolve"), body)
    state.printer.result(answer, lambda: state.printer.say("Resolved; the store can be used again."))


@click.command("import", cls=Command)
@click.argument("directory")
@click.option("--name", metavar="NAME", help="Make it the shared store NAME.")
@click.option("--agent", metavar="AGENT", help="Make it AGENT's own store.")
@pass_state
def import_store(state: State, directory: str, name: str | None, agent: str | None) -> None:
    """Read knowledge of another program into new stores.

    DIRECTORY is its knowledge folder, or one vault. Markdown, evidence and git history are read; nothing
    in it is changed.
    """
    if name is not None and agent is not None:
        raise usage("say --name or --agent, not both")
    if state.remote() and not Path(directory).is_absolute():
        raise usage("with --url, DIRECTORY is an absolute path on the server's machine")
    source = directory if state.remote() else str(Path(directory).absolute())
    with state.api() as api:
        body = without_none(path=source, name=name, agent=agent)
        result = run_task(state, api, knowledge("import"), body, "import")

    def human() -> None:
        for store in result.get("stores", ()):
            _show_imported(state, store)
        for source, reason in dict(result.get("failed", {})).items():
            state.printer.raw(f"{one_line(source)} is not imported: {one_line(reason)}")
        state.printer.say(_next(agent, name))

    state.printer.result(result, human)


def _next(agent: str | None, name: str | None) -> str:
    if agent is not None:
        return f"{agent} uses it unless the store map names another one; see 'lorebank vault stores'."
    return f"'lorebank vault use-shared AGENT {name or 'NAME'}' lets an agent use it."


def _show_imported(state: State, store: dict[str, Any]) -> None:
    """One new store, and what was left out of it."""
    whose = f"the store '{store['name']}'" if store["name"] else f"{store['agent']}'s own store"
    records, withheld, sources = (
        sum(part[key] for part in store["partitions"]) for key in ("records", "withheld", "sources")
    )
    state.printer.raw(
        f"{one_line(store['source'])} is {one_line(whose)} now ({store['vaultId']}): {records} records, "
        f"{withheld} withheld, {sources} retained files, {store['commits']} commits of history."
    )
    if withheld:
        state.printer.raw(
            "  Withheld files are kept as they are and answer nothing, because they are no records or lie in "
            "the wrong place;\n  'lorebank vault diagnostics --agent AGENT' tells what each one lacks."
        )
    for problem in store["problems"]:
        state.printer.raw(f"  {one_line(problem['path'])} {one_line(problem['message'])}")
    if store["truncated"]:
        state.printer.raw(f"  … {store['totalProblems']} in all")
