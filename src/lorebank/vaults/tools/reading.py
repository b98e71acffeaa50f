"""What all reading tools do: work inside a verified view, and once more when a file changed under it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from lorebank.errors import StoreUnavailable, Unavailable
from lorebank.vaults.store.values import VaultHandle, View

T = TypeVar("T")
TRIES: Final = 8
"""An editor that saves twenty times a second meets one try in some; all of these it meets never."""
PAUSE: Final = 0.005
"""Seconds before a further try, from the third one on: who saves now is done then."""


def read(handle: VaultHandle, work: Callable[[View], T]) -> T:
    """What `work` makes of a view, given away only after the checks at the end of the block.

    A person may save a file between the view and the read of it; then a newer view is asked, `TRIES` times in
    all.
    A store that cannot be used is not asked again.
    """
    for done in range(TRIES - 1):
        if done > 1:
            time.sleep(PAUSE)
        try:
            return _once(handle, work)
        except StoreUnavailable:
            raise
        except Unavailable:
            continue
    return _once(handle, work)


def _once(handle: VaultHandle, work: Callable[[View], T]) -> T:
    with handle.reading() as view:
        made = work(view)
    return made
