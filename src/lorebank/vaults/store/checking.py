"""Looking through one store without changing it: `lorebank vault check`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from lorebank.access.audience import Partition
from lorebank.errors import LorebankError, NotFound, one_line
from lorebank.storage.knowledge_ports import CatalogueRow
from lorebank.storage.tree.ports import FileState
from lorebank.vaults.evidence.descriptors import content_path
from lorebank.vaults.record.descriptors import parse_descriptor
from lorebank.vaults.record.values import Finding
from lorebank.vaults.store.files import kind_of
from lorebank.vaults.store.rows import UNSETTLED
from lorebank.vaults.store.runtime import Runtime
from lorebank.vaults.store.values import Descriptor

_CHUNK: Final = 1 << 20


def check(runtime: Runtime, partitions: list[Partition], *, read_all: bool) -> list[str]:
    """What is wrong with a store, in sentences; to be called in its lane. With `read_all` every file is
    read: one whose contents changed while its stamp did not is found only so."""
    found = list(runtime.state.check())
    found += [
        f"the publication {row.request_id} of {row.folder} is {row.state} and not finished"
        for row in runtime.state.open_journal()
    ]
    for partition in partitions:
        try:
            runtime.verify(partition)
            found += _partition(runtime, partition, read_all)
        except LorebankError as exc:
            found.append(f"{partition.folder}: {exc.message}")
    if runtime.writable or (runtime.tree.root / ".git").exists():
        found += runtime.git.check()
        behind = runtime.state.backlog()
        if behind:
            found.append(f"git lacks {behind} changes; they are caught up at the next save")
    return found


def _partition(runtime: Runtime, partition: Partition, read_all: bool) -> Iterator[str]:
    folder = partition.folder
    if runtime.tree.identity(folder) is None:
        return
    scanned = runtime.tree.scan(folder)
    yield from (one_line(f"{one.path}: {one.message}") for one in scanned.problems)
    rows = {f"{folder}/{row.path}": row for row in runtime.state.catalogue(folder)}
    for path, row in rows.items():
        state = scanned.files.get(path)
        if state is None and row.kind == "source" and not scanned.refuses(path):
            yield f"{path}: the retained source is gone"
        elif state is not None and read_all and row.kind != "source" and _stamped(row, state):
            yield from _contents(runtime, path, row.sha256)
    yield from _descriptors(runtime, partition, scanned.files, read_all)


def _stamped(row: CatalogueRow, state: FileState) -> bool:
    """Whether the file says of itself that it is what it was. An edit that nobody has asked about since is
    no fault."""
    return row.mtime_ns != UNSETTLED and (row.inode, row.size, row.mtime_ns, row.ctime_ns) == (
        state.inode,
        state.size,
        state.mtime_ns,
        state.ctime_ns,
    )


def _contents(runtime: Runtime, path: str, sha256: str) -> Iterator[str]:
    digest = hashlib.sha256()
    try:
        with runtime.tree.open(path) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except NotFound:
        return
    if sha256 and digest.hexdigest() != sha256:
        yield f"{path}: its contents are not what was written, and no program changed them"


def _descriptors(
    runtime: Runtime,
    partition: Partition,
    files: Mapping[str, FileState],
    read_all: bool,
) -> Iterator[str]:
    """Every retained source that a descriptor tells of is there, whole."""
    top = f"{partition.folder}/"
    seen: set[str] = set()
    for path in files:
        inner = path.removeprefix(top)
        if kind_of(inner, partition) != "descriptor":
            continue
        one = parse_descriptor(inner, runtime.tree.read(path, max_bytes=1 << 20)[1], partition)
        if isinstance(one, Finding):
            yield f"{path}: {one.message}"
            continue
        yield from _source(runtime, top, one, files, read_all and one.sha256 not in seen)
        seen.add(one.sha256)


def _source(
    runtime: Runtime, top: str, one: Descriptor, files: Mapping[str, FileState], read: bool
) -> Iterator[str]:
    path = top + content_path(one.sha256)
    state = files.get(path)
    if state is None:
        yield f"{path}: the source that descriptor {one.id} tells of is not there"
    elif state.size != one.size:
        yield f"{path}: the source has {state.size} bytes and not the {one.size} of descriptor {one.id}"
    elif read:
        yield from _contents(runtime, path, one.sha256)
