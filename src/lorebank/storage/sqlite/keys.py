"""API keys in the registry, and the root key that the first start makes."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from lorebank.access.authenticate import StoredKey, digest, new_user_key
from lorebank.storage.sqlite.files import disk, remove_file, write_private
from lorebank.storage.sqlite.registry import SQL, Registry

ROOT_KEY_FILE = "root.key"


class RegistryKeys:
    """The `Keys` of authentication. Only digests are stored; all are kept in memory."""

    def __init__(self, registry: Registry, folder: Path) -> None:
        self._registry = registry
        self._file = folder / ROOT_KEY_FILE
        self._lock = threading.Lock()
        self._keys = self._read()

    def active_keys(self) -> Iterable[StoredKey]:
        """All keys that may authenticate at this moment."""
        return self._keys

    def ensure_root(self, user_id: str, key: str | None) -> str | None:
        """See to it that there is a root key; the secret when one was made now, otherwise None.

        A given `key` replaces the stored one. Without one the first start makes a key and puts it
        into `root.key`; later starts keep what there is. A `root.key` that no longer opens
        anything is removed.
        """
        with self._lock:
            made = self._ensure(user_id, key)
            self._keys = self._read()
            self._remove_outdated_file()
            return made

    def _ensure(self, user_id: str, key: str | None) -> str | None:
        root = next((stored for stored in self._keys if stored.root), None)
        if key is not None:
            if root is None or (root.digest, root.user_id) != (digest(key), user_id):
                self._replace(user_id, key)
            return None
        if root is None:
            made = new_user_key()
            # The file first: a key that is stored but written nowhere would lock its owner out.
            write_private(self._file, made + "\n")
            self._replace(user_id, made)
            return made
        if root.user_id != user_id:
            with self._registry.changing(access=True) as db:
                db.execute(SQL.rename_root, {"user_id": user_id})
        return None

    def _replace(self, user_id: str, key: str) -> None:
        with self._registry.changing(access=True) as db:
            db.execute(SQL.delete_root_keys)
            db.execute(SQL.insert_key, {"digest": digest(key), "user_id": user_id, "root": 1})

    def _remove_outdated_file(self) -> None:
        with disk():
            written = self._file.read_text().strip() if self._file.exists() else None
        if written is not None and digest(written) not in {stored.digest for stored in self._keys}:
            remove_file(self._file)

    def _read(self) -> tuple[StoredKey, ...]:
        return tuple(
            StoredKey(user, stored, bool(root)) for user, stored, root in self._registry.stored_keys()
        )
