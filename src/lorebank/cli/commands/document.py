"""document: what was retained, as it was given."""

from __future__ import annotations

import click

from lorebank.cli.api import bank_path
from lorebank.cli.base import Group, State, bank_option, confirm, confirm_option, page_options, pass_state
from lorebank.cli.output import Column, one_line, when
from lorebank.cli.progress import watch_operation


@click.group(cls=Group)
def document() -> None:
    """Documents: the texts that memories come from."""


@document.command("list")
@click.argument("text", required=False)
@bank_option
@click.option("-t", "--tag", "tags", multiple=True, metavar="TAG", help="Only so tagged; may be repeated.")
@page_options
@pass_state
def list_documents(
    state: State, text: str | None, bank: str, tags: tuple[str, ...], limit: int, offset: int
) -> None:
    """List documents, or those whose id or text contains TEXT."""
    with state.api() as api:
        answer = api.get(bank_path(bank, "documents"), q=text, tags=tags or None, limit=limit, offset=offset)
    rows = [
        (d["id"], d.get("memory_unit_count"), d.get("text_length"), when(d.get("updated_at")), d.get("tags"))
        for d in answer["items"]
    ]
    columns = (
        Column("document"),
        Column("memories", right=True),
        Column("characters", right=True),
        Column("updated", whole=True),
        Column("tags"),
    )
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "There is no such document."))


@document.command("show")
@click.argument("document_id")
@bank_option
@pass_state
def show_document(state: State, document_id: str, bank: str) -> None:
    """Show a document with its text."""
    with state.api() as api:
        answer = api.get(bank_path(bank, "documents", document_id))

    def human() -> None:
        state.printer.pairs(
            [
                ("document", answer["id"]),
                ("memories", answer.get("memory_unit_count")),
                ("updated", when(answer.get("updated_at"))),
                ("tags", answer.get("tags")),
                ("metadata", answer.get("document_metadata") or None),
            ]
        )
        state.printer.say()
        state.printer.say(str(answer.get("original_text") or "(the text was not kept)"))

    state.printer.result(answer, human)


@document.command("chunks")
@click.argument("document_id")
@bank_option
@page_options
@pass_state
def list_chunks(state: State, document_id: str, bank: str, limit: int, offset: int) -> None:
    """Show the pieces that a document was read in."""
    with state.api() as api:
        answer = api.get(
            bank_path(bank, "documents", document_id, "chunks"), limit=max(1, limit), offset=offset
        )
    rows = [(c.get("chunk_index"), c.get("chunk_text")) for c in answer["items"]]
    columns = (Column("no.", right=True), Column("text"))
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "The document has no chunk."))


@document.command("history")
@click.argument("document_id")
@bank_option
@page_options
@pass_state
def document_history(state: State, document_id: str, bank: str, limit: int, offset: int) -> None:
    """Show what happened to a document, newest first."""
    with state.api() as api:
        answer = api.get(
            bank_path(bank, "documents", document_id, "history"), limit=max(1, limit), offset=offset
        )
    rows = [
        (when(e.get("created_at")), e.get("kind"), e.get("facts_added"), e.get("facts_removed"))
        for e in answer["items"]
    ]
    columns = (
        Column("when", whole=True),
        Column("what"),
        Column("added", right=True),
        Column("removed", right=True),
    )
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "Nothing is known of it."))


@document.command("retag")
@click.argument("document_id")
@click.argument("tags", nargs=-1, metavar="[TAG]...")
@bank_option
@pass_state
def retag_document(state: State, document_id: str, tags: tuple[str, ...], bank: str) -> None:
    """Give a document and its memories these tags instead of the ones they have."""
    with state.api() as api:
        answer = api.patch(bank_path(bank, "documents", document_id), {"tags": list(tags)})
    told = f"tags: {one_line(tags)}" if tags else "no tags"
    state.printer.result(answer, lambda: state.printer.say(f"Document '{document_id}' has {told}."))


@document.command("reprocess")
@click.argument("document_id")
@bank_option
@pass_state
def reprocess_document(state: State, document_id: str, bank: str) -> None:
    """Make a document's memories anew from its text."""
    with state.api() as api:
        started = api.post(bank_path(bank, "documents", document_id, "reprocess"))
        done = watch_operation(
            api, state.printer, bank, started["operation_id"], "reprocess", local=state.in_process
        )
    state.printer.result(done, lambda: state.printer.say(f"Reprocessed document '{document_id}'."))


@document.command("delete")
@click.argument("document_id")
@bank_option
@confirm_option
@pass_state
def delete_document(state: State, document_id: str, bank: str, yes: bool) -> None:
    """Delete a document and the memories that rest on it alone."""
    if not yes:
        confirm(f"Delete document '{one_line(document_id)}' and its memories?")
    with state.api() as api:
        answer = api.delete(bank_path(bank, "documents", document_id))
    count = answer.get("memory_units_deleted", 0)
    state.printer.result(answer, lambda: state.printer.say(f"Deleted '{document_id}' and {count} memories."))
