"""access attach and access detach: which policies hold for whom."""

from __future__ import annotations

import click

from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.commands.access.common import done, iam, one_of, principal_options


@click.command(cls=Command)
@click.argument("policy_id", metavar="POLICY")
@principal_options("user", "group", "service-account")
@click.option(
    "--priority",
    type=int,
    default=0,
    show_default=True,
    help="Decides between attached policies that name a model or a strategy.",
)
@pass_state
def attach(
    state: State,
    policy_id: str,
    user: str | None,
    group: str | None,
    service_account: str | None,
    priority: int,
) -> None:
    """Let POLICY hold for somebody.

    At a user or a group it gives, at a service account it narrows.
    """
    kind, id = one_of(user=user, group=group, service_account=service_account)
    body = {"policy_id": policy_id, "principal_type": kind, "principal_id": id, "priority": priority}
    with state.api() as api:
        answer = api.put(iam("policy-attachments"), body)
    done(state, answer, f"'{policy_id}' holds for the {kind.replace('_', ' ')} '{id}' now.")


@click.command(cls=Command)
@click.argument("policy_id", metavar="POLICY")
@principal_options("user", "group", "service-account")
@pass_state
def detach(
    state: State, policy_id: str, user: str | None, group: str | None, service_account: str | None
) -> None:
    """Let POLICY not hold for somebody any more."""
    kind, id = one_of(user=user, group=group, service_account=service_account)
    with state.api() as api:
        answer = api.delete(iam("policy-attachments", policy_id, kind, id))
    done(state, answer, f"'{policy_id}' does not hold for the {kind.replace('_', ' ')} '{id}' any more.")
