"""How stores are opened."""

from __future__ import annotations

from dataclasses import dataclass

from lorebank import clock
from lorebank.clock import Clock
from lorebank.vaults.store.lane import PATIENCE


@dataclass(frozen=True, slots=True)
class Options:
    """`watch`: use the operating system's news of changed files. `patience`: seconds to wait for the lane."""

    watch: bool = True
    patience: float = PATIENCE
    now: Clock = clock.now
