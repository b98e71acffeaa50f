"""What holds for every text and every anchor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from lorebank.dates import find_dates

PHRASES = [
    "yesterday",
    "last Friday",
    "next week",
    "3 days ago",
    "last weekend",
    "2023-05-07",
    "7 May 2023",
    "in 2022",
    "two weeks ago",
    "a few days ago",
    "gestern",
    "letzte Woche",
    "dün",
    "أمس",
    "เมื่อวาน",
    "昨天",
    "上周五",
    "先週",
    "어제",
    "the week before 9 June 2023",
    "last",
    "may",
    "march",
    "2023",
    "31.12.",
    "week",
    "before",
    "in",
]
WEEKLY = [
    "today",
    "yesterday",
    "tomorrow",
    "last Friday",
    "next Monday",
    "this Tuesday",
    "last week",
    "next week",
    "3 days ago",
    "two weeks ago",
    "last weekend",
    "this weekend",
    "next weekend",
    "a few days ago",
    "in 3 days",
    "gestern",
    "letzten Freitag",
    "geçen hafta",
    "الأسبوع الماضي",
    "พรุ่งนี้",
    "上周五",
    "先週の金曜日",
    "지난주",
]
ANY_TEXT = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PHRASES), max_size=8).map(" ".join))
ANCHORS = st.none() | st.datetimes() | st.datetimes(timezones=st.just(UTC))
MIDDLE = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@given(ANY_TEXT, ANCHORS)
def test_spans_lie_in_the_text_in_order_and_periods_run_forward(text: str, anchor: datetime | None) -> None:
    last = 0
    for span in find_dates(text, anchor):
        assert last <= span.begin < span.stop <= len(text)
        assert text[span.begin : span.stop] == span.text
        assert span.start <= span.end
        assert span.start.tzinfo is not None
        assert not (span.relative and anchor is None)
        last = span.stop


@given(ANY_TEXT, MIDDLE)
def test_periods_are_whole_days_and_no_shorter_than_their_precision(text: str, anchor: datetime) -> None:
    shortest = {"day": 0, "week": 3, "month": 9, "season": 80, "year": 120}
    for span in find_dates(text, anchor):
        if span.precision == "time":
            assert span.start == span.end
        else:
            assert (f"{span.start:%H%M%S}", f"{span.end:%H%M%S}") == ("000000", "235959")
            assert (span.end - span.start).days >= shortest[span.precision]


@given(st.sampled_from(WEEKLY), MIDDLE, st.integers(-60, 60))
def test_moving_the_anchor_by_weeks_moves_the_result_by_as_many(
    text: str, anchor: datetime, weeks: int
) -> None:
    step = timedelta(weeks=weeks)
    (here,), (there,) = find_dates(text, anchor), find_dates(text, anchor + step)
    assert (there.start - here.start, there.end - here.end) == (step, step)


@given(st.sampled_from([p for p in PHRASES if len(p) > 8]), MIDDLE, st.sampled_from(["", "xx ", "we saw, "]))
def test_words_around_a_date_do_not_change_it(text: str, anchor: datetime, around: str) -> None:
    alone, framed = find_dates(text, anchor), find_dates(f"{around}{text} {around}", anchor)
    assert [(s.text, s.start, s.end, s.precision) for s in framed] == [
        (s.text, s.start, s.end, s.precision) for s in alone
    ]


@given(
    st.sampled_from(["0001-01-01T00:00:00", "9999-12-31T23:59:59", "tomorrow", "yesterday", "next year"]),
    st.integers(-14, 14),
    st.sampled_from([datetime(1, 1, 1), datetime(9999, 12, 31, 23)]),
)
def test_every_period_can_be_told_in_utc(text: str, hours: int, edge: datetime) -> None:
    zone = timezone(timedelta(hours=hours))
    for span in find_dates(f"{text}{hours:+03d}:00 and {text}", edge.replace(tzinfo=zone)):
        assert span.start.astimezone(UTC) <= span.end.astimezone(UTC)
