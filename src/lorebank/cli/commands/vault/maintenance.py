"""vault maintenance and reviews: the scheduled pass, and what it hands over to an agent."""

from __future__ import annotations

from typing import Any

import click

from lorebank.cli.base import Group, State, pass_state
from lorebank.cli.commands.vault.common import knowledge, run_task
from lorebank.cli.failures import FAILED, OK
from lorebank.cli.output import Column, Printer, moment, when

ANSWERS = ("enqueued", "skipped", "unavailable", "failed")


@click.group(cls=Group)
def maintenance() -> None:
    """The pass that links remembered claims to the pages that they name."""


@maintenance.command("status")
@pass_state
def show_status(state: State) -> None:
    """Show the schedule, the next and the last run."""
    with state.api() as api:
        answer = api.get(knowledge("maintenance"))
    state.printer.result(answer, lambda: _show_status(state.printer, answer))


def _show_status(printer: Printer, answer: dict[str, Any]) -> None:
    printer.pairs(
        (
            ("schedule", answer["schedule"] if answer["enabled"] else "off"),
            ("time zone", answer["timezone"]),
            ("error", answer["error"]),
            ("writes", None if answer["writesEnabled"] else "off: no pass runs"),
            ("next run", moment(answer["nextRun"]) or "none"),
            ("running now", "yes" if answer["running"] else None),
        )
    )
    if answer["lastRun"] is None:
        printer.say("No pass has run yet.")
    else:
        _show_run(printer, answer["lastRun"])


def _review(review: dict[str, Any]) -> str:
    claims = "1 claim" if review["left"] == 1 else f"{review['left']} claims"
    return f"{review['outcome']}, {claims} left"


def _show_run(printer: Printer, run: dict[str, Any]) -> None:
    review = run["review"]
    printer.pairs(
        (
            ("last run", f"{moment(run['startedAt'])} ({run['trigger'].replace('_', ' ')})"),
            ("ended", "early" if run["outcome"] == "ended" else moment(run["endedAt"])),
            ("review", _review(review) if review else None),
        )
    )
    rows = [
        (
            one["store"] or one["vaultId"],
            f"{one['outcome']}: {one['reason']}" if one["reason"] else one["outcome"],
            *(one[name] for name in ("examined", "linked", "ambiguous", "no_subject", "failed", "left")),
        )
        for one in run["stores"]
    ]
    numbers = ("examined", "linked", "ambiguous", "no subject", "failed", "left")
    columns = (Column("store"), Column("outcome"), *(Column(name, right=True) for name in numbers))
    printer.table(columns, rows, "There was no store to visit.")


@maintenance.command("run")
@pass_state
def run_now(state: State) -> int:
    """Run the pass now.

    The exit code is 1 when a store failed.
    """
    with state.api() as api:
        result = run_task(state, api, knowledge("maintenance", "run"), {}, "maintenance")
    state.printer.result(result, lambda: _show_run(state.printer, result))
    return FAILED if any(one["outcome"] == "failed" for one in result.get("stores", ())) else OK


@click.group(cls=Group)
def reviews() -> None:
    """Requests for an agent's review of what the pass left, for a gateway to take."""


@reviews.command("list")
@pass_state
def list_reviews(state: State) -> None:
    """List the requests that are not answered."""
    with state.api() as api:
        answer = api.get(knowledge("host", "reviews"))
    rows = [
        (one["id"], one["jobId"], one["claimsLeft"], when(one["requestedAt"]), when(one["takenAt"]) or "no")
        for one in answer["reviews"]
    ]
    columns = (
        Column("id", whole=True),
        Column("job"),
        Column("claims", right=True),
        Column("asked"),
        Column("taken"),
    )
    state.printer.result(answer, lambda: state.printer.table(columns, rows, "Nothing waits."))


@reviews.command("take")
@click.argument("review_id")
@pass_state
def take_review(state: State, review_id: str) -> None:
    """Take a request. Taking it again is fine."""
    with state.api() as api:
        answer = api.post(knowledge("host", "reviews", review_id, "take"))
    state.printer.result(answer, lambda: state.printer.say(f"Queue {answer['jobId']}, then answer."))


@reviews.command("answer")
@click.argument("review_id")
@click.argument("outcome", type=click.Choice(ANSWERS))
@pass_state
def answer_review(state: State, review_id: str, outcome: str) -> None:
    """Say what became of a request. The first answer stays."""
    with state.api() as api:
        answer = api.post(knowledge("host", "reviews", review_id, "answer"), {"outcome": outcome})
    state.printer.result(answer, lambda: state.printer.say(f"Answered: {answer['outcome']}."))
