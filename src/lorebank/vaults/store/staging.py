"""Streaming a file into a store's staging folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from lorebank.errors import InvalidInput
from lorebank.ids import new_uuid
from lorebank.storage.sqlite.files import disk, sync_folder

CHECK_EVERY: Final = 8 * 2**20
"""Bytes after which the authority is looked at again."""


def stage(
    folder: Path, chunks: Iterator[bytes], size: int | None, sha256: str | None, check: Callable[[], None]
) -> tuple[Path, str, int]:
    """A synced file with the chunks' bytes, its SHA-256 and size. `InvalidInput` when they are not the
    given ones, and what `check` raises; nothing is left then."""
    path = folder / new_uuid()
    try:
        with disk():
            digest, count = _written(path, chunks, size, check)
            sync_folder(folder)
        if size is not None and count != size:
            raise InvalidInput(f"the file has {count} bytes and not {size}; it changed or came incomplete")
        if sha256 is not None and digest != sha256:
            raise InvalidInput("the file's SHA-256 is not the given one; it changed on its way")
        check()
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path, digest, count


def _written(
    path: Path, chunks: Iterator[bytes], size: int | None, check: Callable[[], None]
) -> tuple[str, int]:
    digest, count, checked = hashlib.sha256(), 0, 0
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in chunks:
            count += len(chunk)
            if size is not None and count > size:
                raise InvalidInput(f"the file has more than the {size} bytes that were told")
            file.write(chunk)
            digest.update(chunk)
            if count - checked >= CHECK_EVERY:
                check()
                checked = count
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest(), count
