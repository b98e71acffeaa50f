"""Copying a source's partitions into the vault of a new store that nobody reads yet.

Nothing is synced file by file; everything is durable before the store gets its name (`run`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lorebank.access.audience import Partition
from lorebank.errors import NotFound, StoreUnavailable
from lorebank.storage.sqlite.files import disk, make_folder
from lorebank.storage.tree.descriptors import CHUNK
from lorebank.storage.tree.ports import Tree
from lorebank.vaults.evidence.descriptors import MAX_DESCRIPTOR_BYTES
from lorebank.vaults.importing.evidence import Held, Placed, placed
from lorebank.vaults.importing.report import Problem, Progress
from lorebank.vaults.importing.sources import SourcePartition
from lorebank.vaults.record.extension import ONTOLOGY_FILE
from lorebank.vaults.record.values import MAX_RECORD_BYTES
from lorebank.vaults.store import making
from lorebank.vaults.store.files import ARTIFACTS


@dataclass(slots=True)
class PartitionDraft:
    """One partition of the draft: its files by path, and what was said about the source's."""

    partition: Partition
    paths: list[str]
    placed: Placed
    others: int
    problems: list[Problem]


def copy_partition(
    tree: Tree, source: SourcePartition, draft: Path, progress: Progress, done: int = 0
) -> PartitionDraft:
    """Copy one partition's files into the vault of the draft. Everything is read through `tree`, which
    follows no link. Raises what `Tree.scan` raises: the limits of the seed hold."""
    scanned = tree.scan(source.folder)
    top = f"{source.folder}/" if source.folder else ""
    target = draft / making.VAULT / source.partition.folder
    make_folder(target)
    made = PartitionDraft(source.partition, [], Placed(), 0, [])
    made.problems += [_left_out(one.path, one.message) for one in scanned.problems]
    evidence: list[Held] = []
    for number, (full, state) in enumerate(scanned.files.items()):
        progress("copy", done + number, done + len(scanned.files))
        path = full.removeprefix(top)
        place = _staged(draft, len(evidence)) if path.startswith(ARTIFACTS) else target / path
        copied = _copied(tree, full, place, made.problems)
        if copied is None:
            continue
        if path.startswith(ARTIFACTS):
            evidence.append(replace(copied, path=path))
            continue
        made.paths.append(path)
        if path.endswith(".md"):
            _note_size(made, full, state.size)
        elif path != ONTOLOGY_FILE or source.partition.session is not None:
            made.others += 1
    made.placed = placed(evidence, source.partition)
    made.problems += [replace(one, path=top + one.path) for one in made.placed.problems]
    _settle(draft, target, evidence, made)
    return made


def _note_size(made: PartitionDraft, full: str, size: int) -> None:
    if size > MAX_RECORD_BYTES:
        said = f"has more than {MAX_RECORD_BYTES} bytes: copied as it is, and withheld"
        made.problems.append(Problem(full, said))


def _left_out(path: str, message: str) -> Problem:
    """What the tree says of a file, without its name, which stands beside it, and without what would mend
    it: the source is not ours."""
    said = message
    for name in (path, path.rpartition("/")[2]):
        if message.startswith((f"{name} is ", f"{name} has ")):
            said = f"it {message[len(name) + 1 :]}".partition(". ")[0]
    return Problem(path, f"is not imported: {said}")


def _staged(draft: Path, number: int) -> Path:
    return draft / making.STAGING / f"{number}"


def _copied(tree: Tree, full: str, target: Path, problems: list[Problem]) -> Held | None:
    """Copy one file; None, with the reason among the problems, when it cannot be read safely."""
    digest, size, raw = hashlib.sha256(), 0, b""
    try:
        with tree.open(full) as file:
            with disk():
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as copy, disk():
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
                    size += len(chunk)
                    copy.write(chunk)
                    raw = chunk if size == len(chunk) <= MAX_DESCRIPTOR_BYTES else b""
    except (NotFound, StoreUnavailable) as exc:
        problems.append(_left_out(full, exc.message))
        return None
    return Held("", digest.hexdigest(), size, raw if full.endswith(".json") and raw else None)


def _settle(draft: Path, target: Path, evidence: Sequence[Held], made: PartitionDraft) -> None:
    """Move what was staged to where it was decided to go."""
    places = {one.path: _staged(draft, number) for number, one in enumerate(evidence)}
    with disk():
        for source, path in made.placed.copied:
            (target / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            places[source].rename(target / path)
        for path, content in made.placed.written.items():
            (target / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(target / path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
        for left in (draft / making.STAGING).iterdir():
            left.unlink()
    made.paths += [path for _, path in made.placed.copied] + list(made.placed.written)
