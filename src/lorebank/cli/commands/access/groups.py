"""access group and access member: sets of users that policies are attached to."""

from __future__ import annotations

import click

from lorebank.cli.base import Group, State, confirm, confirm_option, pass_state
from lorebank.cli.commands.access.common import done, iam
from lorebank.cli.commands.access.holdings import show_group
from lorebank.cli.output import Column, one_line


@click.group(cls=Group)
def group() -> None:
    """Groups: sets of users that policies are attached to."""


@group.command("add")
@click.argument("group_id", metavar="ID")
@click.option("--name", metavar="TEXT", help="A name for people. Default: the id.")
@pass_state
def add_group(state: State, group_id: str, name: str | None) -> None:
    """Make a group. The group _default stands for senders that nobody knows."""
    with state.api() as api:
        answer = api.post(iam("groups"), {"id": group_id, "display_name": name or group_id})
    done(state, answer, f"Made the group '{group_id}'.")


@group.command("list")
@pass_state
def list_groups(state: State) -> None:
    """List all groups."""
    with state.api() as api:
        answer = api.get(iam("groups"))
    rows = [(one["id"], one["display_name"]) for one in answer]
    columns = (Column("group"), Column("name"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "There is no group."))


@group.command("show")
@click.argument("group_id", metavar="ID")
@pass_state
def show_group_of(state: State, group_id: str) -> None:
    """Show a group with its members and the policies that hold for them."""
    with state.api() as api:
        answer = dict(api.get(iam("groups", group_id)))
        answer["members"] = api.get(iam("groups", group_id, "members"))
        attached = {"principal_type": "group", "principal_id": group_id}
        answer["policies"] = api.get(iam("policy-attachments"), **attached)
    state.printer.result(answer, lambda: show_group(state.printer, answer))


@group.command("remove")
@click.argument("group_id", metavar="ID")
@confirm_option
@pass_state
def remove_group(state: State, group_id: str, yes: bool) -> None:
    """Delete a group with its memberships and attachments."""
    if not yes:
        confirm(f"Delete the group '{one_line(group_id)}'? Its members lose what it gives them.")
    with state.api() as api:
        answer = api.delete(iam("groups", group_id))
    done(state, answer, f"Deleted the group '{group_id}'.")


@click.group(cls=Group)
def member() -> None:
    """Members: which users are in a group."""


@member.command("add")
@click.argument("group_id", metavar="GROUP")
@click.argument("user_id", metavar="USER")
@pass_state
def add_member(state: State, group_id: str, user_id: str) -> None:
    """Put USER into GROUP."""
    with state.api() as api:
        answer = api.post(iam("groups", group_id, "members"), {"user_id": user_id})
    done(state, answer, f"'{user_id}' is in '{group_id}' now.")


@member.command("list")
@click.argument("group_id", metavar="GROUP")
@pass_state
def list_members(state: State, group_id: str) -> None:
    """List the users in GROUP."""
    with state.api() as api:
        answer = api.get(iam("groups", group_id, "members"))
    rows = [(one["user_id"],) for one in answer]
    state.printer.result(
        answer, lambda: state.printer.table((Column("user"),), rows, "Nobody is in the group.")
    )


@member.command("remove")
@click.argument("group_id", metavar="GROUP")
@click.argument("user_id", metavar="USER")
@pass_state
def remove_member(state: State, group_id: str, user_id: str) -> None:
    """Take USER out of GROUP."""
    with state.api() as api:
        answer = api.delete(iam("groups", group_id, "members", user_id))
    done(state, answer, f"'{user_id}' is not in '{group_id}' any more.")
