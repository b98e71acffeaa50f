"""The table of reports names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "field-reports.md"
ROWS = 45


def test_every_report_about_banks_has_a_test_that_exists() -> None:
    text = TABLE.read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line.startswith("| I")}
    assert len(rows) == ROWS
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
