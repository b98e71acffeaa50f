"""What a user or a group has, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorebank.cli.commands.access.common import state_word
from lorebank.cli.output import Column, Printer, when


def show_all(printer: Printer, user: dict[str, Any]) -> None:
    """A user with all that he has."""
    printer.pairs(
        [
            ("user", user["id"]),
            ("name", user["display_name"]),
            ("e-mail", user["email"]),
            ("state", state_word(user)),
            ("channels", [f"{one['provider']}:{one['sender_id']}" for one in user["channels"]] or "none"),
            ("groups", user["groups"] or "none"),
        ]
    )
    policies = [(one["policy_id"], _way(one), one["priority"]) for one in user["policies"]]
    columns = (Column("policy"), Column("through"), Column("priority", right=True))
    _section(printer, "Policies", columns, policies, "none: he may do nothing")
    accounts = [(one["id"], state_word(one), one["scopes"] or None) for one in user["service_accounts"]]
    columns = (Column("account"), Column("state", whole=True), Column("narrowed by"))
    _section(printer, "Service accounts", columns, accounts, "none")
    _section(printer, "Keys", KEY_COLUMNS, [_key(one) for one in user["keys"]], "none")


def show_group(printer: Printer, group: dict[str, Any]) -> None:
    """A group with its members and the policies that are attached to it."""
    members = [one["user_id"] for one in group["members"]]
    printer.pairs([("group", group["id"]), ("name", group["display_name"]), ("members", members or "nobody")])
    policies = [(one["policy_id"], one["priority"]) for one in group["policies"]]
    columns = (Column("policy"), Column("priority", right=True))
    _section(printer, "Policies", columns, policies, "none: the group gives nothing")


def ends(key: dict[str, Any]) -> str:
    """When a key ends, in a word or as a date."""
    if key["expires_at"] is None:
        return "never"
    return "expired" if key["expired"] else date(key["expires_at"])


def date(value: Any) -> str:
    """The day of a wire time; empty for none."""
    return when(value)[:10]


KEY_COLUMNS = (
    Column("id", whole=True),
    Column("begins with"),
    Column("made", whole=True),
    Column("last use", whole=True),
    Column("ends", whole=True),
    Column("for"),
)


def _key(one: dict[str, Any]) -> tuple[Any, ...]:
    used = date(one["last_used_at"]) or "never"
    return one["id"], one["shown"], date(one["created_at"]), used, ends(one), one["description"]


def _way(one: dict[str, Any]) -> str:
    return "himself" if one["through"] == "user" else f"group {one['via']}"


def _section(
    printer: Printer, title: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]], empty: str
) -> None:
    printer.raw("")
    if rows:
        printer.say(f"{title}:")
        printer.table(columns, rows, "", indent=2)
    else:
        printer.say(f"{title}: {empty}")
