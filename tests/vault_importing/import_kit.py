"""Vaults as another program may have left them, for tests of importing."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import uuid
from pathlib import Path
from typing import Any

import pygit2

from lorebank.access.audience import PRIVATE, Partition
from vault_store.store_world import SESSION, page, put

CONVERSATION = Partition(SESSION)
SOURCE_ID = "5b0f7a52-4a55-4f0e-8f0e-0a4b1c2d3e4f"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def foreign_vault(root: Path, *, git: bool = True) -> Path:
    """A vault with both kinds of partitions, evidence in another layout, an ontology and git history."""
    put(root, "vault.json", b'{"format": "knowledge-vault-v2"}')
    put(root, "private/people/ada.md", page(1, "Ada"))
    put(root, "private/notes/bert.md", page(2, "Bert"))
    put(root, "private/broken.md", b"no frontmatter at all\n")
    put(root, "private/strange.md", page(3, "Stranger", partition=CONVERSATION))
    put(root, "private/ontology.yaml", b"types:\n  boat:\n    label: Boat\n")
    put(root, "private/picture.png", b"\x89PNG not really")
    put(root, f"conversations/{SESSION}/people/gus.md", page(4, "Gus", partition=CONVERSATION))
    put(root, "private/artifacts/letter.txt", b"Dear Ada\n")
    descriptor = {
        "descriptorId": SOURCE_ID,
        "contentHash": "sha256:" + sha(b"Dear Ada\n"),
        "mimeType": "text/plain",
    }
    descriptor |= {"originalName": "C:\\mail\\letter.txt", "origin_attribution": "Bert"}
    put(root, "private/artifacts/letter.json", json.dumps(descriptor).encode())
    if git:
        commit_all(root, "before")
        put(root, "private/people/ada.md", page(1, "Ada", revision=2))
        commit_all(root, "after")
    return root


def commit_all(root: Path, message: str) -> str:
    """What `git add -A` and `git commit` do."""
    there = (root / ".git").exists()
    repository = pygit2.Repository(str(root)) if there else pygit2.init_repository(root, initial_head="trunk")
    repository.index.add_all()
    repository.index.write()
    who = pygit2.Signature("Bert", "bert@example.org", 1_700_000_000, 0)
    parents = [] if repository.head_is_unborn else [repository.head.target]
    made = repository.create_commit("HEAD", who, who, message, repository.index.write_tree(), parents)
    repository.free()
    return str(made)


def foreign_knowledge(root: Path) -> Path:
    """A whole knowledge folder with two stores, and databases that are not ours."""
    for name, number in (("alpha", 1), ("beta", 2)):
        store = root / "stores" / name
        put(store, f"vault/private/p{number}.md", page(number, name))
        foreign_database(store / "state.sqlite")
    foreign_database(root / "registry.sqlite")
    (root / "registry.id").write_text(str(uuid.uuid4()))
    return root


def foreign_database(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE theirs (x)")
    db.commit()
    db.close()


def picture(root: Path) -> dict[str, Any]:
    """Everything that is below a folder: names, kinds, contents, and when they were changed."""
    found: dict[str, Any] = {}
    for folder, below, names in os.walk(root):
        for name in (*below, *names):
            path = Path(folder, name)
            state = path.lstat()
            content: Any = None
            if path.is_symlink():
                content = os.readlink(path)
            elif path.is_file():
                content = sha(path.read_bytes())
            found[str(path.relative_to(root))] = (state.st_mode, state.st_mtime_ns, state.st_nlink, content)
    return found


__all__ = ["CONVERSATION", "PRIVATE", "SESSION"]
