"""Clearing away the temporary files that a kill left, without losing a person's last save."""

from __future__ import annotations

import os

from lorebank.errors import NotFound, StoreUnavailable
from lorebank.storage.tree.descriptors import open_folder, walk
from lorebank.storage.tree.names import TEMPORARY, parse_temporary, passed_over
from lorebank.storage.tree.place import recover


def sweep(root: int, parts: tuple[str, ...]) -> int:
    """Remove what is ours below a folder; how many files went. Links and other programs' folders are
    passed over. A missing folder has nothing to clear away."""
    try:
        opened = [walk(root, parts)]
    except NotFound:
        return 0
    removed = 0
    try:
        waiting = [_clear(opened[0])]
        removed += waiting[0][0]
        while opened:
            names = waiting[-1][1]
            if not names:
                waiting.pop()
                os.close(opened.pop())
                continue
            try:
                opened.append(open_folder(opened[-1], names[-1], names.pop()))
            except (NotFound, StoreUnavailable):
                continue
            waiting.append(_clear(opened[-1]))
            removed += waiting[-1][0]
    finally:
        for handle in opened:
            os.close(handle)
    return removed


def _clear(here: int) -> tuple[int, list[str]]:
    """Clear one folder: how many files went, and its subfolders' names."""
    folders: list[str] = []
    ours: list[str] = []
    with os.scandir(here) as entries:
        for entry in entries:
            if entry.name.startswith(TEMPORARY):
                ours.append(entry.name)
            elif not passed_over(entry.name) and entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
    removed = sum(_remove(here, name) for name in ours)
    if ours:
        os.fsync(here)
    return removed, folders


def _remove(here: int, name: str) -> bool:
    temporary = parse_temporary(name)
    if temporary is None:
        return False
    if temporary.kind == "written":
        os.unlink(name, dir_fd=here)
        return True
    return recover(here, name, temporary.target, lambda contents: contents in (temporary.new, temporary.old))
