"""New trees from a commit's tree and some changed files: only folders on the changed paths are built anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pygit2
from pygit2.enums import FileMode


@dataclass(slots=True)
class Folder:
    """Changes below one folder. A file is its blob's id, or None: removed."""

    files: dict[str, pygit2.Oid | None] = field(default_factory=dict)
    folders: dict[str, Folder] = field(default_factory=dict)


def grouped(changes: Mapping[tuple[str, ...], pygit2.Oid | None]) -> Folder:
    """Changes by path, as a tree of folders."""
    top = Folder()
    for parts, blob in changes.items():
        here = top
        for name in parts[:-1]:
            here = here.folders.setdefault(name, Folder())
        here.files[parts[-1]] = blob
    return top


def store_blob(repository: pygit2.Repository, content: bytes | Path) -> pygit2.Oid:
    """A blob with exactly these bytes: no filter and no line-end conversion has a say."""
    if isinstance(content, bytes):
        return repository.create_blob(content)
    with content.open("rb") as file:
        return repository.create_blob_fromiobase(file)


def build(repository: pygit2.Repository, before: pygit2.Tree | None, changed: Folder) -> pygit2.Oid | None:
    """The new tree's id; None when nothing is left in it. As deep as folders are (11)."""
    builder = repository.TreeBuilder(before) if before is not None else repository.TreeBuilder()
    for name, blob in changed.files.items():
        if blob is not None:
            builder.insert(name, blob, FileMode.BLOB)
        elif before is not None and name in before:
            builder.remove(name)
    for name, below in changed.folders.items():
        inner = before[name] if before is not None and name in before else None
        tree = build(repository, inner if isinstance(inner, pygit2.Tree) else None, below)
        if tree is not None:
            builder.insert(name, tree, FileMode.TREE)
        elif isinstance(inner, pygit2.Tree):
            builder.remove(name)
    return builder.write() if len(builder) else None
