"""What the tree and its history say when they refuse. Messages name paths relative to the vault, never
absolute ones."""

from __future__ import annotations

import errno
from typing import Final

from lorebank.access.reasons import DAMAGED, SCAN_INCOMPLETE, UNSAFE_FILE
from lorebank.errors import StoreUnavailable, Unavailable

_REMEDIES: Final = {
    errno.ENOSPC: "The disk is full. Free some space, then ask again",
    errno.EDQUOT: "The disk quota is used up. Free some space, then ask again",
    errno.EROFS: "The file system is read-only. Mount it writable, then ask again",
    errno.EACCES: "The server may not write there. Give it the right to its data folder, then ask again",
    errno.EPERM: "The server may not write there. Give it the right to its data folder, then ask again",
    errno.EMFILE: "Too many files are open. Raise the server's limit of open files, then ask again",
    errno.ENFILE: "Too many files are open on this machine. Close some programs, then ask again",
    errno.EIO: "The disk reports an error. Check it, then ask again",
    errno.EXDEV: "Staging folder and vault are on different file systems. Put the knowledge folder on one",
    errno.ENAMETOOLONG: "The name is too long for this file system. Choose a shorter one",
}


def unsafe(path: str, what: str) -> StoreUnavailable:
    """`path` is `what` (a symlink, a hard link, ...) where only plain files and folders may be."""
    return StoreUnavailable(
        UNSAFE_FILE, f"{path or 'The vault'} is {what}; only plain files and folders are used. Replace it"
    )


def changing(path: str) -> StoreUnavailable:
    """A file or folder changed each time it was read."""
    where = path or "The vault"
    return StoreUnavailable(SCAN_INCOMPLETE, f"{where} kept changing while it was read. Ask again")


def unreadable(path: str, error: OSError) -> StoreUnavailable:
    """The operating system did not let us read: the result would be partial, so there is none."""
    where = path or "the vault"
    reason = errno.errorcode.get(error.errno or 0, "an error")
    return StoreUnavailable(
        SCAN_INCOMPLETE, f"Cannot read {where} ({reason}). Mend it, then ask again", cause=error
    )


def unwritable(path: str, error: OSError) -> Unavailable:
    """The operating system did not let us write; nothing was changed."""
    remedy = _REMEDIES.get(error.errno or 0, "Ask again; if it goes on, look at the server's log")
    reason = errno.errorcode.get(error.errno or 0, "an error")
    return Unavailable(f"Cannot write {path} ({reason}). {remedy}.", cause=error)


def damaged(what: str, cause: BaseException | None = None) -> StoreUnavailable:
    """The git repository cannot be used; records do not depend on it."""
    return StoreUnavailable(DAMAGED, f"The vault's git history cannot be used: {what}", cause=cause)
