"""How stores are opened."""

from __future__ import annotations

from dataclasses import dataclass

from lorebank import clock
from lorebank.clock import Clock
from lorebank.vaults.store.lane import PATIENCE
from lorebank.vaults.store.meaning import Meaning


@dataclass(frozen=True, slots=True)
class Options:
    """`watch`: use the operating system's news of changed files. `patience`: seconds to wait for the lane.
    `meaning`: what makes vectors of records, where there is such a thing."""

    watch: bool = True
    patience: float = PATIENCE
    now: Clock = clock.now
    meaning: Meaning | None = None
