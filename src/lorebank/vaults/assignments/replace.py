"""Putting an edited configuration in place of the one that was read, and of no other.

The new file is written beside the old one, synced, and the two change places in one step; then what came out
is looked at. If it is not what was read, an editor saved in between: they change back, and nothing has
happened. Where the file system cannot exchange, the old file is looked at right before it is replaced, which
leaves a gap of some microseconds. A kill between exchange and removal leaves `.<name>.lorebank-…` with the
old content.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lorebank.errors import Conflict, Unavailable
from lorebank.storage.tree.renames import Unsupported, exchange
from lorebank.vaults.assignments.config_file import MISSING, digest, read_config


def replace_config(path: Path, expected: str, content: bytes) -> None:
    """`content` in place of the file whose SHA-256 is `expected` (`MISSING`: of none), mode and owner kept,
    durably. `Conflict` when another content is there; `Unavailable` when it cannot be written."""
    target = Path(os.path.realpath(path))
    with _disk():
        if expected != MISSING and digest(read_config(target)) != expected:
            raise _changed()
        draft = _written(target, content, like=None if expected == MISSING else target)
        try:
            _swap(draft, target, expected)
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()
        _sync(target.parent)


def _swap(draft: Path, target: Path, expected: str) -> None:
    """The two files change places; `Conflict`, with all as before, when the other is not the expected."""
    if expected == MISSING:
        _take_free_name(draft, target)
        return
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        exchange(folder, draft.name, target.name)
        if digest(read_config(draft)) != expected:
            exchange(folder, draft.name, target.name)
            raise _changed()
    except FileNotFoundError as exc:
        raise _changed() from exc
    except Unsupported:
        if digest(read_config(target)) != expected:
            raise _changed() from None
        draft.replace(target)
    finally:
        os.close(folder)


def _take_free_name(draft: Path, target: Path) -> None:
    try:
        os.link(draft, target)
    except FileExistsError as exc:
        raise _changed() from exc


def _written(target: Path, content: bytes, *, like: Path | None) -> Path:
    """A synced file beside the target, with mode and owner of `like`."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.lorebank-{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        try:
            if like is not None:
                _take_after(file.fileno(), like)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            draft.unlink()
            raise
    return draft


def _take_after(descriptor: int, like: Path) -> None:
    old, new = like.stat(), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, old.st_mode & 0o7777)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _changed() -> Conflict:
    return Conflict("the knowledge configuration was changed by somebody else meanwhile; try again")


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as exc:
        raise _changed() from exc
    except OSError as exc:
        reason = exc.strerror or "unknown error"
        raise Unavailable(
            f"the knowledge configuration cannot be written ({reason}); check its folder and permissions",
            cause=exc,
        ) from exc
