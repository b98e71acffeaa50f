"""Commands that do the work themselves because no server runs, and the demonstration."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from cli_process import Lorebank

from lorebank.demo.material import material


def test_retain_and_recall_without_a_server(plain: Lorebank) -> None:
    plain.ok("retain", "--bank", "notes", "Mara moves to Oslo in March")
    assert "Oslo" in plain.ok("recall", "--bank", "notes", "Where will Mara live?")
    assert plain.json("status")["running"] is False
    assert plain.json("doctor")["problems"] == {}


def test_background_work_left_behind_goes_on_with_the_next_command(plain: Lorebank) -> None:
    started = plain.json("retain", "--bank", "notes", "Odd has a key.", "--async")
    ended = plain.json("operation", "show", started["operation_id"], "--bank", "notes", "--wait")
    assert ended["status"] == "completed"


def test_two_commands_at_once_take_turns(plain: Lorebank) -> None:
    plain.ok("retain", "--bank", "notes", "The first one.")
    both = [plain.start("retain", "--bank", "notes", text) for text in ("Ines drinks tea.", "Odd has a key.")]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (out, err)
    assert plain.json("memory", "list", "--bank", "notes")["total"] == 3


def test_a_profile_says_where_the_data_lies(plain: Lorebank) -> None:
    made = plain.json("configure", "-p", "work", "--data-dir", str(plain.home / "work"), "--port", "0")
    with open(made["file"], "rb") as file:
        assert tomllib.load(file) == {"port": 0, "data_dir": str(plain.home / "work")}
    assert plain.fails("-p", "nope", "status", code=2)["code"] == "invalid_input"
    plain.ok("-p", "work", "retain", "--bank", "notes", "At work.", LOREBANK_DATA_DIR="")
    assert (plain.home / "work").is_dir() and not plain.data_dir.exists()


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


def test_the_demonstration_leaves_a_bank_that_is_not_its_own(plain: Lorebank) -> None:
    plain.ok("retain", "--bank", "demo", "This is mine.")
    assert "did not make" in plain.fails("demo", code=1)["message"]
    plain.ok("bank", "delete", "demo", "--yes")
    plain.ok("demo", "--keep")
    plain.ok("retain", "--bank", "demo", "And this is mine too.", "--document-id", "mine")
    assert plain.fails("demo", code=1)["code"] == "conflict"
    assert json.loads(plain.ok("recall", "--bank", "demo", "mine", "--json"))["results"]
