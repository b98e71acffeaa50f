"""Commands that do the work themselves because no server runs, and the demonstration."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from cli_process import Lorebank

from lorebank.demo.material import material


def test_retain_and_recall_without_a_server(alone: Lorebank) -> None:
    alone.ok("retain", "--bank", "notes", "Mara moves to Oslo in March")
    assert "Oslo" in alone.ok("recall", "--bank", "notes", "Where will Mara live?")
    assert alone.json("status")["running"] is False
    assert alone.json("doctor")["problems"] == {}


def test_background_work_left_behind_goes_on_with_the_next_command(alone: Lorebank) -> None:
    started = alone.json("retain", "--bank", "notes", "Odd has a key.", "--async")
    ended = alone.json("operation", "show", started["operation_id"], "--bank", "notes", "--wait")
    assert ended["status"] == "completed"


def test_two_commands_at_once_take_turns(alone: Lorebank) -> None:
    alone.ok("retain", "--bank", "notes", "The first one.")
    both = [alone.start("retain", "--bank", "notes", text) for text in ("Ines drinks tea.", "Odd has a key.")]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (out, err)
    assert alone.json("memory", "list", "--bank", "notes")["total"] == 3


def test_a_profile_says_where_the_data_lies(alone: Lorebank) -> None:
    made = alone.json("configure", "-p", "work", "--data-dir", str(alone.home / "work"), "--port", "0")
    with open(made["file"], "rb") as file:
        assert tomllib.load(file) == {"port": 0, "data_dir": str(alone.home / "work")}
    no_variable = {"LOREBANK_DATA_DIR": ""}
    assert alone.fails("-p", "nope", "status", code=2)["code"] == "invalid_input"
    where = {"LOREBANK_PROFILE": "work", "LOREBANK_DATA_DIR": str(alone.home / "work")}
    alone.ok("retain", "--bank", "notes", "At work.", **where)
    assert not alone.data_dir.exists()
    assert no_variable and (alone.home / "work").is_dir()


def answers(told: dict[str, Any]) -> list[bool]:
    """Whether the right memory is among the first two, for each question."""
    return [
        any(question.answer in result["text"] for result in answer["results"][:2])
        for question, answer in zip(material().questions, told["answers"], strict=True)
    ]


def test_the_demonstration_answers_its_questions_and_cleans_up(alone: Lorebank) -> None:
    told = alone.json("demo")
    assert all(answers(told)), answers(told)
    for answer in told["answers"]:
        assert answer["trace"]["results"][0]["arms"]
    assert alone.json("bank", "list")["total"] == 0


def test_the_demonstration_beside_a_server_shows_why(served: Lorebank) -> None:
    for _ in range(2):
        shown = served.ok("demo", "--keep")
        assert "hazelnuts" in shown and "semantic" in shown and "final" in shown
        assert max(len(line) for line in shown.splitlines()) <= 80
    assert served.json("bank", "stats", "demo")["total_documents"] == len(material().sessions)


def test_the_demonstration_leaves_a_bank_that_is_not_its_own(alone: Lorebank) -> None:
    alone.ok("retain", "--bank", "demo", "This is mine.")
    assert "did not make" in alone.fails("demo", code=1)["message"]
    alone.ok("bank", "delete", "demo", "--yes")
    alone.ok("demo", "--keep")
    alone.ok("retain", "--bank", "demo", "And this is mine too.", "--document-id", "mine")
    assert alone.fails("demo", code=1)["code"] == "conflict"
    assert json.loads(alone.ok("recall", "--bank", "demo", "mine", "--json"))["results"]
