"""The table of reports names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "field-reports.md"
ROWS = (
    *(
        1,
        2,
        4,
        5,
        8,
        11,
        13,
        14,
        16,
        17,
        19,
        20,
        29,
        31,
        32,
        34,
        35,
        37,
        38,
        40,
        41,
        43,
        46,
        47,
        50,
        52,
        53,
        55,
        56,
        58,
        59,
        61,
        62,
        64,
        65,
        67,
        68,
        70,
        71,
        76,
        77,
        79,
        80,
        82,
        83,
    ),
)


def test_every_report_about_banks_has_a_test_that_exists() -> None:
    text = TABLE.read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| I")}
    assert list(rows) == [f"I{number:03d}" for number in ROWS]
    there = {
        name
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    for row, line in rows.items():
        named = re.findall(r"`(test_\w+)`", line)
        assert named, f"{row} names no test"
        assert not sorted(set(named) - there), f"{row} names a test that does not exist"
    assert not sorted(set(re.findall(r"`(test_\w+)`", text)) - there - {"test_field_reports_table"})
