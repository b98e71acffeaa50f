"""memory: single memories, to inspect and correct."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.api import bank_path
from lorebank.cli.base import Group, State, bank_option, confirm, confirm_option, page_options, pass_state
from lorebank.cli.failures import usage
from lorebank.cli.output import Column, one_line, when

TYPES = ("world", "experience", "observation")


@click.group(cls=Group)
def memory() -> None:
    """Memories: single facts that a bank holds."""


@memory.command("list")
@click.argument("text", required=False)
@bank_option
@click.option("--type", "fact_type", type=click.Choice(TYPES), help="Only of this type.")
@click.option("--state", "only", type=click.Choice(("valid", "invalidated")), help="Only in this state.")
@click.option("--document-id", metavar="ID", help="Only from this document.")
@click.option("-t", "--tag", "tags", multiple=True, metavar="TAG", help="Only so tagged; may be repeated.")
@page_options
@pass_state
def list_memories(state: State, /, text: str | None, bank: str, **how: Any) -> None:
    """List memories, newest first, or those that contain TEXT."""
    with state.api() as api:
        answer = api.get(
            bank_path(bank, "memories", "list"),
            q=text,
            type=how["fact_type"],
            state=how["only"],
            document_id=how["document_id"],
            tags=how["tags"] or None,
            limit=how["limit"],
            offset=how["offset"],
        )
    rows = [(m["id"], m.get("text")) for m in answer["items"]]
    columns = (Column("id", whole=True), Column("memory"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "There is no such memory."))


@memory.command("show")
@click.argument("memory_id")
@bank_option
@pass_state
def show_memory(state: State, memory_id: str, bank: str) -> None:
    """Show all that is known of one memory."""
    with state.api() as api:
        answer = api.get(bank_path(bank, "memories", memory_id))
    told = [(name.replace("_", " "), value) for name, value in answer.items() if value not in (None, [], {})]
    state.printer.result(answer, lambda: state.printer.pairs(told))


@memory.command("history")
@click.argument("memory_id")
@bank_option
@pass_state
def memory_history(state: State, memory_id: str, bank: str) -> None:
    """Show the earlier versions of a memory."""
    with state.api() as api:
        answer = api.get(bank_path(bank, "memories", memory_id, "history"))
    rows = [(when(version.get("changed_at")), version.get("change"), _before(version)) for version in answer]
    columns = (Column("when", whole=True), Column("change"), Column("what it was before"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "It was never changed."))


def _before(version: dict[str, Any]) -> str:
    """The fields of an earlier version; its text alone when only the text was another."""
    start = "previous_"
    fields = {name[len(start) :]: value for name, value in version.items() if name.startswith(start)}
    if list(fields) == ["text"]:
        return str(fields["text"])
    return "; ".join(f"{name}: {one_line(value)}" for name, value in fields.items())


@memory.command("edit")
@click.argument("memory_id")
@bank_option
@click.option("--text", metavar="TEXT", help="The new text.")
@click.option("--context", metavar="TEXT", help="What it is about.")
@click.option("--type", "fact_type", type=click.Choice(TYPES), help="Its type.")
@click.option("--occurred-start", metavar="TIME", help="When it happened, or began; 'none' clears it.")
@click.option("--occurred-end", metavar="TIME", help="When it ended; 'none' clears it.")
@click.option("--mentioned-at", metavar="TIME", help="When it was said; 'none' clears it.")
@click.option(
    "--entity", "entities", multiple=True, metavar="NAME", help="Instead of its entities; may be repeated."
)
@pass_state
def edit_memory(state: State, /, memory_id: str, bank: str, **changes: Any) -> None:
    """Correct a memory. Its former text stays in the history."""
    body = {name: value for name, value in changes.items() if value not in (None, ())}
    if not body:
        raise usage("say what to change, for example --text 'the right sentence'")
    for name in ("occurred_start", "occurred_end", "mentioned_at"):
        if body.get(name) == "none":
            body[name] = None
    if "entities" in body:
        body["entities"] = list(body["entities"])
    with state.api() as api:
        answer = api.patch(bank_path(bank, "memories", memory_id), body)
    state.printer.result(answer, lambda: state.printer.say("Changed."))


@memory.command("invalidate")
@click.argument("memory_id")
@bank_option
@click.option("--reason", metavar="TEXT", help="Why it does not hold any more.")
@click.option("--restore", is_flag=True, help="Make it valid again.")
@pass_state
def invalidate_memory(state: State, memory_id: str, bank: str, reason: str | None, restore: bool) -> None:
    """Take a memory out of recall without deleting it."""
    body: dict[str, Any] = {"state": "valid" if restore else "invalidated"}
    if reason is not None:
        body["reason"] = reason
    with state.api() as api:
        answer = api.patch(bank_path(bank, "memories", memory_id), body)
    told = "It is valid again." if restore else "It is not recalled any more; --restore brings it back."
    state.printer.result(answer, lambda: state.printer.say(told))


@memory.command("clear")
@bank_option
@click.option("--type", "fact_type", type=click.Choice(TYPES), help="Only of this type.")
@confirm_option
@pass_state
def clear_memories(state: State, bank: str, fact_type: str | None, yes: bool) -> None:
    """Delete all memories of a bank; its documents stay."""
    if not yes:
        what = f"all memories of type {fact_type}" if fact_type else "all memories"
        confirm(f"Delete {what} of the bank '{one_line(bank)}'?")
    with state.api() as api:
        answer = api.delete(bank_path(bank, "memories"), type=fact_type)
    count = answer.get("deleted_count")
    state.printer.result(
        answer, lambda: state.printer.say(f"Deleted {count if count is not None else 'the'} memories.")
    )
