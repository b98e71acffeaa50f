"""access rights: what the caller's own key may do on a bank."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from lorebank.cli.api import bank_path
from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.output import Printer

_MAIN = ("bank:recall", "bank:retain", "bank:reflect")


@click.command(cls=Command)
@click.argument("bank")
@pass_state
def rights(state: State, bank: str) -> None:
    """Show what your own key may do on BANK, and how.

    For a BANK such as agent:hr-1 also what you may do with that agent's knowledge.
    """
    with state.api() as api:
        answer = api.get(bank_path(bank, "access"))
    state.printer.result(answer, lambda: _show(state.printer, answer))


def _show(printer: Printer, answer: dict[str, Any]) -> None:
    allowed = [action for action, yes in answer["actions"].items() if yes]
    missing = [action for action, yes in answer["actions"].items() if not yes]
    printer.pairs(
        [
            ("who", _who(answer["principal"])),
            ("bank", answer["bank_id"]),
            ("may", _short(allowed) if missing else "everything"),
            ("may not", _short(one for one in _MAIN if one in missing) or None),
            *_how(answer),
            ("not through", answer["exclude_providers"] or None),
            *_knowledge(answer.get("knowledge") or {}),
        ]
    )
    if "knowledge" in answer and not all(answer["knowledge"].values()):
        printer.note(
            f"'lorebank access explain --bank {answer['bank_id']} --action knowledge:read' tells which "
            "policy decides; 'operatorRead' of the store map is asked besides."
        )


def _knowledge(actions: dict[str, bool]) -> list[tuple[str, Any]]:
    """What an operator may do with an agent's knowledge; recall and save are the agent's own."""
    may = [action.partition(":")[2] for action, yes in actions.items() if yes]
    may_not = [action.partition(":")[2] for action, yes in actions.items() if not yes]
    return [("knowledge: may", may or None), ("knowledge: may not", may_not or None)]


def _who(principal: dict[str, Any]) -> str:
    if principal["kind"] == "local":
        return "the owner of the data directory"
    return f"{principal['kind'].replace('_', ' ')} {principal['id']}"


def _how(answer: dict[str, Any]) -> list[tuple[str, Any]]:
    """What is restricted or added, by the action that it holds for."""
    told: list[tuple[str, Any]] = []
    for action in ("recall", "retain", "reflect"):
        for name, value in answer[action].items():
            if value is not None and (value or name == "roles") and answer["actions"][f"bank:{action}"]:
                told.append((f"{action}: {name.replace('_', ' ')}", value or "none"))
    return told


def _short(actions: Iterable[str]) -> list[str]:
    return [action.removeprefix("bank:") for action in actions]
