"""How much of a record keyword search looks at.

A word that was not met before costs a tenth of a millisecond, in the store's lane. Prose repeats its words; a
log or an export of 5 MB does not, and would keep everybody else of the store waiting for a minute.
"""

from __future__ import annotations

import re
from typing import Final

MAX_DIFFERENT_WORDS: Final = 50_000
"""More than a novel of 5 MB has; a file that has more is searched up to there."""
_WORD: Final = re.compile(r"\w+")


def indexable(text: str) -> str:
    """`text` up to the end of its `MAX_DIFFERENT_WORDS`th different word."""
    if len(text) <= 2 * MAX_DIFFERENT_WORDS:
        return text
    seen: set[str] = set()
    for found in _WORD.finditer(text):
        seen.add(found.group())
        if len(seen) == MAX_DIFFERENT_WORDS:
            return text[: found.end()]
    return text
