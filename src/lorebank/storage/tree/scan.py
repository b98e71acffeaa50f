"""A whole scan of a folder: every plain file with its state, and what is refused.

A scan is complete or it raises. After the last folder was listed all of them are looked at again: when
one changed meanwhile (a file may have wandered from a folder not yet listed into one already listed), the
scan begins anew, and after some attempts it gives up with `scan_incomplete`.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from lorebank.access import reasons
from lorebank.errors import NotFound, StoreUnavailable
from lorebank.storage.tree import refusals
from lorebank.storage.tree.descriptors import Pause, kind_of, no_pause, open_folder, walk
from lorebank.storage.tree.names import colliding, ordinary, passed_over, refusal
from lorebank.storage.tree.ports import FileState, Scanned, TreeProblem

_PAUSES: Final = (0.0, 0.005, 0.01, 0.02, 0.04)
"""Seconds before each attempt."""


class _Moved(Exception):
    """The folder changed while it was listed."""


@dataclass(slots=True)
class _Scan:
    """What one attempt has found so far. `seen` is each folder's state before it was listed."""

    max_entries: int
    max_depth: int
    files: list[FileState] = field(default_factory=list)
    problems: list[TreeProblem] = field(default_factory=list)
    entries: int = 0
    seen: list[tuple[str, os.stat_result]] = field(default_factory=list)

    def count(self, more: int) -> None:
        self.entries += more
        if self.entries > self.max_entries:
            raise StoreUnavailable(
                reasons.SCAN_LIMIT,
                f"The partition has more than {self.max_entries} files and folders. Move some out of it",
            )

    def refuse(self, path: str, rule: str, message: str) -> None:
        self.problems.append(TreeProblem(shown(path), rule, message))


def shown(path: str) -> str:
    """A path as UTF-8 can say it: bytes that are none become `?`."""
    return path if path.isascii() else path.encode("utf-8", "replace").decode("utf-8")


def scan(
    root: int, parts: tuple[str, ...], max_entries: int, max_depth: int, pause: Pause = no_pause
) -> Scanned:
    """Everything below a folder of the tree."""
    for seconds in _PAUSES:
        time.sleep(seconds)
        found = _Scan(max_entries, max_depth)
        try:
            _scan_below(root, parts, found, pause)
            _settled(root, parts, found)
        except _Moved:
            continue
        except OSError as error:
            raise refusals.unreadable("/".join(parts), error) from error
        found.files.sort(key=lambda file: file.path)
        found.problems.sort(key=lambda problem: problem.path)
        return Scanned({file.path: file for file in found.files}, tuple(found.problems), found.entries)
    raise refusals.changing("/".join(parts))


def _scan_below(root: int, parts: tuple[str, ...], found: _Scan, pause: Pause) -> None:
    """Depth first, so that no more descriptors are open than folders are deep."""
    top = "/".join(parts)
    try:
        here = walk(root, parts, pause)
    except NotFound as error:
        message = f"The folder {top or 'of the vault'} is missing. Put it back"
        raise StoreUnavailable(reasons.MISSING_PARTITION, message, cause=error) from error
    opened: list[tuple[str, int, list[str]]] = []
    try:
        opened.append((top, here, _list_folder(here, top, found, pause)))
        while opened:
            path, here, below = opened[-1]
            if not below:
                os.close(opened.pop()[1])
                continue
            if len(opened) > found.max_depth:
                message = f"{shown(path)} has folders more than {found.max_depth} levels deep. Move them up"
                raise StoreUnavailable(reasons.SCAN_LIMIT, message)
            name = below.pop()
            inner = f"{path}/{name}" if path else name
            try:
                child = open_folder(here, name, inner)
            except NotFound:
                raise _Moved from None
            opened.append((inner, child, []))
            opened[-1] = (inner, child, _list_folder(child, inner, found, pause))
    finally:
        for _, handle, _ in opened:
            os.close(handle)


def _list_folder(here: int, path: str, found: _Scan, pause: Pause) -> list[str]:
    """Note one folder's files and problems; its subfolders' names."""
    found.seen.append((path, os.fstat(here)))
    prefix = f"{path}/" if path else ""
    files: list[tuple[str, os.stat_result]] = []
    folders: list[str] = []
    try:
        with os.scandir(here) as entries:
            # One huge folder must not be gone through to its end.
            listed = list(islice(entries, found.max_entries - found.entries + 1))
            found.count(len(listed))
            if not ordinary([entry.name for entry in listed]):
                listed = _usable(listed, prefix, found)
            for entry in listed:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                    continue
                state = entry.stat(follow_symlinks=False)
                if kind := kind_of(state):
                    name = entry.name
                    found.refuse(prefix + name, kind[0], f"{name} is {kind[1]}. Replace it by a plain file")
                else:
                    files.append((entry.name, state))
    except FileNotFoundError:
        raise _Moved from None
    pause("folder_listed", path)
    _keep(files, folders, prefix, found)
    return folders


def _usable(listed: list[os.DirEntry[str]], prefix: str, found: _Scan) -> list[os.DirEntry[str]]:
    """Those with names that may be used; the others are noted, or passed over."""
    kept = []
    for entry in listed:
        if passed_over(entry.name):
            continue
        problem = refusal(entry.name)
        if problem:
            found.refuse(prefix + entry.name, "file_name", f"{shown(entry.name)} {problem}. Rename it")
        else:
            kept.append(entry)
    return kept


def _keep(files: list[tuple[str, os.stat_result]], folders: list[str], prefix: str, found: _Scan) -> None:
    """Take the files of a folder whose names are unlike each other; `folders` loses those that are not."""
    clash = colliding([*folders, *[name for name, _ in files]])
    for name in sorted(clash):
        message = (
            f"{name} and another name in its folder differ only in letter case or accents' form. Rename one"
        )
        found.refuse(prefix + name, "name_collision", message)
    if clash:
        folders[:] = [name for name in folders if name not in clash]
        files = [file for file in files if file[0] not in clash]
    found.files += [
        FileState(prefix + name, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
        for name, state in files
    ]


def _settled(root: int, parts: tuple[str, ...], found: _Scan) -> None:
    """Raises when a folder is no longer as it was when it was listed. Looking by path is enough here: a
    link on the way shows as another inode."""
    for path, before in found.seen:
        try:
            now = os.stat(path, dir_fd=root, follow_symlinks=False) if path else os.fstat(root)
        except (FileNotFoundError, NotADirectoryError):
            raise _Moved from None
        if (now.st_dev, now.st_ino, now.st_mtime_ns, now.st_ctime_ns) != (
            before.st_dev,
            before.st_ino,
            before.st_mtime_ns,
            before.st_ctime_ns,
        ):
            raise _Moved
