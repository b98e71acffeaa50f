"""Which files of a partition have to be read: the difference between what is known and what is on disk."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from lorebank.access.audience import Partition
from lorebank.errors import StoreUnavailable
from lorebank.storage.tree.names import passed_over
from lorebank.storage.tree.ports import FileState, Tree, TreeProblem
from lorebank.vaults.store.files import ARTIFACTS, kind_of
from lorebank.vaults.store.rows import Known, RowKind


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
    that must not be there is among them."""
    touched: list[tuple[str, RowKind]] = []
    gone: list[Known] = []
    for path in sorted(dirty):
        before = known.get(path)
        if before is None:
            if any(passed_over(part) for part in path.split("/") if part) or _is_source(path):
                continue
            return None
        try:
            state = tree.state(f"{partition.folder}/{path}")
        except StoreUnavailable:
            return None
        if state is None:
            gone.append(before)
        elif not _unchanged(before, state):
            touched.append((path, before.kind))
    return Look(tuple(touched), tuple(gone), frozenset(), (), frozenset(dirty))


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
