"""What each date expression means, seen from Wednesday 10 May 2023."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from lorebank.dates import DateSpan, find_dates

ANCHOR = datetime(2023, 5, 10, 13, 56, tzinfo=UTC)


def only(text: str, anchor: datetime | None = ANCHOR) -> DateSpan:
    spans = find_dates(text, anchor)
    assert len(spans) == 1, spans
    return spans[0]


def shown(text: str, anchor: datetime | None = ANCHOR) -> tuple[str, str, str]:
    span = only(text, anchor)
    return f"{span.start:%Y-%m-%d}", f"{span.end:%Y-%m-%d}", span.precision


@pytest.mark.parametrize(
    ("text", "first", "last", "precision"),
    [
        ("on 2023-05-07", "2023-05-07", "2023-05-07", "day"),
        ("at 2023-05-07T10:30:00Z", "2023-05-07", "2023-05-07", "time"),
        ("7 May 2023", "2023-05-07", "2023-05-07", "day"),
        ("May 7th, 2023", "2023-05-07", "2023-05-07", "day"),
        ("the 7th of May 2023", "2023-05-07", "2023-05-07", "day"),
        ("7.5.2023", "2023-05-07", "2023-05-07", "day"),
        ("2023/05/07", "2023-05-07", "2023-05-07", "day"),
        ("12/31/2022", "2022-12-31", "2022-12-31", "day"),
        ("31/12/2022", "2022-12-31", "2022-12-31", "day"),
        ("7-9 May 2023", "2023-05-07", "2023-05-09", "day"),
        ("May 7-9, 2023", "2023-05-07", "2023-05-09", "day"),
        ("May 2023", "2023-05-01", "2023-05-31", "month"),
        ("february 2024", "2024-02-01", "2024-02-29", "month"),
        ("2023-05", "2023-05-01", "2023-05-31", "month"),
        ("in 2022", "2022-01-01", "2022-12-31", "year"),
        ("the 1990s", "1990-01-01", "1999-12-31", "year"),
        ("Q3 2024", "2024-07-01", "2024-09-30", "season"),
        ("third quarter of 2024", "2024-07-01", "2024-09-30", "season"),
        ("summer of 2022", "2022-06-01", "2022-08-31", "season"),
        ("winter 2022", "2022-12-01", "2023-02-28", "season"),
        ("end of May 2023", "2023-05-21", "2023-05-31", "month"),
        ("the week before 9 June 2023", "2023-06-02", "2023-06-08", "week"),
        ("the Sunday before 25 May 2023", "2023-05-21", "2023-05-21", "day"),
        ("two days after 9 June 2023", "2023-06-11", "2023-06-11", "day"),
        ("the week of 9 June 2023", "2023-06-05", "2023-06-11", "week"),
    ],
)
def test_explicit_dates_need_no_anchor(text: str, first: str, last: str, precision: str) -> None:
    assert shown(text, None) == (first, last, precision)
    assert not only(text, ANCHOR).relative


@pytest.mark.parametrize(
    ("text", "first", "last", "precision"),
    [
        ("today", "2023-05-10", "2023-05-10", "day"),
        ("this morning", "2023-05-10", "2023-05-10", "day"),
        ("last night", "2023-05-09", "2023-05-09", "day"),
        ("yesterday evening", "2023-05-09", "2023-05-09", "day"),
        ("the day before yesterday", "2023-05-08", "2023-05-08", "day"),
        ("tomorrow", "2023-05-11", "2023-05-11", "day"),
        ("last week", "2023-05-01", "2023-05-07", "week"),
        ("next month", "2023-06-01", "2023-06-30", "month"),
        ("last year", "2022-01-01", "2022-12-31", "year"),
        ("last weekend", "2023-05-06", "2023-05-07", "day"),
        ("this weekend", "2023-05-13", "2023-05-14", "day"),
        ("two weekends ago", "2023-04-29", "2023-04-30", "day"),
        ("last Friday", "2023-05-05", "2023-05-05", "day"),
        ("next Friday", "2023-05-12", "2023-05-12", "day"),
        ("last Wednesday", "2023-05-03", "2023-05-03", "day"),
        ("next Wednesday", "2023-05-17", "2023-05-17", "day"),
        ("this Wednesday", "2023-05-10", "2023-05-10", "day"),
        ("last summer", "2022-06-01", "2022-08-31", "season"),
        ("last May", "2022-05-01", "2022-05-31", "month"),
        ("next June", "2023-06-01", "2023-06-30", "month"),
        ("3 days ago", "2023-05-07", "2023-05-07", "day"),
        ("two weeks ago", "2023-04-24", "2023-04-30", "week"),
        ("a couple of weeks ago", "2023-04-24", "2023-04-30", "week"),
        ("a few days ago", "2023-05-05", "2023-05-08", "week"),
        ("5 years ago", "2018-01-01", "2018-12-31", "year"),
        ("in 3 days", "2023-05-13", "2023-05-13", "day"),
        ("the week before last", "2023-04-24", "2023-04-30", "week"),
        ("late last year", "2022-09-01", "2022-12-31", "year"),
        ("the last two months", "2023-03-01", "2023-05-10", "month"),
        ("in March", "2023-03-01", "2023-03-31", "month"),
        ("May 20", "2023-05-20", "2023-05-20", "day"),
        ("on march 10", "2023-03-10", "2023-03-10", "day"),
        ("two days before 9 June", "2023-06-07", "2023-06-07", "day"),
    ],
)
def test_relative_dates_are_read_against_the_anchor(text: str, first: str, last: str, precision: str) -> None:
    assert shown(text) == (first, last, precision)
    assert only(text).relative
    assert find_dates(text, None) == []


@pytest.mark.parametrize(
    "text",
    [
        "I may go and march on",
        "march 10 miles",
        "it may be",
        "the other day",
        "recently",
        "soon",
        "on Friday",
        "version 1.2.3",
        "ticket 1004",
        "$2022",
        "10.20.30.40",
        "call 555-2022",
        "2023-13-45",
        "31.02.2023",
        "I am 30",
        "room 2022",
        "no date at all",
        "this sun is hot",
        "in a minute",
        "in 3 months of training",
        "",
        "5 apples",
        "may 5 be enough?",
        "0000-00-00",
        "99999 years ago",
    ],
)
def test_words_and_numbers_that_are_no_dates(text: str) -> None:
    assert find_dates(text, ANCHOR) == []


def test_a_year_out_of_range_is_no_date_and_no_error() -> None:
    early, late = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
    text = "yesterday, last year, 5000 years ago, tomorrow, next month, in 9000 years, last summer, in June"
    assert all(1 <= s.start.year <= 9999 for anchor in (early, late) for s in find_dates(text, anchor))


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("since 2016", "since"),
        ("until June", "until"),
        ("before 7 May 2023", "before"),
        ("in 2016", None),
    ],
)
def test_the_word_before_tells_an_open_edge(text: str, bound: str | None) -> None:
    assert only(text).bound == bound


def test_on_a_sunday_the_running_weekend_is_this_one() -> None:
    sunday = datetime(2023, 5, 14, 9, tzinfo=UTC)
    assert shown("this weekend", sunday)[:2] == ("2023-05-13", "2023-05-14")
    assert shown("last weekend", sunday)[:2] == ("2023-05-06", "2023-05-07")
    assert shown("next weekend", sunday)[:2] == ("2023-05-20", "2023-05-21")


def test_results_are_in_the_anchors_zone_and_naive_means_utc() -> None:
    zone = timezone(timedelta(hours=9))
    assert only("yesterday", ANCHOR.astimezone(zone)).start == datetime(2023, 5, 9, tzinfo=zone)
    assert only("yesterday", ANCHOR.replace(tzinfo=None)).start == datetime(2023, 5, 9, tzinfo=UTC)


def test_a_day_and_month_lie_in_the_nearest_year() -> None:
    january = datetime(2023, 1, 5, tzinfo=UTC)
    assert shown("on 28 December", january)[0] == "2022-12-28"
    assert shown("29 February", january)[0] == "2024-02-29"


def test_several_dates_come_in_order_without_overlap() -> None:
    text = "We met yesterday, again on 2 June 2023, and since 2016 every week."
    spans = find_dates(text, ANCHOR)
    assert [s.text for s in spans] == ["yesterday", "2 June 2023", "2016"]
    assert all(text[s.begin : s.stop] == s.text for s in spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We sold all the honey in nine days.", []),
        ("They built it in six months and left.", []),
        ("We launch in 3 days.", ["in 3 days"]),
        ("She decided to come back in 3 days.", ["in 3 days"]),
        ("It was planned. The trip is in two weeks.", ["in two weeks"]),
    ],
)
def test_how_long_something_took_is_not_when_it_will_be(text: str, expected: list[str]) -> None:
    assert [span.text for span in find_dates(text, ANCHOR)] == expected


def test_the_full_stop_of_a_sentence_is_not_part_of_its_date() -> None:
    assert [span.text for span in find_dates("She starts on 2 April. Then we go.", ANCHOR)] == ["2 April"]
