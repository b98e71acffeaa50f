"""access explain: why somebody may do something, or may not."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.base import Command, State, bank_option, pass_state
from lorebank.cli.commands.access.common import lorebank_access, one_of, without_none
from lorebank.cli.output import Column, Printer, one_line

_NEAR = 10
_BUT = {"action": "other actions", "bank": "other banks", "context": "another place"}
_VERDICTS = {
    "allow": "allowed",
    "deny": "denied",
    "failure": "denied, because it could not be decided",
    "unauthenticated": "refused: no valid credential",
}


@click.command(cls=Command)
@click.option("--user", metavar="ID", help="This user, with one of his keys.")
@click.option("--sa", "--service-account", "sa", metavar="ID", help="This service account.")
@click.option("--sender", metavar="PROVIDER:ID", help="This sender of a gateway, known or not.")
@bank_option
@click.option(
    "--action", default="bank:recall", show_default=True, metavar="ACTION", help="What he would do."
)
@click.option("--provider", metavar="NAME", help="The message provider that the token would name.")
@click.option("--channel", metavar="ID", help="The channel's type or id.")
@click.option("--topic", metavar="ID", help="The topic or thread.")
@click.option("--agent", metavar="ID", help="The agent that asks.")
@pass_state
def explain(
    state: State,
    /,
    user: str | None,
    sa: str | None,
    sender: str | None,
    bank: str,
    action: str,
    **claims: Any,
) -> None:
    """Tell why somebody may do something on a bank, or may not.

    Says which statements decided, where each parameter comes from, what nearly matched, and what
    would have to change. Nothing is done and nobody's key is used but your own.
    """
    one_of(user=user, sa=sa, sender=sender)
    asked = without_none(user_id=user, sa_id=sa, sender=sender, **claims)
    with state.api() as api:
        answer = api.get(lorebank_access("explain"), bank=bank, action=action, **asked)
    state.printer.result(answer, lambda: _show(state.printer, answer))


def _show(printer: Printer, told: dict[str, Any]) -> None:
    printer.pairs(
        [
            ("who", told["principal"]["name"] + _owner(told["principal"])),
            ("through", [f"{name} {value}" for name, value in told["circumstances"].items()] or None),
            ("action", told["action"]),
            ("bank", "the server itself" if told["bank"] == "*" else told["bank"]),
            ("decision", _VERDICTS[told["decision"]]),
            ("because", told["reason"]),
        ]
    )
    _statements(printer, "Decided by", [one for one in told["statements"] if one["decided"]])
    _statements(printer, "Overruled", [one for one in told["statements"] if not one["decided"]])
    _parameters(printer, told)
    other = "deny" if told["allowed"] else "allow"
    _near(printer, [one for one in told["near_misses"] if one["effect"] == other])
    if told["changes"] and not told["allowed"]:
        _title(printer, "What would have to change")
        for change in told["changes"]:
            printer.say(change, indent=2)


def _owner(principal: dict[str, Any]) -> str:
    return f", owned by {principal['user']}" if principal["kind"] == "service_account" else ""


def _title(printer: Printer, title: str) -> None:
    printer.raw("")
    printer.say(f"{title}:")


def _statements(printer: Printer, title: str, statements: list[dict[str, Any]]) -> None:
    if not statements:
        return
    _title(printer, title)
    columns = (
        Column("statement"),
        Column("effect", whole=True),
        Column("action"),
        Column("bank"),
        Column("through"),
    )
    rows = [
        (one["statement"], one["effect"], one["action"], one["bank"], _through(one)) for one in statements
    ]
    printer.table(columns, rows, "", indent=2)


def _through(said: dict[str, Any]) -> str:
    where = str(said["origin"] or said["layer"])
    return where.removeprefix("attached to ").removesuffix(" with priority 0")


def _parameters(printer: Printer, told: dict[str, Any]) -> None:
    values = dict(told["parameters"])
    if told["auto_tags"]:
        values["added tags"] = told["auto_tags"]
    if told["own_operations"]:
        values["operations"] = "only his own"
    if not values:
        return
    _title(printer, "How it behaves")
    rows = [
        (name.replace("_", " "), _value(value), told["sources"].get(name)) for name, value in values.items()
    ]
    printer.table((Column("parameter"), Column("value"), Column("from")), rows, "", indent=2)


def _value(value: Any) -> str:
    return "none" if value == [] else one_line(value)


def _near(printer: Printer, misses: list[dict[str, Any]]) -> None:
    if not misses:
        return
    _title(printer, "Nearly")
    rows = [(one["statement"], one["effect"], _BUT[one["lacks"]], one["has"]) for one in misses[:_NEAR]]
    columns = (Column("statement"), Column("effect", whole=True), Column("but"), Column("names"))
    printer.table(columns, rows, "", indent=2)
    if len(misses) > _NEAR:
        printer.say(f"and {len(misses) - _NEAR} more (--json shows them)", indent=2)
