"""One process owns a data directory. The kernel frees the lock when the process dies."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

from lorebank.errors import Conflict
from lorebank.storage.sqlite.files import disk

LOCK_FILE = "lorebank.lock"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a data directory; `address` is empty for a process that serves nothing."""

    pid: int
    address: str


class DirectoryLock:
    """The lock of an opened data directory, held until `release`."""

    def __init__(self, folder: Path, address: str) -> None:
        with disk():
            self._descriptor = os.open(folder / LOCK_FILE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            owner = _read(self._descriptor)
            os.close(self._descriptor)
            raise Conflict(_taken(owner), cause=exc) from exc
        except OSError:
            os.close(self._descriptor)
            with disk():
                raise
        self.describe(address)

    def describe(self, address: str) -> None:
        """Write who holds the lock, for the message that a second opener gets."""
        text = json.dumps({"pid": os.getpid(), "address": address}).encode()
        with disk():
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, text, 0)

    def release(self) -> None:
        """Let others in."""
        with disk():
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)


def owner_of(folder: Path) -> Owner | None:
    """The process that holds the data directory now, None when it is free or not there."""
    try:
        descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor) or Owner(0, "")
    finally:
        os.close(descriptor)
    return None


def _read(descriptor: int) -> Owner | None:
    try:
        data = json.loads(os.pread(descriptor, 4096, 0))
        return Owner(int(data["pid"]), str(data["address"]))
    except (ValueError, KeyError, TypeError):
        return None


def _taken(owner: Owner | None) -> str:
    if owner is None:
        return "the data directory is in use by another lorebank process; stop it first"
    if not owner.address:
        return f"the data directory is in use by lorebank process {owner.pid}; wait for it to end"
    return (
        f"the data directory is in use by lorebank process {owner.pid}, which serves {owner.address}; "
        "use that server, or stop it first"
    )
