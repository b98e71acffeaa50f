"""doctor, reembed, backup, restore: care for the data directory."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.failures import FAILED, OK, usage
from lorebank.cli.output import one_line, size
from lorebank.cli.program import program
from lorebank.cli.progress import watch_task


def _run(state: State, name: str, body: dict[str, Any]) -> dict[str, Any]:
    with state.api() as api:
        started = api.post(f"/v1/lorebank/{name}", body)
        result = watch_task(api, state.printer, started["operation_id"], name, local=state.in_process)
    return dict(result)


@click.command(cls=Command)
@click.option(
    "--rebuild", is_flag=True, help="Make everything derived anew from the rows, without a model call."
)
@click.option("--compact", is_flag=True, help="Rewrite the stores so that no deleted byte is left.")
@pass_state
def doctor(state: State, rebuild: bool, compact: bool) -> int:
    """Check every store and say what is wrong.

    The exit code is 1 when something is wrong.
    """
    result = _run(state, "doctor", {"rebuild": rebuild, "compact": compact})
    state.printer.result(result, lambda: _show_doctor(state, result))
    return FAILED if result.get("problems") else OK


def _show_doctor(state: State, result: dict[str, Any]) -> None:
    problems: dict[str, list[str]] = result.get("problems") or {}
    if "rebuilt" in result:
        state.printer.say("Rebuilt the indexes.")
    if "compacted" in result:
        state.printer.say("Compacted. Copies that 'backup' made may still hold deleted text.")
    for bank, found in problems.items():
        state.printer.say(f"{f'bank {bank}' if bank else 'registry'}:")
        for problem in found:
            state.printer.say(problem, indent=2)
    if problems:
        state.printer.say(
            "'lorebank doctor --rebuild' mends what is derived; a damaged store needs 'restore'."
        )
    else:
        state.printer.say("Nothing is wrong.")


@click.command(cls=Command)
@click.option(
    "--to", type=click.Choice(("local", "hosted")), help="The embedder. Default: the configured one."
)
@pass_state
def reembed(state: State, to: str | None) -> None:
    """Make all vectors anew with another model.

    The server goes on answering: the old vectors are used until the new ones are complete.
    """
    result = _run(state, "reembed", {"to": to})

    def human() -> None:
        state.printer.say("All vectors are of the chosen model now.")
        if to is not None:
            state.printer.say(
                f"Set 'embedder = {to}' in the server's settings, so that new banks use it too."
            )

    state.printer.result(result, human)


@click.command(cls=Command)
@click.argument("directory")
@pass_state
def backup(state: State, directory: str) -> None:
    """Copy everything into a folder, while serving.

    DIRECTORY must be empty, or not there yet. The copy is consistent.
    """
    target = directory if state.remote() else str(Path(directory).absolute())
    if state.remote() and not Path(directory).is_absolute():
        raise usage("with --url, DIRECTORY is an absolute path on the server's machine")
    result = _run(state, "backup", {"target": target})

    def human() -> None:
        told = f" ({size(int(result['bytes']))})" if isinstance(result.get("bytes"), int) else ""
        state.printer.raw(f"Copied everything to {target}{told}.")
        for problem in result.get("problems", ()):
            state.printer.raw(f"Not as it must be: {one_line(problem)}")
        state.printer.say(
            "Keep the copy private: it holds the root key, and what is deleted later stays in it "
            "('lorebank doctor --compact' does not reach it)."
        )

    state.printer.result({"directory": target, **result}, human)


@click.command(cls=Command)
@click.argument("directory")
@pass_state
def restore(state: State, directory: str) -> None:
    """Put a backup into an empty data directory.

    DIRECTORY is the backup; --data-dir names where it goes: a folder that is empty or not there yet.
    """
    if state.remote():
        raise usage("restore works on this machine's data directory; leave --url out")
    source = Path(directory).absolute()
    if not source.is_dir():
        raise usage(f"there is no directory {directory}")
    settings = state.settings()
    data_dir = settings.data_dir
    result = dict(state.hooks.restore(source, data_dir))
    knowledge = data_dir / "knowledge"

    def human() -> None:
        state.printer.raw(f"Restored {source} to {data_dir}.")
        if knowledge.is_dir() and settings.knowledge_folder != knowledge:
            state.printer.raw(
                f"Knowledge stores were restored to {knowledge}, but the settings name another folder "
                "(knowledge_dir or OPENCLAW_STATE_DIR): take that setting out, or name this one."
            )
        state.printer.raw(f"Serve it with: {program()} serve --data-dir {shlex.quote(str(data_dir))}")

    state.printer.result({"data_dir": str(data_dir), **result}, human)
