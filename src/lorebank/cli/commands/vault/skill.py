"""vault skill: the texts that agents follow, as they ship with lorebank."""

from __future__ import annotations

from pathlib import Path

import click

from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.failures import FAILED, CliError
from lorebank.skills import NAMES, UNLINKED_CLAIMS, skill_text


@click.command(cls=Command)
@click.argument("name", type=click.Choice(NAMES), default=UNLINKED_CLAIMS)
@click.option("-o", "--output", metavar="DIR", help="Write DIR/NAME/SKILL.md instead of printing it.")
@click.option("--force", is_flag=True, help="Overwrite what is there.")
@pass_state
def skill(state: State, name: str, output: str | None, force: bool) -> None:
    """Print a skill for agents, or write it where a gateway finds it.

    NAME is knowledge-unlinked-claims when it is left out: going through the claims that the pass could
    not link.
    """
    text = skill_text(name)
    if output is None:
        state.printer.result({"name": name, "text": text}, lambda: print(text, end=""))
        return
    target = Path(output) / name / "SKILL.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(target, "w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CliError("conflict", f"{target} exists already; overwrite it with --force", FAILED) from None
    state.printer.result({"name": name, "file": str(target)}, lambda: state.printer.raw(f"Wrote {target}."))
