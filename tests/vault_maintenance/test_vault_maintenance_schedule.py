"""When the pass runs: cron fields, zones, and what happens where clocks are put forward or back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lorebank.clock import to_datetime, to_micros
from lorebank.errors import InvalidInput
from lorebank.vaults.maintenance.schedule import parse_schedule
from lorebank.vaults.maintenance.zones import host_zone, named_zone


def slots(expression: str, zone: str, since: str, count: int) -> list[str]:
    schedule = parse_schedule(expression, zone)
    moment = to_micros(datetime.fromisoformat(since))
    found = []
    for _ in range(count):
        moment = schedule.after(moment)
        found.append(to_datetime(moment).strftime("%m-%d %H:%M"))
    return found


@pytest.mark.statement("5.1")
def test_5_1_daily_at_half_past_three_of_the_zone() -> None:
    assert slots("30 3 * * *", "America/Los_Angeles", "2026-01-10T12:00Z", 2) == [
        "01-11 11:30",
        "01-12 11:30",
    ]
    assert slots("30 3 * * *", "UTC", "2026-01-10T03:30Z", 1) == ["01-11 03:30"]


@pytest.mark.statement("5.16")
def test_5_16_in_spring_a_time_that_is_left_out_comes_at_the_next_minute_that_exists() -> None:
    """Berlin, 29 March 2026: 02:00 becomes 03:00, at 01:00 UTC."""
    assert slots("30 2 * * *", "Europe/Berlin", "2026-03-28T02:00Z", 3) == [
        "03-29 01:00",
        "03-30 00:30",
        "03-31 00:30",
    ]
    assert slots("*/20 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", 2) == ["03-29 01:00", "03-30 00:00"]
    assert slots("30 * * * *", "Europe/Berlin", "2026-03-29T00:00Z", 3) == [
        "03-29 00:30",
        "03-29 01:00",
        "03-29 01:30",
    ]


@pytest.mark.statement("5.16")
def test_5_16_in_autumn_a_time_that_comes_twice_runs_once() -> None:
    """Berlin, 25 October 2026: 03:00 becomes 02:00, at 01:00 UTC."""
    assert slots("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", 2) == ["10-25 00:30", "10-26 01:30"]
    assert slots("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00Z", 3) == [
        "10-25 00:30",
        "10-25 02:00",
        "10-25 02:30",
    ]
    assert slots("30 2 * * *", "Europe/Berlin", "2026-10-25T01:15Z", 1) == ["10-26 01:30"]


def test_a_change_of_half_an_hour_ends_at_its_own_minute() -> None:
    """Lord Howe, 4 October 2026: 02:00 becomes 02:30, at 15:30 UTC the day before."""
    assert slots("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00Z", 2) == [
        "10-03 15:30",
        "10-04 15:15",
    ]


@pytest.mark.parametrize("weekday", ["0", "7", "SUN", "sun"])
def test_sunday_has_four_names(weekday: str) -> None:
    assert slots(f"0 4 * * {weekday}", "UTC", "2026-11-30T00:00Z", 1) == ["12-06 04:00"]


WRONG = [
    "",
    "@daily",
    "30 3 * *",
    "0 30 3 * * *",
    "60 3 * * *",
    "a b c d e",
    "0 0 30 2 *",
    "0 0 0 * *",
    "*/0 * * * *",
]


@pytest.mark.statement("5.2")
@pytest.mark.parametrize("expression", [*WRONG, "* " * 2000, "5-1 * * * *", "L/2 * * * *", "1,, * * * *"])
def test_5_2_a_schedule_that_is_none_is_named(expression: str) -> None:
    with pytest.raises(InvalidInput, match="schedule"):
        parse_schedule(expression, "UTC")


@pytest.mark.statement("5.2")
@pytest.mark.parametrize(
    "zone", ["", "Mars/Base", "../../etc/passwd", "/etc/localtime", "America", "\0", "é" * 300]
)
def test_5_2_a_zone_that_is_none_is_named(zone: str) -> None:
    with pytest.raises(InvalidInput, match="time zone"):
        parse_schedule("30 3 * * *", zone)


def test_the_hosts_zone_is_found_where_systems_keep_it(tmp_path: Path) -> None:
    root = tmp_path
    (root / "etc").mkdir()
    assert host_zone({}, root).name == "UTC"
    (root / "etc/localtime").symlink_to("/usr/share/zoneinfo/Europe/Oslo")
    assert host_zone({}, root).name == "Europe/Oslo"
    (root / "etc/timezone").write_text("Asia/Tokyo\n")
    assert host_zone({}, root).name == "Asia/Tokyo"
    assert host_zone({"TZ": ":America/Lima"}, root).name == "America/Lima"
    assert host_zone({"TZ": "/usr/share/zoneinfo/Asia/Dili"}, root).name == "Asia/Dili"
    assert host_zone({"TZ": ""}, root).name == "UTC"
    with pytest.raises(InvalidInput, match=r"maintenance\.timezone"):
        host_zone({"TZ": "XYZ-1ABC,M3.5.0"}, root)


def test_a_zone_without_a_name_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    body = (
        b"TZif2"
        + bytes(15)
        + bytes(4 * 3)
        + (0).to_bytes(4, "big")
        + (1).to_bytes(4, "big")
        + (4).to_bytes(4, "big")
    )
    block = (3600).to_bytes(4, "big") + b"\0\0" + b"ONE\0"
    (tmp_path / "etc/localtime").write_bytes(body + block + body + block + b"\nONE-1\n")
    zone = host_zone({}, tmp_path)
    assert zone.name == "local time"
    assert datetime(2026, 1, 1, 12, tzinfo=zone.rules).astimezone(UTC).hour == 11


def test_utc_needs_no_tables() -> None:
    assert named_zone("UTC").rules is UTC
