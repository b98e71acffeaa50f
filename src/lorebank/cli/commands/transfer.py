"""bank export, import and clone: jobs of the server that this command watches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lorebank.cli.api import bank_path
from lorebank.cli.base import Command, State, pass_state, readable
from lorebank.cli.failures import FAILED, CliError, usage
from lorebank.cli.output import size
from lorebank.cli.progress import watch_operation
from lorebank.cli.wire import Upload


@click.command("export", cls=Command)
@click.argument("name")
@click.option("-o", "--output", metavar="FILE", help="Where to write the archive. Default: NAME.zip here.")
@click.option("--no-data", is_flag=True, help="Only the bank's configuration.")
@click.option("--no-config", is_flag=True, help="Only the bank's data.")
@click.option("--history", is_flag=True, help="Also the logs.")
@click.option(
    "--document", "documents", multiple=True, metavar="ID", help="Only this document; may be repeated."
)
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@pass_state
def export_bank(
    state: State,
    name: str,
    output: str | None,
    no_data: bool,
    no_config: bool,
    history: bool,
    documents: tuple[str, ...],
    force: bool,
) -> None:
    """Write a bank to an archive.

    Another lorebank can import it, and a person can read its texts.
    """
    target = Path(output) if output else Path(f"{_file_name(name)}.zip")
    if target.exists() and not force:
        raise CliError("conflict", f"{target} exists already; overwrite it with --force", FAILED)
    with state.api() as api:
        started = api.post(
            bank_path(name, "transfer", "export"),
            include_data=not no_data,
            include_bank_config=not no_config,
            include_history=history,
            document_id=documents or None,
        )
        operation = started["operation_id"]
        done = watch_operation(api, state.printer, name, operation, "export", local=state.in_process)
        url = (done.get("result_metadata") or {}).get("download_url")
        if not url:
            raise CliError("failed", "the export ended without an archive", FAILED)
        data = api.download(url)
    _write(target, data)
    answer = {"bank_id": name, "file": str(target), "bytes": len(data), "operation_id": operation}
    state.printer.result(answer, lambda: state.printer.raw(f"Wrote {target} ({size(len(data))})."))


def _file_name(bank: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in bank).strip(".")[:80] or "bank"


def _write(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name}.part")
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    except OSError as exc:
        raise CliError("failed", f"cannot write {target}: {exc.strerror}", FAILED) from exc


@click.command("import", cls=Command)
@click.argument("file")
@click.option("--bank", "-b", required=True, metavar="BANK", help="The bank to make, or to merge into.")
@click.option("--merge", is_flag=True, help="Add the documents to a bank that exists.")
@click.option(
    "--on-conflict",
    type=click.Choice(("skip", "replace", "new-id")),
    default="skip",
    show_default=True,
    help="With --merge: what happens to a document that is there already.",
)
@pass_state
def import_bank(state: State, file: str, bank: str, merge: bool, on_conflict: str) -> None:
    """Make a bank from an archive."""
    upload = Upload("file", Path(file).name, readable(file))
    mode = {"mode": "merge", "document_conflict": on_conflict} if merge else {"mode": "restore"}
    with state.api() as api:
        target = bank_path(bank, "transfer", "import")
        started = api.upload(target, {}, [upload], target_bank_id=bank, **mode)
        watched = _watched_bank(started, bank)
        done = watch_operation(
            api, state.printer, watched, started["operation_id"], "import", local=state.in_process
        )
    state.printer.result(done, lambda: state.printer.say(f"Imported {file} into the bank '{bank}'."))


def _watched_bank(started: dict[str, Any], bank: str) -> str:
    """The bank that the operation is recorded in."""
    return str(started.get("bank_id") or bank)


@click.command("clone", cls=Command)
@click.argument("name")
@click.argument("new_name")
@click.option("--no-data", is_flag=True, help="Only the bank's configuration.")
@click.option("--no-config", is_flag=True, help="Only the bank's data.")
@pass_state
def clone_bank(state: State, name: str, new_name: str, no_data: bool, no_config: bool) -> None:
    """Copy a bank into a new one."""
    if name == new_name:
        raise usage("the copy needs another name")
    with state.api() as api:
        started = api.post(
            bank_path(name, "clone"),
            target_bank_id=new_name,
            include_data=not no_data,
            include_bank_config=not no_config,
        )
        done = watch_operation(
            api, state.printer, name, started["operation_id"], "clone", local=state.in_process
        )
    state.printer.result(done, lambda: state.printer.say(f"Cloned '{name}' into '{new_name}'."))
