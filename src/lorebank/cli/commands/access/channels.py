"""access channel: which sender on which provider is which user."""

from __future__ import annotations

import click

from lorebank.cli.base import Group, State, pass_state
from lorebank.cli.commands.access.common import done, iam
from lorebank.cli.failures import usage
from lorebank.cli.output import Column


@click.group(cls=Group)
def channel() -> None:
    """Channels: which sender of a gateway is which user."""


@channel.command("add")
@click.argument("user_id", metavar="USER")
@click.argument("sender", metavar="PROVIDER:ID")
@pass_state
def add_channel(state: State, user_id: str, sender: str) -> None:
    """Say that a sender, for example telegram:123456, is USER."""
    provider, sender_id = _parts(sender)
    with state.api() as api:
        answer = api.post(iam("users", user_id, "channels"), {"provider": provider, "sender_id": sender_id})
    done(state, answer, f"{sender} is '{user_id}' now.")


@channel.command("list")
@click.argument("user_id", metavar="USER")
@pass_state
def list_channels(state: State, user_id: str) -> None:
    """List the senders that are USER."""
    with state.api() as api:
        answer = api.get(iam("users", user_id, "channels"))
    rows = [(one["provider"], one["sender_id"]) for one in answer]
    columns = (Column("provider"), Column("sender"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "The user has no channel."))


@channel.command("remove")
@click.argument("user_id", metavar="USER")
@click.argument("sender", metavar="PROVIDER:ID")
@pass_state
def remove_channel(state: State, user_id: str, sender: str) -> None:
    """Take a sender away from USER; he is a stranger then."""
    provider, sender_id = _parts(sender)
    with state.api() as api:
        answer = api.delete(iam("users", user_id, "channels", provider, sender_id))
    done(state, answer, f"{sender} is nobody now.")


def _parts(sender: str) -> tuple[str, str]:
    provider, colon, sender_id = sender.partition(":")
    if not (provider and colon and sender_id):
        raise usage("a sender is PROVIDER:ID, for example telegram:123456")
    return provider, sender_id
