"""What the access commands share: paths of the admin API, whom a command is about, and short answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from lorebank.cli.api import Api
from lorebank.cli.base import State, readable
from lorebank.cli.failures import CliError, usage
from lorebank.cli.wire import path

F = TypeVar("F", bound=Callable[..., Any])


def iam(*rest: str) -> str:
    """A path of the admin API."""
    return path("ext", "hindclaw", *rest)


def lorebank_access(*rest: str) -> str:
    """A path of lorebank's own part of it."""
    return path("v1", "lorebank", "access", *rest)


def done(state: State, answer: Any, sentence: str) -> None:
    """The answer as JSON (an empty one as `{}`), or the sentence."""
    state.printer.result({} if answer is None else answer, lambda: state.printer.say(sentence))


def found(api: Api, target: str) -> Any:
    """What a GET answers; None when it is not there."""
    try:
        return api.get(target)
    except CliError as exc:
        if exc.code == "not_found":
            return None
        raise


def state_word(one: dict[str, Any]) -> str:
    """Whether a user or an account is let in."""
    return "active" if one["is_active"] else "disabled"


def without_none(**values: Any) -> dict[str, Any]:
    """The values that were given."""
    return {name: value for name, value in values.items() if value is not None}


def json_file(file: str) -> Any:
    """The JSON in a file that the user named; a failure when it is none."""
    try:
        return json.loads(readable(file).decode("utf-8"))
    except ValueError as exc:
        raise usage(f"{file} is not JSON: {exc}") from exc


def principal_options(*kinds: str) -> Callable[[F], F]:
    """One option for each kind (`user`, `group`, `service-account`), of which exactly one must be given."""

    def decorate(command: F) -> F:
        for kind in reversed(kinds):
            command = click.option(f"--{kind}", metavar="ID", help=f"The {kind.replace('-', ' ')}.")(command)
        return command

    return decorate


def one_of(**given: str | None) -> tuple[str, str]:
    """(kind, id) of the one principal that was named; a failure for none or several."""
    named = [(kind, id) for kind, id in given.items() if id is not None]
    if len(named) != 1:
        options = " or ".join(f"--{kind.replace('_', '-')}" for kind in given)
        raise usage(f"say exactly one of {options}")
    return named[0]


def keys_path(kind: str, owner: str, *rest: str) -> str:
    """Where the keys of a user or a service account are."""
    if kind == "user":
        return iam("users", owner, "api-keys", *rest)
    return iam("service-accounts", owner, "keys", *rest)
