"""A data directory: opened by one process at a time, brought into order, and the way to everything in it."""

from __future__ import annotations

import threading
from pathlib import Path

from lorebank.access.resolve import Epoch, Resolver
from lorebank.errors import Corrupt, InvalidInput
from lorebank.storage.sqlite.backup import backup_directory
from lorebank.storage.sqlite.banks import SqliteBanks
from lorebank.storage.sqlite.files import disk, make_folder, others_may_write, remove_folder
from lorebank.storage.sqlite.keys import RegistryKeys
from lorebank.storage.sqlite.lock import DirectoryLock
from lorebank.storage.sqlite.pool import StorePool
from lorebank.storage.sqlite.registry import REGISTRY_FILE, SENTINEL_FILE, Registry

BANKS = "banks"
MAX_OPEN_STORES = 128


class DataDirectory:
    """The opened data directory; made by `open`, left by `close` (or `with`)."""

    def __init__(self, path: Path, lock: DirectoryLock, registry: Registry, pool: StorePool) -> None:
        self.path = path
        self._lock = lock
        self._registry = registry
        self._pool = pool
        self._changes = threading.RLock()
        self.keys = RegistryKeys(registry, path)
        self.warnings = tuple(self._settle()) + _exposed(path)

    @classmethod
    def open(cls, path: Path, *, address: str = "", max_open_stores: int = MAX_OPEN_STORES) -> DataDirectory:
        """Open the directory, made when missing, and finish or undo what a kill left half done.

        `address` is what a second opener is told. Raises `Conflict` when another process has it or
        a newer version wrote it, `Corrupt` when its registry is lost, `Unavailable` when the disk
        refuses.
        """
        if max_open_stores < 1:
            raise InvalidInput("max_open_stores must be at least 1")
        make_folder(path)
        lock = DirectoryLock(path, address)
        try:
            _refuse_lost_registry(path)
            make_folder(path / BANKS)
            with disk():
                registry = Registry(path)
            try:
                return cls(path, lock, registry, StorePool(path / BANKS, max_open_stores))
            except BaseException:
                registry.close()
                raise
        except BaseException:
            lock.release()
            raise

    @property
    def epoch(self) -> Epoch:
        """The access epoch of the directory, for the resolver."""
        return self._registry.epoch

    def banks(self, resolver: Resolver) -> SqliteBanks:
        """All banks; `resolver` is asked again before anything is read or committed."""
        return SqliteBanks(self._registry, self._pool, resolver, self._changes)

    def ensure_root(self, user_id: str, key: str | None) -> str | None:
        """See to it that there is a root key (see `RegistryKeys.ensure_root`)."""
        return self.keys.ensure_root(user_id, key)

    def set_address(self, address: str) -> None:
        """Tell later openers under which address this process serves."""
        self._lock.describe(address)

    def backup(self, target: Path, *, root_key: bool = False) -> None:
        """A consistent copy into an empty or missing folder, made while serving (see `backup_directory`)."""
        with self._changes:
            backup_directory(self.path, target, self._registry, self._pool, root_key=root_key)

    def compact(self) -> None:
        """Leave no byte of deleted banks in the registry; each bank has a `compact` of its own."""
        self._registry.compact()

    def open_stores(self) -> int:
        """How many banks' stores are open now."""
        return self._pool.open_count()

    def check(self) -> list[str]:
        """What is wrong with the registry, and with it against the folders of the stores."""
        problems = self._registry.check()
        wanted = {row.store_id: row.bank_id for row in self._registry.all_rows()}
        with disk():
            there = {folder.name for folder in (self.path / BANKS).iterdir()}
        problems += [f"the store of bank '{wanted[id]}' is missing" for id in sorted(wanted.keys() - there)]
        return problems + _strays(there - wanted.keys())

    def close(self) -> None:
        """Close all stores and let other processes in."""
        self._pool.close()
        self._registry.close()
        self._lock.release()

    def __enter__(self) -> DataDirectory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _settle(self) -> list[str]:
        """Remove stores whose making or removal was cut short; say what belongs to no bank."""
        for store_id in self._registry.unsettled():
            remove_folder(self._pool.folder / store_id)
            self._registry.settled(store_id)
        known = {row.store_id for row in self._registry.all_rows()}
        with disk():
            return _strays({folder.name for folder in (self.path / BANKS).iterdir()} - known)


def _strays(names: set[str]) -> list[str]:
    if not names:
        return []
    return [
        f"{len(names)} folders in 'banks' belong to no bank and are left alone: {', '.join(sorted(names))}"
    ]


def _refuse_lost_registry(path: Path) -> None:
    """A registry is never made anew beside the stores of an old one: that would hide the loss."""
    with disk():
        if (path / REGISTRY_FILE).exists():
            return
        stores = (path / BANKS).is_dir() and any((path / BANKS).iterdir())
        if (path / SENTINEL_FILE).exists() or stores:
            raise Corrupt(
                f"{REGISTRY_FILE} of the data directory is missing although banks were kept here; bring it "
                "back with 'lorebank restore', or start with another data directory"
            )


def _exposed(path: Path) -> tuple[str, ...]:
    if not others_may_write(path):
        return ()
    return ("other users of this machine can write to the data directory; make it private with chmod 700",)
