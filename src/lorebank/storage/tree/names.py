"""Which names may stand in a vault, as pure rules over strings.

A path is relative, with `/`, and each part is in NFC, at most 255 bytes of UTF-8, without control characters.
Names that begin with `.` belong to other programs (`.git`, `.obsidian`, `.DS_Store`, swap files) or are our
own temporary files; with editors' backups (`note~`, `#note#`) they are passed over without a word, so
nothing of lorebank's may be called so. Two names in one folder that fold to the same are refused both: on
another file system they would be one file.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from lorebank.errors import InvalidInput

MAX_PART_BYTES: Final = 255
"""What nearly every file system takes."""
MAX_PARTS: Final = 11
"""`conversations/<id>`, eight folders, and a file."""
TEMPORARY: Final = ".lb-"
"""Temporary files of lorebank begin so."""
CONVERSATIONS: Final = "conversations"

_SEPARATORS: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})


def passed_over(name: str) -> bool:
    """Whether a scan skips this name: other programs' files, editors' backups, our temporary files."""
    return name[0] == "." or name[-1] == "~" or (name[0] == "#" and name[-1] == "#" and len(name) > 1)


def refusal(name: str) -> str | None:
    """Why a name from disk or from a caller cannot be used; None for a good one."""
    if name.isascii():
        if len(name) > MAX_PART_BYTES:
            return "is longer than 255 bytes"
        return None if name.isprintable() else "has control characters in its name"
    try:
        size = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "has a name that is not valid UTF-8"
    if size > MAX_PART_BYTES:
        return "is longer than 255 bytes"
    if any(unicodedata.category(c) in _SEPARATORS for c in name):
        return "has control characters in its name"
    if not unicodedata.is_normalized("NFC", name):
        return "has a name that is not in Unicode's composed form (NFC)"
    return None


def ordinary(names: Collection[str]) -> bool:
    """Whether none of these is passed over or refused: said at once for most folders, so that a scan need
    not ask of each name."""
    text = "/".join(names)
    return (
        text.isascii()
        and text.isprintable()
        and "/." not in text
        and "#" not in text
        and "~" not in text
        and not text.startswith(".")
        and max(map(len, names), default=0) <= MAX_PART_BYTES
    )


def fold(name: str) -> str:
    """What a file system that knows neither letter case nor Unicode forms takes the name for."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def colliding(names: Collection[str]) -> frozenset[str]:
    """The names of one folder, each given once, that fold to the same as another of them."""
    if len(names) < 2 or len({fold(name) for name in names}) == len(names):
        return frozenset()
    first: dict[str, str] = {}
    found: set[str] = set()
    for name in names:
        folded = fold(name)
        other = first.setdefault(folded, name)
        if other != name:
            found.update((other, name))
    return frozenset(found)


def checked_parts(path: str) -> tuple[str, ...]:
    """The parts of a path that a caller gave. `InvalidInput` says what is wrong with it."""
    parts = tuple(path.split("/"))
    if len(parts) > MAX_PARTS:
        raise InvalidInput(f"The path has {len(parts)} parts; {MAX_PARTS} are the most.")
    for part in parts:
        if not part:
            raise InvalidInput("A path is relative and has no empty parts.")
        if passed_over(part):
            raise InvalidInput(f"A part of a path may not be called {part!r}.")
        problem = refusal(part)
        if problem:
            raise InvalidInput(f"The part {part!r} of the path {problem}.")
    return parts


def folder_parts(folder: str) -> tuple[str, ...]:
    """The same for a folder, where the empty path is the root."""
    return checked_parts(folder) if folder else ()


def partition_length(parts: tuple[str, ...]) -> int:
    """How many leading parts are the partition's own folder (seed 000, Storage layout): `private` or
    `conversations/<session id>`. That folder is made on purpose only, never beside a file."""
    return 2 if parts[0] == CONVERSATIONS else 1


@dataclass(frozen=True, slots=True)
class Temporary:
    """What the name of a temporary file says. `written` is being written and worth nothing after a kill;
    `swapped` was in place or shall come there: when its contents are neither `new` nor `old` (the first 16
    digits of their SHA-256), they are a person's, saved in the last moment, and belong to `target`."""

    kind: Literal["written", "swapped"]
    new: str = ""
    old: str = ""
    target: str = ""


def written_name() -> str:
    """For a file that is being written."""
    return f"{TEMPORARY}w-{secrets.token_hex(8)}"


def swapped_name(target: str, new: str, old: str) -> str:
    """For a file that takes part in an exchange. A target that is too long to be kept is left out."""
    stem = f"{TEMPORARY}x-{secrets.token_hex(4)}-{new[:16] or '0' * 16}-{old[:16] or '0' * 16}-"
    return stem + target if len((stem + target).encode()) <= MAX_PART_BYTES else stem


def parse_temporary(name: str) -> Temporary | None:
    """What a temporary file is; None for a name that is not one of ours."""
    if name.startswith(f"{TEMPORARY}w-"):
        return Temporary("written")
    pieces = name.split("-", 5)
    if len(pieces) != 6 or pieces[:2] != [".lb", "x"]:
        return None
    return Temporary("swapped", pieces[3], pieces[4], pieces[5])
