"""access bank-policy: a bank's own rules on strangers and retain strategies."""

from __future__ import annotations

import json

import click

from lorebank.cli.base import Group, State, confirm, confirm_option, pass_state
from lorebank.cli.commands.access.common import done, iam, json_file
from lorebank.cli.output import one_line


@click.group("bank-policy", cls=Group)
def bank_policy() -> None:
    """Bank policies: rights of strangers, retain strategies."""


@bank_policy.command("show")
@click.argument("bank")
@pass_state
def show_bank_policy(state: State, bank: str) -> None:
    """Print a bank's policy, as it was put."""
    with state.api() as api:
        answer = api.get(iam("banks", bank, "policy"))
    state.printer.result(answer, lambda: state.printer.raw(json.dumps(answer["document"], indent=2)))


@bank_policy.command("put")
@click.argument("bank")
@click.argument("file")
@pass_state
def put_bank_policy(state: State, bank: str, file: str) -> None:
    """Give BANK the policy in FILE (JSON), in the place of the one it has."""
    document = json_file(file)
    with state.api() as api:
        answer = api.put(iam("banks", bank, "policy"), {"document": document})
    done(state, answer, f"The bank '{bank}' has the policy from {file} now.")


@bank_policy.command("remove")
@click.argument("bank")
@confirm_option
@pass_state
def remove_bank_policy(state: State, bank: str, yes: bool) -> None:
    """Delete a bank's policy: strangers may do nothing in it then."""
    if not yes:
        confirm(f"Delete the policy of the bank '{one_line(bank)}'?")
    with state.api() as api:
        answer = api.delete(iam("banks", bank, "policy"))
    done(state, answer, f"The bank '{bank}' has no policy any more.")
