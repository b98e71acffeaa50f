"""demo: a small conversation, five questions, and why each memory was found."""

from __future__ import annotations

import time
from typing import Any

import click

from lorebank.cli.api import Api, bank_path
from lorebank.cli.base import Command, State, pass_state
from lorebank.cli.failures import FAILED, CliError
from lorebank.cli.output import Printer
from lorebank.cli.settle import wait_for_vectors
from lorebank.cli.why import reasons_by_id, show_reason
from lorebank.demo.material import Material, Question, material

BANK = "demo"
MADE_BY = "made by lorebank demo"
SHOWN = 2


@click.command(cls=Command)
@click.option("--keep", is_flag=True, help="Keep the bank 'demo', to ask it more questions.")
@pass_state
def demo(state: State, keep: bool) -> None:
    """Load a small conversation and ask it five questions.

    It makes a bank 'demo', works offline and shows for every answer which arms of the search found it.
    """
    told = material()
    with state.api() as api:
        started = time.monotonic()
        load(api, told)
        seconds = time.monotonic() - started
        answers = [(question, ask(api, question, told.asked_at)) for question in told.questions]
        if not keep:
            api.delete(bank_path(BANK))
    value = {
        "bank": BANK,
        "kept": keep,
        "answers": [{"question": q.ask, "shows": q.shows, **answer} for q, answer in answers],
    }
    state.printer.result(value, lambda: _show(state.printer, told, answers, seconds, keep=keep))


def load(api: Api, told: Material) -> None:
    """Make the bank anew and retain the conversation, until its vectors are there."""
    _make_room(api, told)
    api.put(bank_path(BANK), {"name": MADE_BY})
    items = [session.item() for session in told.sessions]
    api.post(bank_path(BANK, "memories"), {"items": items, "async": False})
    wait_for_vectors(api)


def _make_room(api: Api, told: Material) -> None:
    """Delete the bank of an earlier demonstration; a failure when the bank is somebody's own."""
    try:
        profile = api.get(bank_path(BANK, "profile"))
    except CliError as exc:
        if exc.code == "not_found":
            return
        raise
    documents = api.get(bank_path(BANK, "documents"), limit=len(told.sessions) + 1)
    ours = {document["id"] for document in documents["items"]} <= told.document_ids
    if profile.get("name") != MADE_BY or not ours:
        raise CliError(
            "conflict",
            "there is a bank 'demo' that this command did not make; it is left as it is "
            "(try another --data-dir)",
            FAILED,
        )
    api.delete(bank_path(BANK))


def ask(api: Api, question: Question, asked_at: str) -> dict[str, Any]:
    """The recall of a question with its trace, as if it were asked at `asked_at`."""
    body = {
        "query": question.ask,
        "query_timestamp": asked_at,
        "max_tokens": 1024,
        "trace": True,
        "include": {"entities": None},
    }
    answer: dict[str, Any] = api.post(bank_path(BANK, "memories", "recall"), body)
    return answer


def _show(
    printer: Printer,
    told: Material,
    answers: list[tuple[Question, dict[str, Any]]],
    seconds: float,
    *,
    keep: bool,
) -> None:
    turns = sum(len(session.turns) for session in told.sessions)
    printer.say(told.about)
    printer.say(f"{turns} turns of three conversations were retained in {seconds:.1f} s.")
    for number, (question, answer) in enumerate(answers, 1):
        printer.say(f"\n{number}. {question.ask}")
        printer.say(f"({question.shows})", indent=3)
        _show_answer(printer, answer)
    if keep:
        printer.say("\nThe bank 'demo' is kept. Ask it yourself:")
        printer.raw("  lorebank recall --bank demo --why 'What is Hanna doing in August?'")
    else:
        printer.say("\nThe bank 'demo' is deleted again; --keep keeps it.")


def _show_answer(printer: Printer, answer: dict[str, Any]) -> None:
    results = answer.get("results") or []
    reasons = reasons_by_id(answer.get("trace"))
    if not results:
        printer.say("Nothing was found.", indent=3)
    for result in results[:SHOWN]:
        printer.say(f"→ {result['text']}", indent=3)
        show_reason(printer, result, reasons.get(str(result["id"]), {}), indent=5)
