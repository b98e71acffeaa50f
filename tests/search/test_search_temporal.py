"""The period that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.search.temporal import question_range

NOW = datetime(2023, 7, 20, 12, tzinfo=UTC).timestamp()


def days(text: str) -> tuple[str, str] | None:
    found = question_range(text, NOW)
    if found is None:
        return None
    first, last = (datetime.fromtimestamp(edge, UTC).date().isoformat() for edge in found)
    return first, last


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What happened on 7 May 2023?", ("2023-05-07", "2023-05-07")),
        ("trips in May 2023", ("2023-05-01", "2023-05-31")),
        ("What did she read in 2022?", ("2022-01-01", "2022-12-31")),
        ("results of Q3 2024", ("2024-07-01", "2024-09-30")),
        ("who called yesterday", ("2023-07-19", "2023-07-19")),
        ("what did we decide last week", ("2023-07-10", "2023-07-16")),
        ("the week before 9 June 2023", ("2023-06-02", "2023-06-08")),
        ("昨天做了什么", ("2023-07-19", "2023-07-19")),
        ("어제 누가 왔어", ("2023-07-19", "2023-07-19")),
        ("wer kam gestern", ("2023-07-19", "2023-07-19")),
        ("between 3 May 2023 and 9 June 2023", ("2023-05-03", "2023-06-09")),
        ("what changed since 1 July 2023", ("2023-07-01", "2023-07-20")),
    ],
)
def test_dates_become_a_period(text: str, expected: tuple[str, str]) -> None:
    assert days(text) == expected


@pytest.mark.parametrize("text", ["May I march in?", "who may have done it", "", "no date here"])
def test_words_that_only_look_like_months_are_no_dates(text: str) -> None:
    assert question_range(text, NOW) is None


def test_before_leaves_the_past_open() -> None:
    found = question_range("what happened before 1 June 2023", NOW)
    assert found is not None
    assert found[0] < 0
    assert datetime.fromtimestamp(found[1], UTC).date().isoformat() == "2023-06-01"


def test_only_the_beginning_of_a_long_question_is_read() -> None:
    assert question_range("x" * 3_000 + " on 7 May 2023", NOW) is None


@given(st.text(max_size=80), st.floats(allow_nan=True, allow_infinity=True))
def test_any_text_at_any_time_gives_a_period_or_nothing(text: str, now: float) -> None:
    found = question_range(f"yesterday {text} in 10 years", now)
    assert found is None or found[0] <= found[1]
