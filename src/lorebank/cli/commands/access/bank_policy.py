"""access bank-policy: a bank's own rules on strangers and retain strategies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from lorebank.cli.api import Api, bank_path
from lorebank.cli.base import Group, State, confirm, confirm_option, pass_state
from lorebank.cli.commands.access.common import done, found, iam, json_file
from lorebank.cli.failures import CliError
from lorebank.cli.output import one_line


@click.group("bank-policy", cls=Group)
def bank_policy() -> None:
    """Bank policies: rights of strangers, retain strategies."""


@bank_policy.command("show")
@click.argument("bank")
@pass_state
def show_bank_policy(state: State, bank: str) -> None:
    """Print a bank's policy, as it was put."""
    with state.api() as api:
        answer = api.get(iam("banks", bank, "policy"))
    state.printer.result(answer, lambda: state.printer.raw(json.dumps(answer["document"], indent=2)))


@bank_policy.command("put")
@click.argument("bank")
@click.argument("file")
@pass_state
def put_bank_policy(state: State, bank: str, file: str) -> None:
    """Give BANK the policy in FILE (JSON).

    It takes the place of the one that the bank has. The bank need not be there yet; a warning tells
    when it is not, or when it does not define a strategy that the policy names.
    """
    document = json_file(file)
    with state.api() as api:
        answer = api.put(iam("banks", bank, "policy"), {"document": document})
        warnings = list(_doubts(api, bank, document))
    for warning in warnings:
        state.printer.warn(warning)
    done(state, answer, f"The bank '{bank}' has the policy from {file} now.")


def _doubts(api: Api, bank: str, document: Any) -> Iterator[str]:
    """What may be a slip, as far as the caller may see it. The policy is stored all the same."""
    there, config = _seen(api, bank, "config")
    if config is None and there is None:
        there, _ = _seen(api, bank, "profile")
    if there is False:
        yield f"there is no bank '{bank}' yet."
    if config is None:
        return
    for name in _strategies(document):
        if name not in config["config"]["retain_strategies"]:
            yield f"the bank '{bank}' defines no strategy '{name}'; its own way stands in for it."


def _seen(api: Api, bank: str, part: str) -> tuple[bool | None, Any]:
    """(whether the bank is there, None when the caller may not see that part; the part)."""
    try:
        answer = found(api, bank_path(bank, part))
    except CliError as exc:
        if exc.code == "forbidden":  # who administers banks' policies need not see banks
            return None, None
        raise
    return answer is not None, answer


def _strategies(document: dict[str, Any]) -> list[str]:
    """The strategies that a policy names, which the server accepted; each once."""
    overrides = document.get("strategy_overrides") or []
    named = [document.get("default_strategy"), *(one["strategy"] for one in overrides)]
    return list(dict.fromkeys(name for name in named if name is not None))


@bank_policy.command("remove")
@click.argument("bank")
@confirm_option
@pass_state
def remove_bank_policy(state: State, bank: str, yes: bool) -> None:
    """Delete a bank's policy: strangers may do nothing in it then."""
    if not yes:
        confirm(f"Delete the policy of the bank '{one_line(bank)}'?")
    with state.api() as api:
        answer = api.delete(iam("banks", bank, "policy"))
    done(state, answer, f"The bank '{bank}' has no policy any more.")
