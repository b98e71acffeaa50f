"""vault conversations, grants, grant, revoke: which conversation reaches an agent's private knowledge."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.commands.vault.common import of_agent
from lorebank.cli.output import Column, when


@click.command(cls=Command)
@click.argument("agent")
@pass_state
def conversations(state: State, agent: str) -> None:
    """List AGENT's group and channel conversations, as its host reported them."""
    with state.api() as api:
        answer = api.get(of_agent(agent, "conversations"))
    rows = [
        (one["sessionKey"], one["kind"], one["label"], (one["grant"] or {}).get("access") or "its own only")
        for one in answer["conversations"]
    ]
    columns = (Column("session key"), Column("kind"), Column("label"), Column("reaches"))

    def human() -> None:
        state.printer.table(columns, rows, "The host has reported no conversation.")
        _unreported(state, answer)

    state.printer.result(answer, human)


@click.command(cls=Command)
@click.argument("agent")
@pass_state
def grants(state: State, agent: str) -> None:
    """List the conversations that reach AGENT's private knowledge."""
    with state.api() as api:
        answer = api.get(of_agent(agent, "grants"))
    rows = [
        (one["sessionKey"], one["access"], one["grantedBy"], when(one["grantedAt"]), one["mark"])
        for one in answer["grants"]
    ]
    columns = (Column("session key"), Column("access"), Column("by"), Column("since"), Column("note"))

    def human() -> None:
        state.printer.table(columns, rows, "There is no grant.")
        _unreported(state, answer)

    state.printer.result(answer, human)


def _unreported(state: State, answer: dict[str, Any]) -> None:
    """Say that nobody knows the agent: its name may be misspelled."""
    if answer.get("reported") is None:
        state.printer.note("No host has reported its agents yet.")
    elif not answer["reported"]:
        state.printer.note(
            f"No host has an agent '{answer['agent']}' now; 'lorebank vault stores' lists the agents."
        )


@click.command(cls=Command)
@click.argument("agent")
@click.argument("session_key")
@click.argument("access", type=click.Choice(("read", "read-and-save")))
@pass_state
def grant(state: State, agent: str, session_key: str, access: str) -> None:
    """Let a conversation reach AGENT's private knowledge.

    SESSION_KEY covers the conversation with exactly this key, and those whose keys extend it with ':'.
    The most specific grant wins. It is in force at once.
    """
    with state.api() as api:
        answer = api.put(of_agent(agent, "grants"), {"sessionKey": session_key, "access": access})
    state.printer.result(
        answer,
        lambda: state.printer.say(
            f"{session_key} may {access.replace('-', ' ')} {agent}'s private knowledge."
        ),
    )


@click.command(cls=Command)
@click.argument("agent")
@click.argument("session_key")
@pass_state
def revoke(state: State, agent: str, session_key: str) -> None:
    """Take a conversation's grant away.

    It is in force at once. What the conversation has read stays read.
    """
    with state.api() as api:
        answer = api.post(of_agent(agent, "grants", "revoke"), {"sessionKey": session_key})

    def human() -> None:
        if not answer["revoked"]:
            state.printer.say(f"There was no such grant; 'lorebank vault grants {agent}' shows them.")
            return
        state.printer.say("The grant is gone.")
        state.printer.note(answer["note"])

    state.printer.result(answer, human)
