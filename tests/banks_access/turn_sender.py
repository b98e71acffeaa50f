"""A process that sends one turn after the other and says after each that it was acknowledged."""

from __future__ import annotations

import sys
from pathlib import Path

from access_house import House, allow, talk


def main(folder: str, first: int) -> None:
    """Send until somebody kills this process."""
    house = House(Path(folder))
    anna = house.user("anna", allow("bank:retain", retain_every_n_turns=3))
    print("ready", flush=True)
    for number in range(first, first + 10_000):
        content = talk(("user", f"Crate {number} stands there."))
        house.retain("team", content, who=anna, **{"async": number % 4 == 0})
        print(number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
