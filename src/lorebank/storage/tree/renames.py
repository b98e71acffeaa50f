"""Linux' `renameat2`: exchanging two files, and moving without replacing, as one step each.

Where the system or the file system lacks it (`Unsupported`) callers fall back on checking first and
renaming then, which leaves a gap of some microseconds.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from functools import cache
from typing import Any, Final

_NOREPLACE: Final = 1
_EXCHANGE: Final = 2
_UNSUPPORTED: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


class Unsupported(Exception):
    """This system cannot do it in one step."""


@cache
def _renameat2() -> Callable[..., int] | None:
    try:
        function: Any = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    call: Callable[..., int] = function
    return call


def _call(from_fd: int, source: str, to_fd: int, target: str, flags: int) -> None:
    function = _renameat2()
    if function is None:
        raise Unsupported
    if function(from_fd, os.fsencode(source), to_fd, os.fsencode(target), flags) == 0:
        return
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        raise Unsupported
    raise OSError(code, os.strerror(code))


def exchange(folder: int, one: str, other: str) -> None:
    """Two names of a folder change places. `FileNotFoundError` when one is missing."""
    _call(folder, one, folder, other, _EXCHANGE)


def move_new(from_folder: int, source: str, folder: int, target: str) -> None:
    """`source` becomes `target`; `FileExistsError` when something is there."""
    _call(from_folder, source, folder, target, _NOREPLACE)


def move_new_anyhow(from_folder: int, source: str, folder: int, target: str) -> None:
    """The same where it takes two steps: the gap is between looking and renaming."""
    try:
        move_new(from_folder, source, folder, target)
    except Unsupported:
        try:
            os.stat(target, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(source, target, src_dir_fd=from_folder, dst_dir_fd=folder)
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
