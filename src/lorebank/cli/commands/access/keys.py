"""access key: make, list and revoke API keys."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from lorebank.cli.api import Api
from lorebank.cli.base import Group, State, confirm, confirm_option, pass_state
from lorebank.cli.commands.access.common import (
    done,
    keys_path,
    lorebank_access,
    one_of,
    principal_options,
    without_none,
)
from lorebank.cli.commands.access.holdings import date, ends
from lorebank.cli.failures import MISSING, CliError, usage
from lorebank.cli.output import Column, Printer, one_line

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_SPAN = re.compile(r"([1-9]\d{0,4})([hdw])")


@click.group(cls=Group)
def key() -> None:
    """API keys of users and service accounts."""


@key.command("create")
@principal_options("user", "service-account")
@click.option("--description", metavar="TEXT", help="What the key is for.")
@click.option("--expires", metavar="SPAN", help="For how long it is valid: 12h, 90d, 8w. Default: for ever.")
@pass_state
def create_key(
    state: State, user: str | None, service_account: str | None, description: str | None, expires: str | None
) -> None:
    """Make a key and print it, this once."""
    kind, owner = one_of(user=user, service_account=service_account)
    with state.api() as api:
        answer = make_key(api, kind, owner, description, expires)
    state.printer.result(answer, lambda: show_new_key(state.printer, answer))


def make_key(api: Api, kind: str, owner: str, description: str | None, expires: str | None) -> Any:
    """A new key of the owner; `expires` is a span such as 90d."""
    ends = None if expires is None else _end_of(expires).isoformat()
    return api.post(keys_path(kind, owner), without_none(description=description, expires_at=ends))


def show_new_key(printer: Printer, made: dict[str, Any]) -> None:
    """The key on a line of its own, and what to do with it on stderr."""
    printer.raw(made["api_key"])
    printer.note("Keep this key: it is shown this once, and only its digest is stored.")
    printer.note(f"'lorebank access key revoke {made['id']}' ends it.")


def _end_of(span: str) -> datetime:
    found = _SPAN.fullmatch(span.strip())
    if found is None:
        raise usage("--expires takes a number with h, d or w, for example 90d")
    return datetime.now(UTC) + int(found[1]) * _UNITS[found[2]]


@key.command("list")
@principal_options("user", "service-account")
@pass_state
def list_keys(state: State, user: str | None, service_account: str | None) -> None:
    """List keys with their last use and their end.

    Of all owners when none is named. Keys of one owner stand in the order in which they were made.
    """
    with state.api() as api:
        answer = all_keys(api, user=user, service_account=service_account)
    rows = [
        (
            one["id"],
            f"{'sa:' if one['kind'] == 'service_account' else ''}{one['owner_id']}",
            date(one["created_at"]),
            date(one["last_used_at"]) or "never",
            ends(one),
            one["description"],
        )
        for one in answer["items"]
    ]
    columns = (
        Column("id", whole=True),
        Column("owner"),
        Column("made", whole=True),
        Column("last use", whole=True),
        Column("ends", whole=True),
        Column("for"),
    )
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "There is no key."))


def all_keys(api: Api, **owner: str | None) -> Any:
    """The keys of an owner (`user=` or `service_account=`), or of everybody."""
    return api.get(lorebank_access("keys"), **owner)


@key.command("revoke")
@click.argument("key_id", metavar="ID")
@confirm_option
@pass_state
def revoke_key(state: State, key_id: str, yes: bool) -> None:
    """Revoke a key: it is refused from now on.

    That holds for requests that are under way, too. 'lorebank access key list' shows the ids.
    """
    with state.api() as api:
        one = next((found for found in all_keys(api)["items"] if found["id"] == key_id), None)
        if one is None:
            raise CliError(
                "not_found", f"there is no key {key_id}; 'lorebank access key list' shows them", MISSING
            )
        if not yes:
            confirm(f"Revoke the key {one_line(key_id)} of '{one_line(one['owner_id'])}'?")
        answer = api.delete(keys_path(one["kind"], one["owner_id"], key_id))
    done(state, answer, f"Revoked the key {key_id} of '{one['owner_id']}'.")
