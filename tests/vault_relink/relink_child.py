"""Relink over a real store, in a process that may be killed at a named point of the n-th link.

`relink_child.py ROOT [POINT N]`; prints the number of links when it gets to its end.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("", "vault_store", "vault_relink")]

from store_world import world  # noqa: E402

from lorebank.vaults.publish.points import Point, installed  # noqa: E402
from lorebank.vaults.relink.run import every_page  # noqa: E402

NOW = 1_796_000_000_000_000
KILLED = 77


def killer(point: Point, number: int):  # type: ignore[no-untyped-def]
    seen = [0]

    def hook(reached: Point) -> None:
        if reached is point:
            seen[0] += 1
            if seen[0] == number:
                os._exit(KILLED)

    return hook


def links(root: Path) -> int:
    with world(root) as made:
        reports = list(every_page(made.open(), clock=lambda: NOW))
    assert sum(report.counts["failed"] for report in reports) == 0
    return sum(report.counts["linked"] for report in reports)


def main() -> None:
    root = Path(sys.argv[1])
    if len(sys.argv) == 2:
        print(links(root))
        return
    with installed(killer(Point(sys.argv[2]), int(sys.argv[3]))):
        print(links(root))


if __name__ == "__main__":
    main()
