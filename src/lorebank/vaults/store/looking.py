"""Which files of a partition have to be read: the difference between what is known and what is on disk."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from lorebank.access.audience import Partition
from lorebank.errors import StoreUnavailable
from lorebank.storage.tree.names import passed_over
from lorebank.storage.tree.ports import FileState, Tree, TreeProblem
from lorebank.vaults.store.files import ARTIFACTS, kind_of
from lorebank.vaults.store.rows import Known, RowKind

_OF_A_SOURCE: Final = re.compile(r"(artifacts/[0-9a-f]{2})/[0-9a-f]{64}(?:/[^/]+)?")
"""The folder that a retained source has for itself, inside one that few of them share, or a file in it."""


@dataclass(frozen=True, slots=True)
class Look:
    """`touched` are new or changed files, `gone` known ones that are not there any more, `refused` known
    ones that must not be used now (they are no deletions). `looked` are the known paths that were looked at,
    None: all."""

    touched: tuple[tuple[str, RowKind], ...]
    gone: tuple[Known, ...]
    refused: frozenset[str]
    problems: tuple[TreeProblem, ...]
    looked: frozenset[str] | None = None


def look(tree: Tree, partition: Partition, known: Mapping[str, Known], unsettled: Collection[str]) -> Look:
    """Look at everything: one scan of the partition. Raises what `Tree.scan` raises."""
    scanned = tree.scan(partition.folder)
    top = len(partition.folder) + 1
    touched: list[tuple[str, RowKind]] = []
    seen = set()
    for full, state in scanned.files.items():
        path = full[top:]
        before = known.get(path)
        if before is None:
            kind = kind_of(path, partition)
            if kind is not None:
                touched.append((path, kind))
            continue
        seen.add(path)
        if path in unsettled or not _unchanged(before, state):
            touched.append((path, before.kind))
    missing = [one for path, one in known.items() if path not in seen]
    refused = frozenset(
        one.path for one in missing if scanned.problems and scanned.refuses(f"{partition.folder}/{one.path}")
    )
    gone = tuple(one for one in missing if one.path not in refused)
    return Look(tuple(touched), gone, refused, scanned.problems)


def glance(
    tree: Tree, partition: Partition, known: Mapping[str, Known], dirty: Collection[str]
) -> Look | None:
    """Look at the named paths only; None when that is not enough, because a folder, a new file or something
    that must not be there is among them. The folder of a new source is enough: every save may make one."""
    touched: list[tuple[str, RowKind]] = []
    gone: list[Known] = []
    folders: set[str] = set()
    try:
        for path in sorted(dirty):
            before = known.get(path)
            if before is not None:
                state = tree.state(f"{partition.folder}/{path}")
                if state is None:
                    gone.append(before)
                elif not _unchanged(before, state):
                    touched.append((path, before.kind))
            elif not any(passed_over(part) for part in path.split("/") if part) and not _is_source(path):
                found = _OF_A_SOURCE.fullmatch(path)
                if found is None:
                    return None
                folders.add(found[1])
        inside = _in_folders(tree, partition, known, folders)
    except StoreUnavailable:
        return None
    if inside is None:
        return None
    touched += [one for one in inside if one[0] not in known or one[0] not in dirty]
    return Look(tuple(touched), tuple(gone), frozenset(), (), frozenset(dirty))


def _in_folders(
    tree: Tree, partition: Partition, known: Mapping[str, Known], folders: Collection[str]
) -> list[tuple[str, RowKind]] | None:
    """What is new or changed in some folders; None when something is missing there, or must not be there."""
    top, seen = len(partition.folder) + 1, set()
    touched: list[tuple[str, RowKind]] = []
    for folder in folders:
        scanned = tree.scan(f"{partition.folder}/{folder}")
        if scanned.problems:
            return None
        for full, state in scanned.files.items():
            path = full[top:]
            seen.add(path)
            before, kind = known.get(path), kind_of(path, partition)
            if kind is not None and (before is None or not _unchanged(before, state)):
                touched.append((path, kind))
    below = tuple(f"{folder}/" for folder in folders)
    missing = below and any(path not in seen for path in known if path.startswith(below))
    return None if missing else touched


def _is_source(path: str) -> bool:
    """Whether it can only be a retained source: those are verified when they are used."""
    return path.startswith(ARTIFACTS) and path.endswith("/content")


def _unchanged(known: Known, state: FileState) -> bool:
    stamp = known.stamp
    return (
        stamp.inode == state.inode
        and stamp.size == state.size
        and stamp.mtime_ns == state.mtime_ns
        and stamp.ctime_ns == state.ctime_ns
    )
