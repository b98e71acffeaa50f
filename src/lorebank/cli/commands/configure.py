"""configure: write a profile, by questions on a terminal or by options anywhere."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from lorebank.cli import profiles
from lorebank.cli.base import Command, Port, State, pass_state
from lorebank.cli.program import program
from lorebank.errors import Conflict

COMMENT = """A lorebank profile: settings that 'lorebank -p NAME' uses. docs/settings.md has them all.
It may hold a key: keep it to yourself."""
LATER = """No language model is needed: retain and recall work without one.
It is used from the Reasoning release on (reflect, observations, mental models)."""
PROVIDERS = ("openai", "anthropic")
PORT = 8888
DATA_DIR = "~/.lorebank"


@click.command(cls=Command)
@click.option("--port", type=Port(), metavar="N", help="Port of the server.")
@click.option("--llm-provider", type=click.Choice((*PROVIDERS, "none")), help="Kind of language model API.")
@click.option("--llm-base-url", metavar="URL", help="Its address.")
@click.option("--llm-model", metavar="NAME", help="Its model.")
@click.option("--llm-api-key", metavar="KEY", help="Its key; '-' reads it from standard input.")
@click.option("--force", is_flag=True, help="Overwrite the profile.")
@pass_state
def configure(state: State, /, force: bool, **given: Any) -> None:
    """Write a profile: a named set of settings.

    It asks for port, data directory and, if you like, a language model, and writes the profile that
    -p names (or 'default'). On a terminal it asks for what no option says; elsewhere it takes the defaults.
    """
    name = state.profile or os.environ.get(profiles.PROFILE_ENV) or profiles.DEFAULT
    path = profiles.path_of(name, os.environ)
    if path.exists() and not force:
        raise Conflict(f"the profile '{name}' exists already; overwrite it with --force")
    given["data_dir"] = _absolute(state.data_dir)
    values = _asked(given) if sys.stdin.isatty() and not state.as_json else _defaults(given)
    values = {key: value for key, value in values.items() if value not in (None, "")}
    state.hooks.load_settings(values, None)
    profiles.write(path, profiles.to_toml(values, COMMENT), force=force)
    shown = {key: "(kept)" if key.endswith("_key") else value for key, value in values.items()}
    state.printer.result(
        {"profile": name, "file": str(path), "settings": shown}, lambda: _tell(state, name, path)
    )


def _absolute(folder: str | None) -> str | None:
    """A profile is read from anywhere: a folder in it is absolute, or begins with `~`."""
    return folder if folder is None or folder.startswith("~") else os.path.abspath(folder)


def _tell(state: State, name: str, path: os.PathLike[str]) -> None:
    state.printer.raw(f"Wrote {path}")
    option = "" if name == profiles.DEFAULT else f" -p {name}"
    state.printer.raw(f"Start the server with: {program()}{option} serve")


def _defaults(given: dict[str, Any]) -> dict[str, Any]:
    provider = given["llm_provider"]
    key = given["llm_api_key"]
    return {
        "port": PORT if given["port"] is None else given["port"],
        "data_dir": given["data_dir"] or DATA_DIR,
        "llm_provider": None if provider == "none" else provider,
        "llm_base_url": given["llm_base_url"],
        "llm_model": given["llm_model"],
        "llm_api_key": sys.stdin.readline().strip() if key == "-" else key,
    }


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    port, data_dir = given["port"], given["data_dir"]
    if port is None:
        port = click.prompt("Port", default=PORT, type=Port(), err=True)
    if data_dir is None:
        data_dir = _absolute(click.prompt("Data directory", default=DATA_DIR, err=True))
    return {"port": port, "data_dir": data_dir, **_asked_llm(given)}


def _asked_llm(given: dict[str, Any]) -> dict[str, Any]:
    provider = given["llm_provider"]
    if provider is None:
        click.echo(LATER, err=True)
        choice = click.Choice((*PROVIDERS, "none"))
        provider = click.prompt("Language model API", default="none", type=choice, err=True)
    if provider == "none":
        return {}
    url, model, key = given["llm_base_url"], given["llm_model"], given["llm_api_key"]
    if url is None:
        url = click.prompt(
            "Its address (empty: the provider's own)", default="", show_default=False, err=True
        )
    if model is None:
        model = click.prompt("Its model", err=True)
    if key is None or key == "-":
        key = click.prompt("Its key (not shown)", hide_input=True, default="", show_default=False, err=True)
    return {"llm_provider": provider, "llm_base_url": url, "llm_model": model, "llm_api_key": key}
