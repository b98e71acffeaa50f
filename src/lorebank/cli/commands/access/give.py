"""access give: rights on one bank and a key for them, in one command."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.api import Api, bank_path
from lorebank.cli.base import Command, State, bank_option, pass_state
from lorebank.cli.commands.access.common import found, iam
from lorebank.cli.commands.access.keys import all_keys, make_key, show_new_key
from lorebank.cli.failures import FAILED, CliError
from lorebank.cli.output import Printer

VERSION = "2026-03-24"
LEVELS = {
    "readonly": ["bank:recall", "bank:reflect"],
    "readwrite": ["bank:recall", "bank:reflect", "bank:retain"],
    "retain-only": ["bank:retain"],
    "admin": ["bank:*"],
}
"""level -> the actions that it allows. The built-in policies `bank:<level>` give the same on every bank."""
EVERY_BANK = "*"


@click.command(cls=Command)
@click.argument("level", type=click.Choice(tuple(LEVELS)))
@click.option("--user", "user_id", metavar="ID", required=True, help="Who gets it; made when missing.")
@bank_option
@click.option("--expires", metavar="SPAN", help="For how long a new key is valid: 12h, 90d, 8w.")
@click.option("--new-key", is_flag=True, help="Make another key, although there is one.")
@pass_state
def give(state: State, level: str, user_id: str, bank: str, expires: str | None, new_key: bool) -> None:
    """Give a user rights on one bank, and a key.

    Makes the user and the policy BANK:LEVEL when they are missing, attaches it in the place of
    another level on that bank, and prints a key if the user has none. To give it again changes
    nothing. The bank '*' stands for all banks.
    """
    with state.api() as api:
        known, bank = _canonical(api, bank)
        made_user = _user(api, user_id)
        policy_id = _policy(api, bank, level)
        body = {"policy_id": policy_id, "principal_type": "user", "principal_id": user_id, "priority": 0}
        api.put(iam("policy-attachments"), body)
        taken = [other for other in _other_levels(bank, level) if _detach(api, other, user_id)]
        key = None
        if new_key or not all_keys(api, user=user_id)["items"]:
            key = make_key(api, "user", user_id, f"{level} on {bank}", expires)
    answer = {
        "user_id": user_id,
        "user_created": made_user,
        "policy_id": policy_id,
        "bank_id": bank,
        "bank_exists": known,
        "detached": taken,
        "api_key": key["api_key"] if key else None,
    }
    state.printer.result(answer, lambda: _told(state.printer, answer, level, key))


def _canonical(api: Api, bank: str) -> tuple[bool | None, str]:
    """(whether the bank is there, None when that may not be seen; the name by which policies know it)."""
    if bank == EVERY_BANK:
        return True, bank
    try:
        profile = found(api, bank_path(bank, "profile"))
    except CliError as exc:
        if exc.code == "forbidden":  # who administers users need not see banks
            return None, bank
        raise
    return (False, bank) if profile is None else (True, str(profile["bank_id"]))


def _user(api: Api, user_id: str) -> bool:
    """Whether the user had to be made."""
    if found(api, iam("users", user_id)) is not None:
        return False
    api.post(iam("users"), {"id": user_id, "display_name": user_id})
    return True


def policy_name(bank: str, level: str) -> str:
    """The id of the policy of a level on a bank; the built-in one for all banks."""
    return f"bank:{level}" if bank == EVERY_BANK else f"{bank}:{level}"


def _policy(api: Api, bank: str, level: str) -> str:
    policy_id = policy_name(bank, level)
    document = document_of(bank, level)
    there = found(api, iam("policies", policy_id))
    if there is None:
        body = {"id": policy_id, "display_name": f"{level} on {bank}", "document": document}
        api.post(iam("policies"), body)
    elif there["document"] != document and not there["is_builtin"]:
        raise CliError(
            "conflict",
            f"the policy '{policy_id}' says something else already; look with 'lorebank access policy "
            f"show {policy_id}' and attach it with 'lorebank access attach' if it is what you want",
            FAILED,
        )
    return policy_id


def document_of(bank: str, level: str) -> dict[str, Any]:
    """The document that allows a level on one bank."""
    statement = {"effect": "allow", "actions": LEVELS[level], "banks": [bank]}
    return {"version": VERSION, "statements": [statement]}


def _other_levels(bank: str, level: str) -> list[str]:
    return [policy_name(bank, other) for other in LEVELS if other != level]


def _detach(api: Api, policy_id: str, user_id: str) -> bool:
    attached = api.get(iam("policy-attachments"), policy_id=policy_id)
    if ("user", user_id) not in {(one["principal_type"], one["principal_id"]) for one in attached}:
        return False
    api.delete(iam("policy-attachments", policy_id, "user", user_id))
    return True


def _told(printer: Printer, answer: dict[str, Any], level: str, key: dict[str, Any] | None) -> None:
    bank = "every bank" if answer["bank_id"] == EVERY_BANK else f"the bank '{answer['bank_id']}'"
    who = answer["user_id"]
    printer.note(f"{who} has {level} on {bank} (policy {answer['policy_id']}).")
    for policy_id in answer["detached"]:
        printer.note(f"Taken away: {policy_id}.")
    if answer["bank_exists"] is False:
        printer.note(f"There is no bank '{answer['bank_id']}' yet.")
    if key is not None:
        show_new_key(printer, key)
    else:
        printer.note(f"{who} has a key already; --new-key makes another.")
