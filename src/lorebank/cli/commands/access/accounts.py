"""access service-account: identities of machines, each owned by a user and never wider than he is."""

from __future__ import annotations

import click

from lorebank.cli.base import Group, State, confirm, confirm_option, pass_state
from lorebank.cli.commands.access.common import done, iam, state_word
from lorebank.cli.output import Column, one_line


@click.group("service-account", cls=Group)
def service_account() -> None:
    """Service accounts: machines, never wider than an owner."""


@service_account.command("add")
@click.argument("account_id", metavar="ID")
@click.option("--owner", metavar="USER", required=True, help="The user whose rights it has.")
@click.option("--scope", metavar="POLICY", help="A policy that narrows these rights.")
@click.option("--name", metavar="TEXT", help="A name for people. Default: the id.")
@pass_state
def add_account(state: State, account_id: str, owner: str, scope: str | None, name: str | None) -> None:
    """Make a service account."""
    body = {
        "id": account_id,
        "owner_user_id": owner,
        "display_name": name or account_id,
        "scoping_policy_id": scope,
    }
    with state.api() as api:
        answer = api.post(iam("service-accounts"), body)
    how = f"lorebank access key create --service-account {account_id}"
    done(state, answer, f"Made the service account '{account_id}'. '{how}' makes a key for it.")


@service_account.command("list")
@pass_state
def list_accounts(state: State) -> None:
    """List all service accounts."""
    with state.api() as api:
        answer = api.get(iam("service-accounts"))
    rows = [
        (
            one["id"],
            one["owner_user_id"],
            one["scoping_policy_id"],
            state_word(one),
        )
        for one in answer
    ]
    columns = (Column("account"), Column("owner"), Column("narrowed by"), Column("state", whole=True))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "There is no service account."))


@service_account.command("disable")
@click.argument("account_id", metavar="ID")
@pass_state
def disable_account(state: State, account_id: str) -> None:
    """Refuse an account's keys from now on. Nothing is deleted."""
    with state.api() as api:
        answer = api.put(iam("service-accounts", account_id), {"is_active": False})
    done(state, answer, f"Disabled '{account_id}'; 'lorebank access service-account enable' undoes it.")


@service_account.command("enable")
@click.argument("account_id", metavar="ID")
@pass_state
def enable_account(state: State, account_id: str) -> None:
    """Let a disabled account in again."""
    with state.api() as api:
        answer = api.put(iam("service-accounts", account_id), {"is_active": True})
    done(state, answer, f"Enabled '{account_id}'.")


@service_account.command("remove")
@click.argument("account_id", metavar="ID")
@confirm_option
@pass_state
def remove_account(state: State, account_id: str, yes: bool) -> None:
    """Delete a service account with its keys."""
    if not yes:
        confirm(f"Delete the service account '{one_line(account_id)}' with its keys?")
    with state.api() as api:
        answer = api.delete(iam("service-accounts", account_id))
    done(state, answer, f"Deleted the service account '{account_id}'.")
