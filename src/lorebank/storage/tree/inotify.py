"""Linux' inotify by its system calls. An event is in the kernel's queue before the call that changed the file
returns, so reading the queue tells of everything that was done before: no thread, no waiting."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

MODIFY: Final = 0x2
ATTRIB: Final = 0x4
CLOSE_WRITE: Final = 0x8
MOVED_FROM: Final = 0x40
MOVED_TO: Final = 0x80
CREATE: Final = 0x100
DELETE: Final = 0x200
DELETE_SELF: Final = 0x400
MOVE_SELF: Final = 0x800
UNMOUNT: Final = 0x2000
OVERFLOW: Final = 0x4000
IGNORED: Final = 0x8000
FOLDER: Final = 0x40000000

_ONLY_FOLDERS: Final = 0x1000000
_NO_LINKS: Final = 0x2000000
_MASK: Final = (
    MODIFY
    | ATTRIB
    | CLOSE_WRITE
    | MOVED_FROM
    | MOVED_TO
    | CREATE
    | DELETE
    | DELETE_SELF
    | MOVE_SELF
    | _ONLY_FOLDERS
    | _NO_LINKS
)
_HEADER: Final = struct.Struct("iIII")
_BUFFER: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in a watched folder (`watch`, -1: the queue overflowed) to an entry, or to the folder."""

    watch: int
    mask: int
    name: str


@cache
def _library() -> Any:
    library = ctypes.CDLL(None, use_errno=True)
    library.inotify_add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
    return library


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def start() -> int:
    """A descriptor with an empty queue. `OSError`, also where the system has no inotify."""
    try:
        function = _library().inotify_init1
    except AttributeError as error:
        raise OSError("this system has no inotify") from error
    return _checked(function(os.O_NONBLOCK | os.O_CLOEXEC))


def watch(queue: int, folder: Path) -> int:
    """Watch one folder, not those below it; the number that its events carry."""
    return _checked(_library().inotify_add_watch(queue, os.fsencode(folder), _MASK))


def drain(queue: int) -> Iterator[Event]:
    """Everything that is in the queue now."""
    while True:
        try:
            data = os.read(queue, _BUFFER)
        except BlockingIOError:
            return
        place = 0
        while place < len(data):
            number, mask, _, length = _HEADER.unpack_from(data, place)
            place += _HEADER.size
            yield Event(number, mask, os.fsdecode(data[place : place + length].rstrip(b"\0")))
            place += length
