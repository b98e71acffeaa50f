"""retain: put text, files or standard input into a bank."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import PurePath
from typing import Any

import click

from lorebank.cli.api import Api, bank_path
from lorebank.cli.base import Command, State, bank_option, key_values, pass_state, readable
from lorebank.cli.failures import usage
from lorebank.cli.program import program
from lorebank.cli.wire import Upload


@click.command(cls=Command)
@click.argument("text", required=False)
@click.option("-f", "--file", "files", multiple=True, metavar="FILE", help="Retain a file; may be repeated.")
@bank_option
@click.option("--document-id", metavar="ID", help="The document; the same id again replaces it.")
@click.option("--append", is_flag=True, help="Add to the document instead of replacing it.")
@click.option("-t", "--tag", "tags", multiple=True, metavar="TAG", help="Tag the memories; may be repeated.")
@click.option("--timestamp", metavar="TIME", help="When it was said (ISO 8601), or 'unset'. Default: now.")
@click.option("--context", metavar="TEXT", help="What this is about, in a few words.")
@click.option("--metadata", multiple=True, metavar="NAME=VALUE", help="Kept with the memories.")
@click.option("--strategy", metavar="NAME", help="One of the bank's retain strategies.")
@click.option("--async", "in_background", is_flag=True, help="Return at once; the server works on.")
@click.option("--wait", is_flag=True, help="With --async: watch until it is done.")
@pass_state
def retain(
    state: State,
    /,
    text: str | None,
    files: tuple[str, ...],
    bank: str,
    in_background: bool,
    wait: bool,
    **how: Any,
) -> None:
    """Put text or files into a bank.

    TEXT, files or standard input; the bank is made when missing. A conversation is best given with
    its speakers, one turn a line ("Mara: …"), or as JSON turns.
    """
    if text is not None and files:
        raise usage("give either TEXT or --file, not both")
    if len(files) > 1 and how["document_id"]:
        raise usage("--document-id names one document; leave it out to retain several files")
    given = _given(text, files)
    items = [_item(name, content, how) for name, content in given if isinstance(content, str)]
    blobs = [Upload("files", PurePath(name).name, data) for name, data in given if isinstance(data, bytes)]
    watched = wait or bool(blobs and not in_background)
    with state.api() as api:
        answers: list[dict[str, Any]] = []
        if items:
            answers.append(api.post(bank_path(bank, "memories"), {"items": items, "async": in_background}))
        if blobs:
            answers.append(_upload(api, bank, blobs, how))
        ids = [operation for answer in answers for operation in _operations(answer)]
        if watched:
            _watch(state, api, bank, ids)
    _tell(state, bank, len(given), ids, done=not ids or watched, answers=answers)


def _given(text: str | None, files: tuple[str, ...]) -> list[tuple[str, str | bytes]]:
    """(document id or nothing, text or bytes) of each thing to retain."""
    if files:
        if len({_document_id(name) for name in files}) < len(files):
            raise usage("two files have the same name, which is their document id; retain them one by one")
        return [(_document_id(name), _text_or_bytes(readable(name))) for name in files]
    if text is None or text == "-":
        if sys.stdin.isatty():
            raise usage("give a TEXT, --file FILE, or pipe text into the command")
        data = _text_or_bytes(sys.stdin.buffer.read())
        if isinstance(data, bytes):
            raise usage("standard input is not text; give files with --file")
        text = data
    if not text.strip():
        raise usage("there is nothing to retain: the text is empty")
    return [("", text)]


def _document_id(name: str) -> str:
    """A file's document id: its path as typed, or only its name when the path is absolute."""
    path = PurePath(name)
    return path.name if path.is_absolute() or ".." in path.parts else path.as_posix()


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data if b"\x00" in data else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data


def _item(name: str, content: str, how: dict[str, Any]) -> dict[str, Any]:
    item = {"content": content, "document_id": how["document_id"] or name or None, **_about(how)}
    if how["append"]:
        item["update_mode"] = "append"
    return {key: value for key, value in item.items() if value is not None}


def _about(how: dict[str, Any]) -> dict[str, Any]:
    metadata = key_values(how["metadata"], "--metadata")
    return {
        "timestamp": how["timestamp"],
        "context": how["context"],
        "tags": list(how["tags"]) or None,
        "metadata": metadata or None,
        "strategy": how["strategy"],
    }


def _upload(api: Api, bank: str, uploads: list[Upload], how: dict[str, Any]) -> dict[str, Any]:
    about = {key: value for key, value in _about(how).items() if value is not None}
    each = [{"document_id": how["document_id"] or upload.filename, **about} for upload in uploads]
    fields = {"request": json.dumps({"files_metadata": each})}
    answer: dict[str, Any] = api.upload(bank_path(bank, "files", "retain"), fields, uploads)
    return answer


def _operations(answer: dict[str, Any]) -> list[str]:
    several = answer.get("operation_ids") or []
    return list(several) if several else [i for i in [answer.get("operation_id")] if i]


def _watch(state: State, api: Api, bank: str, ids: list[str]) -> None:
    from lorebank.cli.progress import watch_operation

    for operation_id in ids:
        watch_operation(api, state.printer, bank, operation_id, "retain", local=state.in_process)


def _tell(
    state: State, bank: str, count: int, ids: list[str], *, done: bool, answers: list[dict[str, Any]]
) -> None:
    value = answers[0] if len(answers) == 1 else {"answers": answers}
    things = f"{count} item{'s' if count != 1 else ''}"

    def human() -> None:
        if done:
            state.printer.say(f"Retained {things} in bank '{bank}'.")
            return
        state.printer.say(f"Accepted {things} for bank '{bank}'. Watch it with:")
        for operation_id in ids:
            state.printer.raw(f"  {program()} operation show {operation_id} --bank {shlex.quote(bank)}")

    state.printer.result(value, human)
