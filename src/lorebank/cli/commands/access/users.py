"""access user: people and agents with keys of their own."""

from __future__ import annotations

import click

from lorebank.cli.base import Group, State, confirm, confirm_option, pass_state
from lorebank.cli.commands.access.common import done, iam, lorebank_access, state_word, without_none
from lorebank.cli.commands.access.holdings import show_all
from lorebank.cli.output import Column, one_line


@click.group(cls=Group)
def user() -> None:
    """Users: whoever has rights, a person or an agent."""


@user.command("add")
@click.argument("user_id", metavar="ID")
@click.option("--name", metavar="TEXT", help="A name for people. Default: the id.")
@click.option("--email", metavar="ADDRESS", help="An e-mail address.")
@pass_state
def add_user(state: State, user_id: str, name: str | None, email: str | None) -> None:
    """Make a user. He may do nothing until a policy is attached to him."""
    body = {"id": user_id, "display_name": name or user_id, **without_none(email=email)}
    with state.api() as api:
        answer = api.post(iam("users"), body)
    done(state, answer, f"Made the user '{user_id}'. 'lorebank access give' gives him rights and a key.")


@user.command("list")
@pass_state
def list_users(state: State) -> None:
    """List all users."""
    with state.api() as api:
        answer = api.get(iam("users"))
    rows = [(u["id"], u["display_name"], u.get("email"), state_word(u)) for u in answer]
    columns = (Column("user"), Column("name"), Column("e-mail"), Column("state", whole=True))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "There is no user."))


@user.command("show")
@click.argument("user_id", metavar="ID")
@pass_state
def show_user(state: State, user_id: str) -> None:
    """Show a user with all that he has.

    That is his channels and groups, the policies that hold for him, his service accounts with the
    policies that narrow them, and his keys.
    """
    with state.api() as api:
        answer = api.get(lorebank_access("users", user_id))
    state.printer.result(answer, lambda: show_all(state.printer, answer))


@user.command("disable")
@click.argument("user_id", metavar="ID")
@confirm_option
@pass_state
def disable_user(state: State, user_id: str, yes: bool) -> None:
    """Refuse a user's keys, tokens and service accounts from now on.

    Nothing is deleted. Only for the root user it asks, because the key that commands use is his.
    """
    if not yes and user_id == state.settings().root_user:
        confirm(
            f"Disable the root user '{one_line(user_id)}'? Commands on this computer use his key. "
            "To undo it, stop the server, then run 'lorebank access user enable'."
        )
    with state.api() as api:
        answer = api.put(iam("users", user_id), {"is_active": False})
    done(state, answer, f"Disabled '{user_id}'; 'lorebank access user enable' undoes it.")


@user.command("enable")
@click.argument("user_id", metavar="ID")
@pass_state
def enable_user(state: State, user_id: str) -> None:
    """Let a disabled user in again, with all that he had."""
    with state.api() as api:
        answer = api.put(iam("users", user_id), {"is_active": True})
    done(state, answer, f"Enabled '{user_id}'.")


@user.command("remove")
@click.argument("user_id", metavar="ID")
@confirm_option
@pass_state
def remove_user(state: State, user_id: str, yes: bool) -> None:
    """Delete a user with all that is his.

    That is his channels, keys, attachments and service accounts.
    """
    if not yes:
        confirm(f"Delete the user '{one_line(user_id)}' with his keys and service accounts?")
    with state.api() as api:
        answer = api.delete(iam("users", user_id))
    done(state, answer, f"Deleted the user '{user_id}'.")
