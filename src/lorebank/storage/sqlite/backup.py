"""Backup and restore: a copy with a manifest of checksums, complete or absent."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lorebank import clock
from lorebank.errors import Conflict, Corrupt, InvalidInput
from lorebank.ids import StoreId, new_uuid
from lorebank.storage.sqlite.audience_key import AUDIENCE_KEY_FILE
from lorebank.storage.sqlite.audit_file import AUDIT_FILE, AuditFile
from lorebank.storage.sqlite.connect import create_file, translated
from lorebank.storage.sqlite.files import (
    disk,
    make_folder,
    plain_text,
    remove_folder,
    sync_filesystem,
    sync_folder,
    write_private,
)
from lorebank.storage.sqlite.knowledge_copy import note_restored
from lorebank.storage.sqlite.pool import StorePool
from lorebank.storage.sqlite.registry import REGISTRY_FILE, SENTINEL_FILE, Registry
from lorebank.storage.sqlite.root_key import ROOT_KEY_FILE
from lorebank.storage.sqlite.store import STATE_FILE

MANIFEST = "manifest.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Sources:
    """What a data directory consists of."""

    folder: Path
    registry: Registry
    audit: AuditFile
    pool: StorePool


def begin_backup(target: Path) -> None:
    """Make the folder of a backup. `Conflict` when it is not empty."""
    _refuse_filled(target, "the backup target")
    make_folder(target)


def backup_directory(source: Sources, target: Path, *, root_key: bool) -> None:
    """Copy registry, banks and audit log; the caller keeps banks from being made or deleted meanwhile.

    `target` is a begun backup, in which other rooms may have put what is theirs. Each store is copied as of
    one moment; writes go on. The keys (the root user's, and the one that audience tokens are signed with)
    are copied only when asked for: whoever has the copy could otherwise act as root or as any agent.
    Without its manifest, which is written last, a copy is no backup.
    """
    rows = source.registry.all_rows()
    _copy(source.registry.backup, target / REGISTRY_FILE)
    for row in rows:
        folder = target / "banks" / row.store_id
        make_folder(folder)
        try:
            with source.pool.using(StoreId(row.store_id)) as store:
                _copy(store.backup, folder / STATE_FILE)
        except Corrupt as exc:
            raise Corrupt(f"bank '{row.bank_id}' cannot be copied: {exc.message}", cause=exc) from exc
        with disk():
            sync_folder(folder)
    # Last, so that it tells of everything that is in the copy.
    _copy(source.audit.backup, target / AUDIT_FILE)
    names = [SENTINEL_FILE, *((ROOT_KEY_FILE, AUDIENCE_KEY_FILE) if root_key else ())]
    with disk():
        for name in names:
            text = plain_text(source.folder / name)
            if text is not None:
                write_private(target / name, text)
        files = {str(PurePosixPath(path.relative_to(target))): _digest(path) for path in _files(target)}
        folders = [str(PurePosixPath(path.relative_to(target))) for path in _empty_folders(target)]
    sync_filesystem(target)
    manifest = {"format": _FORMAT, "made_at": clock.to_iso(clock.now()), "files": files, "folders": folders}
    write_private(target / MANIFEST, json.dumps(manifest, indent=1))


def restore_directory(source: Path, target: Path) -> None:
    """Make `target` a data directory from a backup, all of it or nothing.

    Raises `InvalidInput` when the source is no backup, `Corrupt` when a file is missing or not
    what the manifest says, `Conflict` when the target holds anything.
    """
    files, folders = _read_manifest(source)
    _refuse_filled(target, "the data directory")
    for name, digest in files.items():
        path = source / name
        with disk():
            if not path.is_file() or _digest(path) != digest:
                raise Corrupt(f"the backup is damaged: {name} is not what its manifest says")
    make_folder(target.parent)
    draft = target.parent / f".{target.name}.restoring-{new_uuid()[:8]}"
    try:
        make_folder(draft)
        make_folder(draft / "banks")
        with disk():
            for name in folders:
                (draft / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in files:
                (draft / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                create_file(draft / name)
                shutil.copyfile(source / name, draft / name)
        note_restored(draft / "knowledge")
        sync_filesystem(draft)
        with disk():
            draft.rename(target)
            sync_folder(target.parent)
    finally:
        remove_folder(draft)


def _read_manifest(source: Path) -> tuple[dict[str, str], list[str]]:
    """The files with their digests, and the folders that have none."""
    with disk():
        if not (source / MANIFEST).is_file():
            raise InvalidInput("the source holds no complete backup: its manifest.json is missing")
        text = (source / MANIFEST).read_text()
    try:
        manifest = json.loads(text)
        known, files = manifest["format"], dict(manifest["files"])
        folders = list(manifest.get("folders", ()))  # before knowledge stores there were no such folders
    except (ValueError, KeyError, TypeError) as exc:
        raise Corrupt("the backup's manifest.json cannot be read", cause=exc) from exc
    if known != _FORMAT:
        raise Conflict("the backup was made by another version of lorebank; restore it with that version")
    for name in (*files, *folders):
        parts = PurePosixPath(name).parts
        if PurePosixPath(name).is_absolute() or ".." in parts or not parts:
            raise Corrupt("the backup's manifest.json names a file outside of it")
    if REGISTRY_FILE not in files:
        raise Corrupt("the backup's manifest.json does not name a registry")
    return files, folders


def _refuse_filled(folder: Path, what: str) -> None:
    with disk():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Conflict(f"{what} is not empty; choose an empty or a new folder")


def _copy(backup: Callable[[sqlite3.Connection], None], target: Path) -> None:
    with disk():
        create_file(target)
    with translated():
        db = sqlite3.connect(target)
        try:
            backup(db)
        finally:
            db.close()
    _sync(target)


def _sync(path: Path) -> None:
    with disk():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _empty_folders(folder: Path) -> list[Path]:
    return sorted(Path(path) for path, below, names in os.walk(folder) if not below and not names)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
