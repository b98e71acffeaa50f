"""vault stores, share, use-shared, use-own: which agent has which store."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.commands.access.common import without_none
from lorebank.cli.commands.vault.common import knowledge, of_agent
from lorebank.cli.output import Column, Printer

NO_AGENT = "No agent is known yet, or none that your policies name."
NO_STORE = "There is no store yet that you may see; an agent's first use makes one."


@click.command(cls=Command)
@pass_state
def stores(state: State) -> None:
    """List every agent with its store, and every store.

    Looking makes no store.
    """
    with state.api() as api:
        answer = api.get(knowledge("stores"))
    state.printer.result(answer, lambda: _show(state.printer, answer))


def _show(printer: Printer, answer: dict[str, Any]) -> None:
    if answer["problem"]:
        printer.say(f"No store can be used: {answer['problem']}")
        return
    agents = [(one["agent"], _named(one["binding"]), _status(one)) for one in answer["agents"]]
    printer.table((Column("agent"), Column("store"), Column("state")), agents, NO_AGENT)
    rows = [
        (_named(one["binding"]) or one["name"], one["vaultId"], one["use"], _status(one), len(one["agents"]))
        for one in answer["stores"]
    ]
    columns = (
        Column("store"),
        Column("vault", whole=True),
        Column("use"),
        Column("state"),
        Column("agents", right=True),
    )
    printer.table(columns, rows, NO_STORE)
    problem = (answer.get("semantic") or {}).get("problem")  # an older server does not tell it
    if problem:
        printer.note(f"Search by meaning: {problem}.")


def _named(binding: str) -> str:
    kind, _, name = binding.partition(":")
    return {"own": f"own of {name}", "named": name}.get(kind, "")


def _status(one: dict[str, Any]) -> str:
    status, reason = str(one["status"]), str(one["reason"] or "")
    said = reason if reason.startswith(status) else ": ".join(filter(None, (status, reason)))
    return said.replace("_", " ")


@click.command(cls=Command)
@click.argument("agent")
@click.argument("name")
@click.option("--label", metavar="TEXT", help="What people call it. Default: NAME.")
@click.option(
    "--with", "others", metavar="AGENT", multiple=True, help="Another agent that joins. Repeatable."
)
@pass_state
def share(state: State, agent: str, name: str, label: str | None, others: tuple[str, ...]) -> None:
    """Make AGENT's own store the shared store NAME.

    The same data under another name: nothing is copied. Agents that join leave the shared stores
    that they were in.
    """
    body = without_none(name=name, label=label) | {"agents": list(others)}
    _assign(state, of_agent(agent, "share"), body)


@click.command("use-shared", cls=Command)
@click.argument("agent")
@click.argument("name")
@click.option("--label", metavar="TEXT", help="What people call it, where the store had lost its entry.")
@pass_state
def use_shared(state: State, agent: str, name: str, label: str | None) -> None:
    """Let AGENT use the shared store NAME.

    Nothing of the agent's present store is moved or merged.
    """
    _assign(state, of_agent(agent, "use-shared"), without_none(name=name, label=label))


@click.command("use-own", cls=Command)
@click.argument("agent")
@pass_state
def use_own(state: State, agent: str) -> None:
    """Let AGENT use a store of its own.

    Its earlier one if there is one; otherwise a new, empty one that its first use makes.
    """
    _assign(state, of_agent(agent, "use-own"), None)


def _assign(state: State, target: str, body: Any) -> None:
    with state.api() as api:
        answer = api.post(target, body)

    def human() -> None:
        store = _named(answer["binding"]) or "no store"
        there = f" ({answer['vaultId']})" if answer["vaultId"] else "; its first use makes it"
        state.printer.say(f"{answer['agent']} uses the store: {store}{there}.")

    state.printer.result(answer, human)
