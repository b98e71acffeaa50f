"""How a store comes into being: whole under its name, or not at all (seed 000, Stores).

The registry knows of it first (`creating`), then everything is built in a folder that nobody reads, which
gets its name in one step; only then the registry calls it `ready`. A kill leaves either a row without a
folder, and the making is done again, or a row with a whole folder, and it is ready. A store that was ready is
never made again, whatever it has lost.
"""

from __future__ import annotations

import os
from pathlib import Path

from lorebank.errors import StoreUnavailable
from lorebank.storage.knowledge_ports import KnowledgeRegistry, PartitionRow, StoreRow
from lorebank.storage.sqlite.files import disk, make_folder, remove_folder, sync_folder
from lorebank.storage.sqlite.vault_state import SqliteVaultState, create_vault_state
from lorebank.vaults import reasons
from lorebank.vaults.store import manifest

DATABASE = "state.sqlite"
STAGING = "staging"
VAULT = "vault"
PRIVATE = "private"
STORES = "stores"
_MAKING = ".making-"
_FINISHED = ".imported-"


def location_of(vault: str) -> str:
    """Where a new store's folder is, relative to the knowledge folder."""
    return f"{STORES}/{vault}"


def complete(folder: Path, registry: KnowledgeRegistry, row: StoreRow, *, writable: bool) -> StoreRow:
    """Bring a `creating` store to `ready`; one that is ready stays as it is.

    `folder` is the knowledge folder. `writable`: git history is begun too (statement 1.4.45).
    """
    if row.state == "ready":
        return row
    target = folder / row.location
    if not target.exists():
        make_folder(target.parent)
        draft = finished_draft(folder, row.vault)
        if not draft.exists():
            draft = draft_of(folder, row.vault)
            remove_folder(draft)
            build(draft, row.vault, writable=writable)
        with disk():
            _put(draft, target)
    registry.store_ready(row.vault)
    return StoreRow(row.vault, row.location, "ready", row.last_name, row.created_at)


def _put(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except FileNotFoundError:
        # An import and its agent's first use at once: the other one did it.
        if not target.exists():
            raise
    sync_folder(target.parent)


def draft_of(folder: Path, vault: str) -> Path:
    """Where a new store is built, below the knowledge folder `folder`."""
    return folder / STORES / f"{_MAKING}{vault}"


def finished_draft(folder: Path, vault: str) -> Path:
    """Where one that is whole (an import) waits until the registry knows of it."""
    return folder / STORES / f"{_FINISHED}{vault}"


def sweep(folder: Path, registry: KnowledgeRegistry) -> None:
    """After a kill: complete an import that the registry knows of, and remove what it does not know of.

    Nothing is touched while the registry cannot be trusted.
    """
    if registry.problem is not None or not (folder / STORES).is_dir():
        return
    rows = {row.vault: row for row in registry.stores()}
    with disk():
        left = [path for path in (folder / STORES).iterdir() if path.name.startswith((_MAKING, _FINISHED))]
    for path in left:
        row = rows.get(path.name.removeprefix(_MAKING).removeprefix(_FINISHED))
        if row is None or row.state == "ready":
            remove_folder(path)
        elif path.name.startswith(_FINISHED):
            complete(folder, registry, row, writable=False)


def build(draft: Path, vault: str, *, writable: bool) -> None:
    """An empty store in a new folder, durable."""
    first = manifest.first(vault)
    for path in (draft, draft / STAGING, draft / VAULT, draft / VAULT / PRIVATE):
        make_folder(path)
    with disk():
        with (draft / VAULT / manifest.NAME).open("xb") as file:
            file.write(manifest.encode(first))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(draft / VAULT)
        private = (draft / VAULT / PRIVATE).stat()
    if writable:
        # Imported here: git is loaded once knowledge is used, not at the server's start.
        from lorebank.storage.tree.git_setup import make_repository

        make_repository(draft / VAULT / ".git")
    create_vault_state(draft / DATABASE, first.checkpoint)
    state = SqliteVaultState(draft / DATABASE)
    try:
        state.add_partition(PartitionRow(PRIVATE, private.st_dev, private.st_ino))
    finally:
        state.close()
    with disk():
        sync_folder(draft)


def missing(what: str, reason: str) -> StoreUnavailable:
    """The refusal of a store that was there and has lost a part."""
    return StoreUnavailable(
        reason, f"{what} of the knowledge store is missing; put it back from a backup. Nothing is made anew"
    )


def check_parts(store: Path) -> None:
    """`StoreUnavailable` (missing_…) unless folder, database, manifest and private partition are there."""
    parts = (
        (store, "the folder", reasons.MISSING_STORE),
        (store / DATABASE, "state.sqlite", reasons.MISSING_DATABASE),
        (store / VAULT, "the vault's folder", reasons.MISSING_STORE),
        (store / VAULT / manifest.NAME, "vault.json", reasons.MISSING_MANIFEST),
        (store / VAULT / PRIVATE, "the private partition", reasons.MISSING_PARTITION),
    )
    for path, what, reason in parts:
        if not os.path.lexists(path):
            raise missing(what, reason)
