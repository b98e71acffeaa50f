"""A bank's exports: files beside its store that appear whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lorebank.clock import Micros
from lorebank.errors import Bug
from lorebank.storage.sqlite.files import disk, make_folder, sync_folder

EXPORTS = "exports"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,199}")
# No export name can begin like this.
_DRAFT = ".writing-"


@contextmanager
def write_export(folder: Path, name: str) -> Iterator[BinaryIO]:
    """A new export; an older one of the same name is replaced."""
    target = _path(folder, name)
    make_folder(target.parent)
    draft = target.with_name(_DRAFT + name)
    with disk():
        draft.unlink(missing_ok=True)
        file = os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")
    try:
        with file:
            yield file
            with disk():
                file.flush()
                os.fsync(file.fileno())
        with disk():
            draft.replace(target)
            sync_folder(target.parent)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read_export(folder: Path, name: str) -> BinaryIO | None:
    """An export opened for reading; None when there is none, or no such name can be."""
    if _NAME.fullmatch(name) is None:
        return None
    try:
        return (folder / EXPORTS / name).open("rb")
    except FileNotFoundError:
        return None


def drop_exports(folder: Path, before: Micros) -> int:
    """Delete exports written before a time, and left-overs of killed writers of that age."""
    if not (folder / EXPORTS).is_dir():
        return 0
    dropped = 0
    with disk():
        for path in (folder / EXPORTS).iterdir():
            written = _written(path)
            if written is not None and written < before:
                path.unlink(missing_ok=True)
                dropped += 1
        sync_folder(folder / EXPORTS)
    return dropped


def _written(path: Path) -> Micros | None:
    """When a file was written; None when it is gone: a draft that has just got its name."""
    try:
        return path.stat().st_mtime_ns // 1000
    except FileNotFoundError:
        return None


def _path(folder: Path, name: str) -> Path:
    if _NAME.fullmatch(name) is None:
        raise Bug("an export name must consist of letters, digits, '-' and '.'")
    return folder / EXPORTS / name
