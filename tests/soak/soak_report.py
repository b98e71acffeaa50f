"""docs/soak.md: what the last long run did. Each test writes its own part."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

REPORT = Path(__file__).parents[2] / "docs" / "soak.md"


def write_part(name: str, lines: list[str]) -> None:
    """Replace the part `name` between its marks."""
    text = REPORT.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    assert pattern.search(text), f"docs/soak.md has no part '{name}'"
    stamp = f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} cores."
    body = "\n".join(["", f"Last run: {stamp}", "", *lines, "", ""])
    REPORT.write_text(pattern.sub(lambda found: found[1] + body + found[2], text), encoding="utf-8")
