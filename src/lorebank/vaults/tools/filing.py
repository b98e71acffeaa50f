"""Where a new record's file goes: a readable name in the folder of its type, and no folder too full.

Folders slow git and editors down when they grow; 250 files go into the plain folder and 250 into each of its
numbered subfolders, so that none has more than 500 entries (issue 4). A file never moves because its record
is renamed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Final

from lorebank.errors import LimitExceeded

FILES_PER_FOLDER: Final = 250
SUBFOLDERS: Final = 250
CLAIMS: Final = "claims"
RELATIONSHIPS: Final = "relationships"
_MAX_SLUG_BYTES: Final = 80
_BREAKS: Final = re.compile(r"[\W_]+")
# Names that some systems cannot have as a file's.
_DEVICES: Final = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")


def slug(title: str) -> str:
    """A title as a file's name: small letters of any script and digits, joined by `-`; empty when it has
    none."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", title).casefold())
    text = _BREAKS.sub("-", folded).strip("-")
    while len(text.encode("utf-8")) > _MAX_SLUG_BYTES:
        shorter = text[:-1].rpartition("-")[0]
        text = shorter if len(shorter) > 20 else text[:-1].rstrip("-")
    return text


def page_path(folder: str, title: str, page_id: str, taken: Iterable[str]) -> str:
    """The path of a new page; `taken` are the paths of all records of the partition."""
    paths = list(taken)
    name = slug(title)
    if not name or _DEVICES.fullmatch(name):
        name = f"{name}-{page_id[:8]}".strip("-")
    place = roomy(folder, paths)
    used = {_same(path) for path in paths}
    for candidate in (name, f"{name}-{page_id[:8]}", page_id):
        path = f"{place}/{candidate}.md"
        if _same(path) not in used:
            return path
    return f"{place}/{page_id}-{len(paths)}.md"


def record_path(folder: str, record_id: str, taken: Iterable[str]) -> str:
    """The path of a new claim or relationship."""
    return f"{roomy(folder, taken)}/{record_id}.md"


def roomy(folder: str, taken: Iterable[str]) -> str:
    """The folder itself, or the first of its numbered subfolders that has room."""
    top = f"{folder}/"
    counts = Counter([path[: path.rindex("/")] for path in taken if path.startswith(top)])
    if counts[folder] < FILES_PER_FOLDER:
        return folder
    for number in range(1, SUBFOLDERS + 1):
        place = f"{folder}/{number:04d}"
        if counts[place] < FILES_PER_FOLDER:
            return place
    raise LimitExceeded(f"the folder {folder} is full ({FILES_PER_FOLDER * (SUBFOLDERS + 1)} records)")


def _same(path: str) -> str:
    """Equal for names that some file systems take for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
