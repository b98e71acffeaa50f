"""vault tool and token: ask as an agent does, with an audience token of one's own making."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, TypeVar

import click

from lorebank.cli.api import Api
from lorebank.cli.base import Command, State, pass_state, readable
from lorebank.cli.commands.access.common import without_none
from lorebank.cli.commands.vault.common import DEFAULT_AGENT, knowledge
from lorebank.cli.failures import usage
from lorebank.cli.wire import Upload
from lorebank.clock import now
from lorebank.ids import new_uuid

F = TypeVar("F", bound=Callable[..., Any])
TOOLS = (
    "knowledge_search",
    "knowledge_get",
    "knowledge_recall",
    "knowledge_ontology",
    "knowledge_context",
    "knowledge_history",
    "knowledge_restore",
    "knowledge_remember",
    "knowledge_save_page",
    "knowledge_save_claim",
    "knowledge_save_relationship",
    "knowledge_attach_file",
    "knowledge_relink",
)
ATTACH = "knowledge_attach_file"
LIFETIME = 300
MAX_LIFETIME = 86_400


def audience_options(command: F) -> F:
    """For whom the token speaks: the owner, or one conversation."""
    options = (
        click.option(
            "--agent", metavar="AGENT", default=DEFAULT_AGENT, show_default=True, help="As this agent."
        ),
        click.option("--owner", is_flag=True, help="In the owner's private conversation."),
        click.option("--session-key", metavar="KEY", help="In the conversation with this session key ..."),
        click.option("--session-id", metavar="ID", help="... and this session id."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(cls=Command)
@audience_options
@click.option("--invocation", metavar="ID", help="The run that it belongs to. Default: a new one.")
@click.option(
    "--lifetime",
    type=click.IntRange(1, MAX_LIFETIME),
    default=LIFETIME,
    show_default=True,
    metavar="SECONDS",
    help="For how long it is valid; servers take at most their audience_lifetime.",
)
@pass_state
def token(state: State, /, lifetime: int, **audience: Any) -> None:
    """Print an audience token: what a gateway sends with each tool call.

    Whoever holds it is that agent until it expires. It is made with the audience secret of the settings or
    of the data directory, and the server must use the same.
    """
    made = _minted(state, _claims(**audience), lifetime)
    state.printer.result({"token": made, "expires_in": lifetime}, lambda: state.printer.raw(made))


@click.command(cls=Command)
@click.argument("name", type=click.Choice(TOOLS))
@click.argument("arguments", default="{}")
@audience_options
@click.option("--token", "given", metavar="TOKEN", help="An audience token; then nothing else says who asks.")
@pass_state
def tool(state: State, /, name: str, arguments: str, given: str | None, **audience: Any) -> None:
    """Call a tool as an agent does, and print its answer.

    ARGUMENTS is a JSON object, '@FILE' or '-' for stdin. knowledge_attach_file reads the file that
    filePath names on this machine.
    """
    body = _arguments(arguments)
    if given is not None and (audience["owner"] or audience["session_key"] or audience["session_id"]):
        raise usage("--token says who asks; leave --owner, --session-key and --session-id out")
    held = given or _minted(state, _claims(**audience), LIFETIME)
    with state.api() as api:
        answer = _called(api.holding(held), name, body)
    print(json.dumps(answer, ensure_ascii=state.as_json, indent=2))


def _arguments(text: str) -> dict[str, Any]:
    if text == "-":
        text = sys.stdin.read()
    elif text.startswith("@"):
        text = readable(text[1:]).decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except ValueError as exc:
        raise usage(f"ARGUMENTS is not JSON: {exc}") from exc
    if not isinstance(found, dict):
        raise usage("ARGUMENTS must be a JSON object")
    return found


def _called(api: Api, name: str, body: dict[str, Any]) -> Any:
    target = knowledge("tools", name)
    if name != ATTACH:
        return api.post(target, body)
    file = body.get("filePath")
    if not isinstance(file, str):
        raise usage("knowledge_attach_file needs filePath, a file on this machine")
    data = readable(file)
    said = {"requestId": new_uuid(), "sha256": hashlib.sha256(data).hexdigest(), **body}
    return api.upload(target, {"request": json.dumps(said)}, [Upload("file", PurePath(file).name, data)])


def _claims(
    agent: str,
    owner: bool,
    session_key: str | None,
    session_id: str | None,
    invocation: str | None = None,
) -> dict[str, Any]:
    if owner == (session_key is not None):
        raise usage("say --owner, or --session-key with --session-id")
    if (session_key is None) != (session_id is None):
        raise usage("--session-key and --session-id go together")
    return {
        "agent": agent,
        "visibility": "owner-private" if owner else "conversation",
        "invocation": invocation or f"cli-{new_uuid()}",
    } | without_none(session_key=session_key, session_id=session_id)


def _minted(state: State, claims: dict[str, Any], lifetime: int) -> str:
    from lorebank.access.audience_token import make_token

    return make_token(claims, _secret(state), lifetime, now())


def _secret(state: State) -> str:
    """The secret of the settings, else that of the data directory."""
    from lorebank.storage.sqlite.audience_key import read_audience_key

    settings = state.settings()
    if settings.audience_secrets:
        return settings.audience_secrets[0]
    found = read_audience_key(settings.data_dir)
    if found is None and state.remote() is None:
        with state.api():  # the first start makes it
            found = read_audience_key(settings.data_dir)
    if found is None:
        raise usage("there is no audience secret here; set LOREBANK_AUDIENCE_SECRETS to the server's")
    return found
