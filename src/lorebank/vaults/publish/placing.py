"""Putting the files of a publication in place, and taking them back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import Enum
from typing import BinaryIO, Final

from lorebank.errors import Conflict, NotFound, RevisionConflict
from lorebank.storage.tree.ports import FileState, Tree
from lorebank.vaults.publish.parts import Parts
from lorebank.vaults.publish.planned import PlannedFile
from lorebank.vaults.publish.points import Point, reached
from lorebank.vaults.record.values import MAX_RECORD_BYTES

_CHUNK: Final = 1 << 20
_SHOWN: Final = 200_000
"""Characters of each side that a conflict shows."""


class Standing(Enum):
    """What is in a file's place."""

    OLD = "old"
    NEW = "new"
    OTHER = "other"


def digest_of(file: BinaryIO) -> str:
    """The SHA-256 of the rest of a file."""
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def sha_at(tree: Tree, path: str) -> str | None:
    """The SHA-256 of what is there now, None when nothing is."""
    try:
        with tree.open(path) as file:
            return digest_of(file)
    except NotFound:
        return None


def standing(tree: Tree, folder: str, file: PlannedFile) -> Standing:
    """What is in the place of `file` now."""
    now = sha_at(tree, f"{folder}/{file.path}")
    if now == file.sha256:
        return Standing.NEW
    return Standing.OLD if now == file.had else Standing.OTHER


def place(parts: Parts, folder: str, file: PlannedFile) -> FileState | None:
    """Put one file in place; fine when it is there already. `Conflict` when something else is."""
    path = f"{folder}/{file.path}"
    if file.settled:
        return parts.tree.state(path)
    if file.staged is None:
        assert file.content is not None
        return parts.tree.put(path, file.content, expected=file.had)
    return _move(parts, path, file)


def place_all(
    parts: Parts, folder: str, files: Sequence[PlannedFile], states: list[FileState | None]
) -> None:
    """All of them, in order; `states` gets the state of each that is in place."""
    for file in files:
        states.append(place(parts, folder, file))
        reached(Point.FILE_WRITTEN)
    reached(Point.FILES_WRITTEN)


def take_back(parts: Parts, folder: str, files: Sequence[PlannedFile], placed: int) -> bool:
    """Make the files what they were before, the last one first. False when one of the first `placed`, which
    have been written, was changed by somebody else since: nothing is done to that one."""
    whole = True
    for number, file in reversed(list(enumerate(files))):
        reached(Point.UNDOING)
        found = standing(parts.tree, folder, file)
        if file.settled or found is Standing.OLD:
            continue
        if found is Standing.OTHER or not _take_one_back(parts.tree, f"{folder}/{file.path}", file):
            whole = whole and number >= placed
    reached(Point.UNDONE)
    return whole


def refuse_changed(tree: Tree, folder: str, file: PlannedFile) -> RevisionConflict:
    """The refusal that shows both sides: what was to be written, and what stands there now."""
    return RevisionConflict(
        f"{file.path} was changed by somebody else in the meantime; it was left as it is. Read it again and "
        "save on top of it",
        {
            "path": file.path,
            "yours": _shown(file.content),
            "theirs": _shown(content_at(tree, f"{folder}/{file.path}")),
            "expectedSha256": file.had,
            "currentSha256": sha_at(tree, f"{folder}/{file.path}"),
        },
    )


def content_at(tree: Tree, path: str) -> bytes | None:
    """A record's bytes now, None when it is gone."""
    try:
        return tree.read(path, max_bytes=MAX_RECORD_BYTES)[1]
    except NotFound:
        return None


def _move(parts: Parts, path: str, file: PlannedFile) -> FileState | None:
    assert file.staged is not None
    staged = parts.staging / file.staged
    if staged.exists():
        try:
            return parts.tree.move_in(staged, path)
        except Conflict:
            if sha_at(parts.tree, path) != file.sha256:
                raise
            staged.unlink(missing_ok=True)
    elif sha_at(parts.tree, path) != file.sha256:
        raise NotFound("a file that was to be retained is gone from the staging folder")
    return parts.tree.state(path)


def _take_one_back(tree: Tree, path: str, file: PlannedFile) -> bool:
    """Whether the new contents are not there any more."""
    try:
        if file.before is None:
            tree.remove(path, expected=file.sha256)
        else:
            tree.put(path, file.before, expected=file.sha256)
    except Conflict:
        return False
    return True


def _shown(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")[:_SHOWN]
