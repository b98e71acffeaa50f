"""Putting a file in place of another without ever losing what a person saved in the last moment.

The new file is written beside the old one, synced, and the two exchange their names in one step. Only then is
what came out looked at: if it is not what was expected, the names are exchanged back. A program that has the
old file open for writing shows by a lease (Linux), and counts as a change.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from lorebank.errors import Conflict, NotFound, StoreUnavailable
from lorebank.storage.tree import renames
from lorebank.storage.tree.descriptors import Pause, digest, open_file
from lorebank.storage.tree.names import fold, swapped_name, written_name

_F_SETSIG: Final = getattr(fcntl, "F_SETSIG", 10)
_SWAPS: Final = 16
"""Exchanges before we give up running after somebody who saves all the time."""


class _Other(Exception):
    """Something else than expected is there."""


def changed(path: str) -> Conflict:
    return Conflict(f"{path} was changed by another program. It was left as it is; read it again.")


def there(path: str) -> Conflict:
    return Conflict(f"{path} is there already. It was left as it is.")


def no_clash(folder: int, name: str, path: str) -> None:
    """`Conflict` when the folder has another name that folds to the same."""
    folded = fold(name)
    for other in os.listdir(folder):
        if other != name and fold(other) == folded:
            raise Conflict(f"{path} differs only in letter case or accents' form from a name that is there.")


def verify(folder: int, name: str, path: str, expected: str) -> os.stat_result:
    """The state of a plain file that has these contents. `Conflict`, `NotFound`, `StoreUnavailable`."""
    handle, found = open_file(folder, name, path)
    try:
        if digest(handle) != expected:
            raise changed(path)
    finally:
        os.close(handle)
    return found


def write_temporary(folder: int, content: bytes, mode: int) -> str:
    """A synced file with these contents under a name that nobody looks at."""
    name = written_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        os.fchmod(handle, mode)
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    except BaseException:
        discard(folder, name)
        raise
    finally:
        os.close(handle)
    return name


def discard(folder: int, name: str) -> None:
    """Remove a temporary file; the next sweep does it when this cannot."""
    with suppress(OSError):
        os.unlink(name, dir_fd=folder)


def put_new(folder: int, name: str, path: str, content: bytes, pause: Pause) -> os.stat_result:
    """A file where none is. When one with the same contents is there, it counts as ours."""
    no_clash(folder, name, path)
    temporary = write_temporary(folder, content, 0o600)
    try:
        pause("written", path)
        renames.move_new_anyhow(folder, temporary, folder, name)
    except FileExistsError:
        discard(folder, temporary)
        return _already(folder, name, path, content)
    except BaseException:
        discard(folder, temporary)
        raise
    pause("renamed", path)
    os.fsync(folder)
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _already(folder: int, name: str, path: str, content: bytes) -> os.stat_result:
    """The state of a file that has the very same contents, made durable; `Conflict` for another one."""
    handle, found = open_file(folder, name, path)
    try:
        if found.st_size != len(content) or digest(handle) != hashlib.sha256(content).hexdigest():
            raise there(path)
        os.fsync(handle)
    finally:
        os.close(handle)
    os.fsync(folder)
    return found


def put_over(
    folder: int, name: str, path: str, content: bytes, expected: str, pause: Pause
) -> os.stat_result:
    """A file in place of one with the expected contents; fine when it has the new ones already."""
    new = hashlib.sha256(content).hexdigest()
    try:
        before = verify(folder, name, path, expected)
    except NotFound:
        raise changed(path) from None
    except Conflict:
        return _already_changed(folder, name, path, content)
    if new == expected:
        return _already(folder, name, path, content)
    written = write_temporary(folder, content, before.st_mode & 0o777)
    temporary = swapped_name(name, new, expected)
    try:
        os.rename(written, temporary, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        discard(folder, written)
        raise
    pause("written", path)
    try:
        _swap(folder, temporary, name, path, expected, pause)
    except renames.Unsupported:
        _replace(folder, temporary, name, path, expected, pause)
    os.fsync(folder)
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _already_changed(folder: int, name: str, path: str, content: bytes) -> os.stat_result:
    try:
        return _already(folder, name, path, content)
    except Conflict:
        raise changed(path) from None


def _mark(folder: int, name: str) -> tuple[int, str]:
    """Inode and SHA-256 of a file; no contents for one that is a link or that somebody is writing."""
    inode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
    try:
        handle, _ = open_file(folder, name, name)
    except StoreUnavailable:
        return inode, ""
    try:
        return inode, digest(handle) if _nobody_writes(handle) else ""
    finally:
        os.close(handle)


def _swap(folder: int, temporary: str, name: str, path: str, expected: str, pause: Pause) -> None:
    """Exchange, look, and exchange back unless what came out was expected."""
    ours = _mark(folder, temporary)
    try:
        renames.exchange(folder, temporary, name)
    except FileNotFoundError:
        discard(folder, temporary)
        raise changed(path) from None
    except OSError:
        discard(folder, temporary)
        raise
    pause("exchanged", path)
    try:
        _expect(folder, temporary, path, expected)
    except (_Other, StoreUnavailable):
        give_back(folder, temporary, name, ours, pause)
        os.fsync(folder)
        raise changed(path) from None
    discard(folder, temporary)


def _expect(folder: int, temporary: str, path: str, expected: str) -> None:
    """Raises unless the file that came out has the expected contents and nobody can change it any more."""
    handle, _ = open_file(folder, temporary, path)
    try:
        if not _nobody_writes(handle) or digest(handle) != expected:
            raise _Other
    finally:
        os.close(handle)


def _nobody_writes(handle: int) -> bool:
    """Whether no program has the file open for writing. A read lease is refused then (fcntl(2)); where
    there are no leases, or the file is another user's, the contents alone must do."""
    lease = getattr(fcntl, "F_SETLEASE", None)
    if lease is None:
        return True
    try:
        # A broken lease would come as a signal that ends the process; this one is ignored.
        fcntl.fcntl(handle, _F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, lease, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EBUSY)
    return True


def give_back(folder: int, temporary: str, name: str, ours: tuple[int, str], pause: Pause) -> None:
    """Put what is under `temporary` back as `name`, where our own file (`ours`, its mark) stands.

    If a third file stands there by now, somebody saved once more: that one is the newest and goes back.
    """
    older = {ours}
    for _ in range(_SWAPS):
        theirs = _mark(folder, temporary)
        pause("giving_back", name)
        try:
            renames.exchange(folder, temporary, name)
        except FileNotFoundError:
            _return(folder, temporary, name)
            return
        if _mark(folder, temporary) in older:
            discard(folder, temporary)
            return
        older.add(theirs)
    keep_visible(folder, temporary, name)


def _return(folder: int, temporary: str, name: str) -> None:
    """Nothing stands there any more."""
    try:
        renames.move_new_anyhow(folder, temporary, folder, name)
    except FileExistsError:
        keep_visible(folder, temporary, name)


def keep_visible(folder: int, temporary: str, name: str) -> None:
    """Give a person's file that found no place a name that is seen."""
    stem, dot, ending = name.rpartition(".")
    kept = f"{stem or ending}"[:60] + f".kept-{secrets.token_hex(4)}" + (dot + ending if stem else "")
    renames.move_new_anyhow(folder, temporary, folder, kept)


def _replace(folder: int, temporary: str, name: str, path: str, expected: str, pause: Pause) -> None:
    """Without an exchange: look as late as possible, then rename over it."""
    try:
        verify(folder, name, path, expected)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except NotFound:
        discard(folder, temporary)
        raise changed(path) from None
    except BaseException:
        discard(folder, temporary)
        raise
    pause("renamed", path)


def take_out(folder: int, name: str, path: str, expected: str, pause: Pause) -> None:
    """Remove a file with these contents; fine when it is gone."""
    try:
        verify(folder, name, path, expected)
    except NotFound:
        return
    pause("checked", path)
    temporary = swapped_name(name, "", expected)
    try:
        renames.move_new_anyhow(folder, name, folder, temporary)
    except FileNotFoundError:
        return
    pause("taken", path)
    try:
        _expect(folder, temporary, path, expected)
    except (_Other, StoreUnavailable):
        _return(folder, temporary, name)
        os.fsync(folder)
        raise changed(path) from None
    discard(folder, temporary)
    os.fsync(folder)


def recover(folder: int, temporary: str, target: str, known: Callable[[str], bool]) -> bool:
    """What to do with a file that a kill left in the middle of an exchange. When its contents are not
    `known`, a person saved them in the last moment: they go back to `target`. Whether it was removed."""
    try:
        handle, _ = open_file(folder, temporary, temporary)
    except StoreUnavailable:
        contents = ""
    else:
        try:
            contents = digest(handle)
        finally:
            os.close(handle)
    if contents and known(contents[:16]):
        os.unlink(temporary, dir_fd=folder)
        return True
    try:
        renames.exchange(folder, temporary, target)
    except (FileNotFoundError, renames.Unsupported):
        _return(folder, temporary, target or "file")
        return False
    return _recovered_other(folder, temporary, target, known)


def _recovered_other(folder: int, temporary: str, target: str, known: Callable[[str], bool]) -> bool:
    """After the exchange: ours came out and is dropped; anything else is kept where it is seen."""
    handle, _ = open_file(folder, temporary, temporary)
    try:
        ours = known(digest(handle)[:16])
    finally:
        os.close(handle)
    if ours:
        os.unlink(temporary, dir_fd=folder)
    else:
        keep_visible(folder, temporary, target)
    return ours
