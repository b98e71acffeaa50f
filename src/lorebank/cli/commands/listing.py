"""entity and tag: what a bank's memories name and how they are tagged."""

from __future__ import annotations

import click

from lorebank.cli.api import bank_path
from lorebank.cli.base import Group, State, bank_option, page_options, pass_state
from lorebank.cli.output import Column, when


@click.group(cls=Group)
def entity() -> None:
    """Entities: the people, places and things that memories name."""


@entity.command("list")
@bank_option
@click.option("-t", "--tag", "tags", multiple=True, metavar="TAG", help="Only of memories so tagged.")
@page_options
@pass_state
def list_entities(state: State, bank: str, tags: tuple[str, ...], limit: int, offset: int) -> None:
    """List a bank's entities, most mentioned first."""
    with state.api() as api:
        answer = api.get(bank_path(bank, "entities"), tags=tags or None, limit=limit, offset=offset)
    rows = [
        (e["canonical_name"], e["mention_count"], when(e.get("last_seen")), e["id"]) for e in answer["items"]
    ]
    columns = (
        Column("entity"),
        Column("mentions", right=True),
        Column("last seen"),
        Column("id", whole=True),
    )
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "The bank names no entity."))


@click.group(cls=Group)
def tag() -> None:
    """Tags: the marks that memories carry."""


@tag.command("list")
@click.argument("pattern", required=False)
@bank_option
@page_options
@pass_state
def list_tags(state: State, pattern: str | None, bank: str, limit: int, offset: int) -> None:
    """List a bank's tags, or those that match PATTERN (with * for any text)."""
    with state.api() as api:
        answer = api.get(bank_path(bank, "tags"), q=pattern, limit=limit, offset=offset)
    rows = [(t["tag"], t["count"]) for t in answer["items"]]
    columns = (Column("tag"), Column("memories", right=True))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "The bank has no tag."))
