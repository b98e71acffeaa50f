"""The same meanings in the other languages, seen from Wednesday 10 May 2023."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lorebank.dates import find_dates

ANCHOR = datetime(2023, 5, 10, 13, 56, tzinfo=UTC)
YESTERDAY = ("2023-05-09", "2023-05-09")
BEFORE = ("2023-05-08", "2023-05-08")
TOMORROW = ("2023-05-11", "2023-05-11")
LAST_WEEK = ("2023-05-01", "2023-05-07")
LAST_MONTH = ("2023-04-01", "2023-04-30")
NEXT_MONTH = ("2023-06-01", "2023-06-30")
LAST_YEAR = ("2022-01-01", "2022-12-31")
LAST_FRIDAY = ("2023-05-05", "2023-05-05")
THREE_DAYS = ("2023-05-07", "2023-05-07")
SEVENTH = THREE_DAYS


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("gestern Abend", YESTERDAY),
        ("vorgestern", BEFORE),
        ("wir fahren morgen", TOMORROW),
        ("letzte Woche", LAST_WEEK),
        ("letzten Monat", LAST_MONTH),
        ("nächsten Monat", NEXT_MONTH),
        ("letztes Jahr", LAST_YEAR),
        ("letzten Freitag", LAST_FRIDAY),
        ("vor 3 Tagen", THREE_DAYS),
        ("vor drei Tagen", THREE_DAYS),
        ("am 7. Mai 2023", SEVENTH),
        ("im Juni", NEXT_MONTH),
        ("in zwei Wochen", ("2023-05-22", "2023-05-28")),
        ("dün", YESTERDAY),
        ("evvelsi gün", BEFORE),
        ("yarın", TOMORROW),
        ("geçen hafta", LAST_WEEK),
        ("geçen ay", LAST_MONTH),
        ("önümüzdeki ay", NEXT_MONTH),
        ("geçen yıl", LAST_YEAR),
        ("geçen cuma", LAST_FRIDAY),
        ("3 gün önce", THREE_DAYS),
        ("7 Mayıs 2023", SEVENTH),
        ("2022'de", LAST_YEAR),
        ("أمس", YESTERDAY),
        ("أول أمس", BEFORE),
        ("غدا", TOMORROW),
        ("الأسبوع الماضي", LAST_WEEK),
        ("الشهر الماضي", LAST_MONTH),
        ("الشهر القادم", NEXT_MONTH),
        ("يوم الجمعة الماضي", LAST_FRIDAY),
        ("قبل 3 أيام", THREE_DAYS),
        ("قبل يومين", BEFORE),
        ("7 مايو 2023", SEVENTH),
        ("เมื่อวานฉันไปตลาด", YESTERDAY),
        ("พรุ่งนี้", TOMORROW),
        ("สัปดาห์ที่แล้ว", LAST_WEEK),
        ("เดือนที่แล้ว", LAST_MONTH),
        ("เดือนหน้า", NEXT_MONTH),
        ("ปีที่แล้ว", LAST_YEAR),
        ("วันศุกร์ที่แล้ว", LAST_FRIDAY),
        ("3 วันก่อน", THREE_DAYS),
        ("7 พฤษภาคม 2566", SEVENTH),
        ("昨天我去了市场", YESTERDAY),
        ("前天", BEFORE),
        ("明天", TOMORROW),
        ("上周", LAST_WEEK),
        ("上周五", LAST_FRIDAY),
        ("上个月", LAST_MONTH),
        ("下个月", NEXT_MONTH),
        ("去年", LAST_YEAR),
        ("三天前", THREE_DAYS),
        ("2023年5月7日", SEVENTH),
        ("5月7日", SEVENTH),
        ("去年夏天", ("2022-06-01", "2022-08-31")),
        ("昨日は雨でした", YESTERDAY),
        ("一昨日", BEFORE),
        ("明日", TOMORROW),
        ("先週", LAST_WEEK),
        ("先週の金曜日", LAST_FRIDAY),
        ("先月", LAST_MONTH),
        ("来月", NEXT_MONTH),
        ("3日前", THREE_DAYS),
        ("2ヶ月前", ("2023-03-01", "2023-03-31")),
        ("어제", YESTERDAY),
        ("그저께", BEFORE),
        ("내일", TOMORROW),
        ("지난주", LAST_WEEK),
        ("지난주 금요일", LAST_FRIDAY),
        ("지난달", LAST_MONTH),
        ("다음 달", NEXT_MONTH),
        ("작년", LAST_YEAR),
        ("3일 전", THREE_DAYS),
        ("2023년 5월 7일", SEVENTH),
        ("le 7 mai 2023", SEVENTH),
        ("7 de mayo de 2023", SEVENTH),
    ],
)
def test_each_language_says_the_same(text: str, period: tuple[str, str]) -> None:
    spans = find_dates(text, ANCHOR)
    assert [(f"{s.start:%Y-%m-%d}", f"{s.end:%Y-%m-%d}") for s in spans] == [period]


@pytest.mark.parametrize("text", ["guten Morgen", "heute Morgen"])
def test_german_morning_is_not_tomorrow(text: str) -> None:
    assert all(f"{s.start:%d}" == "10" for s in find_dates(text, ANCHOR))


@pytest.mark.parametrize("text", ["3个月的时间", "그제야 알았다", "vor allem", "on kişi"])
def test_look_alikes_are_no_dates(text: str) -> None:
    assert find_dates(text, ANCHOR) == []
