"""access policy: documents that say what is allowed and what is denied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from lorebank.cli.api import Api
from lorebank.cli.base import Group, State, confirm, confirm_option, pass_state
from lorebank.cli.commands.access.common import done, found, iam, json_file
from lorebank.cli.failures import CliError
from lorebank.cli.output import Column, one_line


@click.group(cls=Group)
def policy() -> None:
    """Policies: documents that allow and deny."""


@policy.command("list")
@pass_state
def list_policies(state: State) -> None:
    """List all policies, the built-in ones too."""
    with state.api() as api:
        answer = api.get(iam("policies"))
    rows = [
        (one["id"], one["display_name"], _statements(one["document"]), one["is_builtin"]) for one in answer
    ]
    columns = (Column("policy"), Column("name"), Column("statements", right=True), Column("built-in"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "There is no policy."))


@policy.command("show")
@click.argument("policy_id", metavar="ID")
@pass_state
def show_policy(state: State, policy_id: str) -> None:
    """Print a policy's document, as it was put."""
    with state.api() as api:
        answer = api.get(iam("policies", policy_id))
    state.printer.result(answer, lambda: state.printer.raw(json.dumps(answer["document"], indent=2)))


@policy.command("attachments")
@click.argument("policy_id", metavar="ID")
@pass_state
def list_attachments(state: State, policy_id: str) -> None:
    """List for whom a policy holds."""
    with state.api() as api:
        api.get(iam("policies", policy_id))  # an unknown policy is told; it has no attachments otherwise
        answer = api.get(iam("policy-attachments"), policy_id=policy_id)
    rows = [(one["principal_type"].replace("_", " "), one["principal_id"], one["priority"]) for one in answer]
    columns = (Column("kind"), Column("id"), Column("priority", right=True))
    state.printer.result(
        answer, lambda: state.printer.table(columns, rows, "The policy is attached to nobody.")
    )


@policy.command("put")
@click.argument("file")
@click.option("--id", "policy_id", metavar="ID", help="The policy's id. Default: FILE without its ending.")
@click.option("--name", metavar="TEXT", help="A name for people. Default: the id.")
@pass_state
def put_policy(state: State, file: str, policy_id: str | None, name: str | None) -> None:
    """Make a policy from the JSON document in FILE, or replace it."""
    document, made_id = json_file(file), policy_id or Path(file).stem
    with state.api() as api:
        answer, made = store_policy(api, made_id, document, name)
    what = "Made" if made else "Replaced"
    done(state, answer, f"{what} the policy '{made_id}'.")


def store_policy(api: Api, policy_id: str, document: Any, name: str | None) -> tuple[Any, bool]:
    """Replace the policy, or make it when it is missing; whether it was made."""
    changed = {"document": document, **({"display_name": name} if name is not None else {})}
    if not _known_missing(api, policy_id):
        try:
            return api.put(iam("policies", policy_id), changed), False
        except CliError as exc:
            if exc.code != "not_found":
                raise
    body = {"id": policy_id, "display_name": name or policy_id, "document": document}
    return api.post(iam("policies"), body), True


def _known_missing(api: Api, policy_id: str) -> bool:
    """Looked at before a write, because a write that fails leaves a row in the audit log. False also for
    who may write policies but not read them."""
    try:
        return found(api, iam("policies", policy_id)) is None
    except CliError as exc:
        if exc.code == "forbidden":
            return False
        raise


@policy.command("remove")
@click.argument("policy_id", metavar="ID")
@confirm_option
@pass_state
def remove_policy(state: State, policy_id: str, yes: bool) -> None:
    """Delete a policy that is attached to nobody."""
    if not yes:
        confirm(f"Delete the policy '{one_line(policy_id)}'?")
    with state.api() as api:
        answer = api.delete(iam("policies", policy_id))
    done(state, answer, f"Deleted the policy '{policy_id}'.")


def _statements(document: Any) -> int | None:
    statements = document.get("statements") if isinstance(document, dict) else None
    return len(statements) if isinstance(statements, list) else None
