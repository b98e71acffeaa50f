"""What reaches the terminal."""

from __future__ import annotations

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from lorebank.cli.output import Column, Printer, one_line, safe, size, when

HOSTILE = "x\x1b[2J\x1b]0;owned\x07\r\u202etxt\u2066 \x9b31m \x00 \x7f"


@given(st.text())
def test_no_stored_text_can_steer_the_terminal(text: str) -> None:
    assert all(char.isprintable() or char in "\n\t\u200c\u200d" for char in safe(text))


@given(st.text(st.characters(categories=("L", "N", "P", "S"))))
def test_ordinary_text_of_any_script_is_shown_as_it_is(text: str) -> None:
    assert safe(text) == text


def test_escapes_name_the_character() -> None:
    assert safe("a\x1bb\x9b\u202e") == "a\\x1bb\\x9b\\u202e"


def test_emoji_joined_by_a_joiner_stay_one() -> None:
    family = "\U0001f469\u200d\U0001f467"
    assert safe(family) == family


def test_a_table_shows_hostile_cells_harmlessly_and_fits_80_columns() -> None:
    out = io.StringIO()
    Printer(as_json=False, out=out).table(
        [Column("id", whole=True), Column("text")],
        [("1", HOSTILE + " long" * 60), ("2", "[bold red]x[/]")],
        "none",
    )
    shown = out.getvalue()
    assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown
    assert "\\x1b[2J" in shown
    assert "[bold red]x[/]" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_long_words_are_folded_not_lost() -> None:
    out = io.StringIO()
    Printer(as_json=False, out=out).table([Column("text")], [("a" * 200,)], "none")
    assert out.getvalue().count("a") == 200


def test_an_empty_table_says_so() -> None:
    out = io.StringIO()
    Printer(as_json=False, out=out).table([Column("text")], [], "There is nothing.")
    assert out.getvalue().strip() == "There is nothing."


def test_json_is_the_only_thing_on_stdout_and_is_ascii() -> None:
    out, err = io.StringIO(), io.StringIO()
    printer = Printer(as_json=True, out=out, err=err)
    printer.note("a remark")
    printer.result({"text": HOSTILE}, lambda: printer.say("never"))
    assert json.loads(out.getvalue()) == {"text": HOSTILE}
    assert out.getvalue().isascii()
    assert err.getvalue() == ""


def test_events_are_json_lines_with_json_and_plain_lines_without() -> None:
    err = io.StringIO()
    Printer(as_json=True, err=err).event("import", processed=3, total=9)
    Printer(as_json=False, err=err).event("import", processed=3, total=9)
    first, second = err.getvalue().splitlines()
    assert json.loads(first) == {"event": "import", "processed": 3, "total": 9}
    assert second == "import: processed 3, total 9"


def test_cells_of_every_type_are_one_line() -> None:
    assert one_line(None) == ""
    assert one_line(True) == "yes"
    assert one_line(["a", "b\nc"]) == "a, b c"
    assert one_line({"a": 1}) == '{"a": 1}'
    assert one_line(0.5) == "0.500"
    assert when("2026-11-29T08:30:00+00:00") == "2026-11-29 08:30"
    assert when(None) == ""


def test_sizes_are_told_in_decimal_units() -> None:
    assert [size(n) for n in (0, 999, 1_000, 2_500_000)] == ["0 B", "999 B", "1.0 kB", "2.5 MB"]
