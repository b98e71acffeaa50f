"""bank: list, create, show, configure, move and delete banks."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.api import Api, bank_path
from lorebank.cli.base import (
    Group,
    State,
    confirm,
    confirm_option,
    key_values,
    page_options,
    pass_state,
    read_json,
)
from lorebank.cli.commands.transfer import clone_bank, export_bank, import_bank
from lorebank.cli.failures import CliError
from lorebank.cli.output import Column, one_line, when


@click.group(cls=Group)
def bank() -> None:
    """Banks: each holds one body of memories."""


@bank.command("list")
@click.argument("text", required=False)
@page_options
@pass_state
def list_banks(state: State, text: str | None, limit: int, offset: int) -> None:
    """List banks, or those whose name contains TEXT."""
    with state.api() as api:
        answer = api.get("/v1/default/banks", q=text, limit=limit, offset=offset)
    rows = [
        (b["bank_id"], b.get("fact_count"), when(b.get("last_write_at")), b.get("name"))
        for b in answer["banks"]
    ]
    columns = (
        Column("bank"),
        Column("memories", right=True),
        Column("last write", whole=True),
        Column("name"),
    )
    empty = "There is no bank yet. Make one: lorebank retain --bank NAME 'some text'"
    state.printer.result(answer, lambda: state.printer.table(columns, rows, empty))


@bank.command("create")
@click.argument("name")
@click.option("--title", metavar="TEXT", help="A name for people.")
@click.option("--mission", metavar="TEXT", help="What the bank is for.")
@pass_state
def create_bank(state: State, name: str, title: str | None, mission: str | None) -> None:
    """Make the bank NAME."""
    body = {key: value for key, value in (("name", title), ("mission", mission)) if value is not None}
    with state.api() as api:
        if exists(api, name):
            raise CliError("conflict", f"there is a bank '{name}' already", 1)
        answer = api.put(bank_path(name), body)
    state.printer.result(answer, lambda: state.printer.say(f"Made the bank '{name}'."))


def exists(api: Api, name: str) -> bool:
    """Whether there is a bank of that name (or alias)."""
    try:
        api.get(bank_path(name, "profile"))
    except CliError as exc:
        if exc.code == "not_found":
            return False
        raise
    return True


@bank.command("show")
@click.argument("name")
@pass_state
def show_bank(state: State, name: str) -> None:
    """Show a bank's profile and numbers."""
    with state.api() as api:
        profile = api.get(bank_path(name, "profile"))
        stats = api.get(bank_path(name, "stats"), refresh=True)
    told = [
        ("bank", profile.get("bank_id")),
        ("name", profile.get("name")),
        ("mission", profile.get("mission")),
        *_numbers(stats),
    ]
    state.printer.result({"profile": profile, "stats": stats}, lambda: state.printer.pairs(told))


@bank.command("stats")
@click.argument("name")
@pass_state
def bank_stats(state: State, name: str) -> None:
    """Show a bank's numbers."""
    with state.api() as api:
        stats = api.get(bank_path(name, "stats"), refresh=True)
    state.printer.result(stats, lambda: state.printer.pairs(_numbers(stats)))


def _numbers(stats: dict[str, Any]) -> list[tuple[str, Any]]:
    by_type = ", ".join(f"{count} {kind}" for kind, count in (stats.get("nodes_by_fact_type") or {}).items())
    return [
        ("memories", f"{stats.get('total_nodes', 0)}" + (f" ({by_type})" if by_type else "")),
        ("documents", stats.get("total_documents")),
        ("links", stats.get("total_links")),
        ("waiting", f"{stats.get('pending_operations', 0)} operations"),
        ("failed", f"{stats.get('failed_operations', 0)} operations"),
        ("last write", when(stats.get("last_memory_write_at"))),
    ]


@bank.command("delete")
@click.argument("name")
@confirm_option
@pass_state
def delete_bank(state: State, name: str, yes: bool) -> None:
    """Delete a bank with everything in it."""
    if not yes:
        confirm(f"Delete the bank '{one_line(name)}' with everything in it?")
    with state.api() as api:
        answer = api.delete(bank_path(name))
    state.printer.result(answer, lambda: state.printer.say(f"Deleted the bank '{name}'."))


@bank.group("config", cls=Group)
def config() -> None:
    """A bank's own configuration."""


@config.command("get")
@click.argument("name")
@click.option("--all", "everything", is_flag=True, help="Also what the bank did not set itself.")
@pass_state
def get_config(state: State, name: str, everything: bool) -> None:
    """Show what the bank has set."""
    with state.api() as api:
        answer = api.get(bank_path(name, "config"))
    state.printer.result(answer, lambda: _show_config(state, answer, everything=everything))


@config.command("set")
@click.argument("name")
@click.argument("values", nargs=-1, required=True, metavar="KEY=VALUE...")
@pass_state
def set_config(state: State, name: str, values: tuple[str, ...]) -> None:
    """Set entries; a VALUE is JSON, or plain text. The bank is made when missing."""
    updates = {key: read_json(value, key) for key, value in key_values(values, "KEY=VALUE").items()}
    with state.api() as api:
        answer = api.patch(bank_path(name, "config"), {"updates": updates})
    state.printer.result(answer, lambda: _show_config(state, answer, everything=False))


@config.command("reset")
@click.argument("name")
@pass_state
def reset_config(state: State, name: str) -> None:
    """Forget all that the bank has set."""
    with state.api() as api:
        answer = api.delete(bank_path(name, "config"))
    state.printer.result(answer, lambda: state.printer.say(f"Bank '{name}' uses the server's configuration."))


def _show_config(state: State, answer: dict[str, Any], *, everything: bool) -> None:
    values = answer.get("config" if everything else "overrides") or {}
    columns = (Column("key"), Column("value"))
    rows = [(key, values[key]) for key in sorted(values)]
    state.printer.table(columns, rows, "The bank has set nothing; see --all for what is in force.")


@bank.group("alias", cls=Group)
def alias() -> None:
    """Other names for a bank."""


@alias.command("list")
@click.argument("name")
@pass_state
def list_aliases(state: State, name: str) -> None:
    """List the bank's aliases."""
    with state.api() as api:
        answer = api.get(bank_path(name, "aliases"))
    _show_aliases(state, answer)


@alias.command("add")
@click.argument("name")
@click.argument("other")
@click.option("--primary", is_flag=True, help="Show the bank under this name.")
@pass_state
def add_alias(state: State, name: str, other: str, primary: bool) -> None:
    """Make OTHER another name of the bank."""
    with state.api() as api:
        answer = api.post(bank_path(name, "aliases"), {"alias": other, "primary": primary})
    _show_aliases(state, answer)


@alias.command("remove")
@click.argument("name")
@click.argument("other")
@pass_state
def remove_alias(state: State, name: str, other: str) -> None:
    """Take the alias OTHER away."""
    with state.api() as api:
        answer = api.delete(bank_path(name, "aliases", other))
    _show_aliases(state, answer)


def _show_aliases(state: State, answer: dict[str, Any]) -> None:
    rows = [(a.get("alias"), a.get("primary")) for a in answer.get("aliases") or []]
    columns = (Column("alias"), Column("primary"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "The bank has no alias."))


for command in (export_bank, import_bank, clone_bank):
    bank.add_command(command)
