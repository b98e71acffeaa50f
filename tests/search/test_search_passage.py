"""What is read from a memory's text before it is indexed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.search import asks, embed_text, speaker_of
from lorebank.search.passage import PREVIOUS_CHARS


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ann: hello", "Ann"),
        ("Ann Lee-Smith: hello", "Ann Lee-Smith"),
        ("李雷： 你好", "李雷"),
        ("O'Brien : hello", "O'Brien"),
        ("Note: buy milk", None),
        ("https://example.org: a link", None),
        ("at 12:30 we left", None),
        ("We left because of this and that: the rain", None),
        ("no speaker here", None),
    ],
)
def test_the_speaker_is_the_name_before_the_colon(text: str, name: str | None) -> None:
    assert speaker_of(text) == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann: where were you?", True),
        ("Ann: where were you? [shares an image: a lamp]", True),
        ("你去哪里了？", True),
        ("اين كنت؟", True),
        ("Why? " + "I will tell you the whole of that long story another day, I promise.", False),
        ("I was at home.", False),
    ],
)
def test_a_turn_asks_when_it_ends_in_a_question(text: str, expected: bool) -> None:
    assert asks(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where? [" + "x" * 80 + "] \n", True),
        ("Where? [" + "x" * 80 + "] yes", False),
        ("Where? [a [" + "x" * 80 + "]", True),
        ("Where? [a] " + "x" * 80 + "]", False),
        ("Where?" + " " * 80, False),
        ("[where?]", False),
    ],
)
def test_only_a_whole_note_at_the_end_is_left_aside(text: str, expected: bool) -> None:
    assert asks(text) is expected


@pytest.mark.parametrize("run", ["\n", "\u3000", "[", "[]", " [", "]"])
def test_a_hostile_run_of_characters_ends(run: str) -> None:
    assert asks(f"why?{run * 500_000}y") is False


def test_a_turn_is_embedded_behind_the_start_of_the_turn_before_it() -> None:
    assert embed_text("Yes", "Shall we go?") == "Shall we go?\nYes"
    assert embed_text("Yes") == embed_text("Yes", "") == "Yes"


@given(st.text(max_size=300), st.text(max_size=300))
def test_embedded_text_keeps_the_whole_turn_and_little_of_the_one_before(text: str, previous: str) -> None:
    made = embed_text(text, previous)
    assert made.endswith(text)
    assert len(made) <= len(text) + PREVIOUS_CHARS + 1
    speaker_of(text)
    asks(text)
