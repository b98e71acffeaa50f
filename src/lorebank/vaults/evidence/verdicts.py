"""Verdicts in memory in front of those in a store's database."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from lorebank.vaults.evidence.ports import KeepsVerdicts, Verdicts

KEPT: Final = 20_000
"""Verdicts in memory for one store; each is a few hundred bytes and holds no text of a source."""


class KeptVerdicts:
    """The newest verdicts of one store, and behind them what `below` has. Safe from any thread."""

    def __init__(self, below: Verdicts | None = None, *, most: int = KEPT) -> None:
        self._below, self._most = below, most
        self._lock = threading.Lock()
        self._rows: OrderedDict[str, tuple[str, str]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def verdict(self, key: str) -> tuple[str, str] | None:
        """See `Verdicts`."""
        with self._lock:
            row = self._rows.get(key)
            if row is not None:
                self._rows.move_to_end(key)
                return row
        row = None if self._below is None else self._below.verdict(key)
        if row is not None:
            self._keep(key, row)
        return row

    def set_verdicts(self, stamp: str, verdicts: Mapping[str, str]) -> None:
        """See `Verdicts`."""
        for key, verdict in verdicts.items():
            self._keep(key, (stamp, verdict))
        if self._below is not None:
            self._below.set_verdicts(stamp, verdicts)

    def _keep(self, key: str, row: tuple[str, str]) -> None:
        with self._lock:
            self._rows[key] = row
            self._rows.move_to_end(key)
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)


def verdicts_of(view: object) -> Verdicts | None:
    """The verdicts that a view offers, None when it offers none."""
    return view.verdicts if isinstance(view, KeepsVerdicts) else None
