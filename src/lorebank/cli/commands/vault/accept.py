"""vault accept: the folders of stores that were moved."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.api import Api
from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.commands.vault.common import knowledge
from lorebank.cli.failures import FAILED, OK, CliError, usage
from lorebank.cli.output import Printer, one_line


@click.command(cls=Command)
@click.argument("vault_id", required=False)
@click.option("--all", "every", is_flag=True, help="Every store.")
@pass_state
def accept(state: State, vault_id: str | None, every: bool) -> int:
    """Say that the folders of a store are the right ones.

    A store whose folders were exchanged says partition_changed and answers nothing. So does one that was
    moved to another disk, or came back from a plain copy; then this lets it be used again. What is in
    the files is looked at as ever.
    """
    if every == (vault_id is not None):
        raise usage("say VAULT_ID or --all; 'lorebank vault stores' shows the ids")
    failed: dict[str, str] = {}
    with state.api() as api:
        if vault_id is not None:
            answer: Any = _accepted(api, vault_id)
            stores = [answer]
        else:
            stores, failed = _all(api)
            answer = {"stores": stores, "failed": failed}
    state.printer.result(answer, lambda: _show(state.printer, stores, failed))
    return FAILED if failed else OK


def _accepted(api: Api, vault_id: str) -> dict[str, Any]:
    found: dict[str, Any] = api.post(knowledge("stores", vault_id, "accept-folders"))
    return found


def _all(api: Api) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """What was accepted, and what is wrong with the stores where nothing could be."""
    answer = api.get(knowledge("stores"))
    if answer["problem"]:
        raise CliError("unavailable", answer["problem"], FAILED)
    done: list[dict[str, Any]] = []
    failed: dict[str, str] = {}
    for vault_id in sorted({str(one["vaultId"]) for one in answer["stores"] if one["vaultId"]}):
        try:
            done.append(_accepted(api, vault_id))
        except CliError as exc:
            failed[vault_id] = exc.message
    return done, failed


def _show(printer: Printer, stores: list[dict[str, Any]], failed: dict[str, str]) -> None:
    for one in stores:
        for folder in one["accepted"]:
            printer.raw(f"{one['vaultId']}: {one_line(folder)}")
    for vault_id, message in failed.items():
        printer.raw(f"{vault_id} cannot be used: {one_line(message)}")
    count = sum(len(one["accepted"]) for one in stores)
    if count:
        printer.say(f"{count} folders are accepted; the stores can be used.")
    elif not failed:
        printer.say("The folders are those that are known; there is nothing to accept.")
