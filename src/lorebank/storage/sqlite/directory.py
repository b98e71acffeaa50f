"""A data directory: opened by one process at a time, brought into order, and the way to everything in it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from lorebank import clock
from lorebank.access.assembling import View
from lorebank.access.audit import AuditEvent, Outcome
from lorebank.access.resolve import Epoch, Resolver
from lorebank.errors import Corrupt, InvalidInput, Unavailable
from lorebank.storage.sqlite.access_store import RegistryAccess
from lorebank.storage.sqlite.audit_file import AUDIT_FILE, AuditFile, adopt, open_audit
from lorebank.storage.sqlite.audit_log import AuditLog
from lorebank.storage.sqlite.backup import Sources, backup_directory, begin_backup
from lorebank.storage.sqlite.banks import SqliteBanks
from lorebank.storage.sqlite.credentials import Credentials
from lorebank.storage.sqlite.files import disk, make_folder, others_may_write, remove_folder
from lorebank.storage.sqlite.lock import DirectoryLock
from lorebank.storage.sqlite.pool import StorePool
from lorebank.storage.sqlite.registry import REGISTRY_FILE, SENTINEL_FILE, Registry
from lorebank.storage.sqlite.root_key import ensure_root

log = logging.getLogger(__name__)
BANKS = "banks"
MAX_OPEN_STORES = 128
_HEAD = "audit_head:"


def _nothing(target: Path) -> None:
    """A backup of the engine's files only."""


class DataDirectory:
    """The opened data directory; made by `open`, left by `close` (or `with`)."""

    def __init__(
        self, path: Path, lock: DirectoryLock, registry: Registry, audit: AuditFile, pool: StorePool
    ) -> None:
        self.path = path
        self._lock = lock
        self._registry = registry
        self._pool = pool
        self._changes = threading.RLock()
        self._audit_file = audit
        self._credentials = Credentials(audit)
        self.audit = AuditLog(audit, self._noted_head)
        self.access = RegistryAccess(registry, self._credentials)
        self.warnings = tuple(self._settle()) + self._cut_off() + _exposed(path)

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
                return cls._with(path, lock, registry, max_open_stores)
            except BaseException:
                registry.close()
                raise
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _with(cls, path: Path, lock: DirectoryLock, registry: Registry, max_open: int) -> DataDirectory:
        audit, begun_anew = open_audit(path, registry)
        try:
            made = cls(path, lock, registry, audit, StorePool(path / BANKS, max_open))
            if begun_anew:
                made._own("begin_audit_log", "note", "the audit log before this one was lost")
            adopt(audit, path, registry)
            made._note_head()
        except BaseException:
            audit.close()
            raise
        return made

    @property
    def epoch(self) -> Epoch:
        """The access epoch of the directory, for the resolver."""
        return self._registry.epoch

    def banks(self, resolver: Resolver) -> SqliteBanks:
        """All banks; `resolver` is asked again before anything is read or committed."""
        return SqliteBanks(self._registry, self._pool, resolver, self._changes)

    def ensure_root(self, user_id: str, key: str | None) -> str | None:
        """See to it that there is a root user with a key; the secret when one was made (see `root_key`)."""
        made, changed = ensure_root(self.access, self.path, user_id, key, clock.now())
        if changed:
            self._own("ensure_root", "done", "", target=user_id)
        return made

    def set_address(self, address: str) -> None:
        """Tell later openers under which address this process serves."""
        self._lock.describe(address)

    def backup(
        self, target: Path, *, root_key: bool = False, first: Callable[[Path], None] = _nothing
    ) -> None:
        """A consistent copy into an empty or missing folder, made while serving (see `backup_directory`).

        `first` puts into it what lies in the directory and is not the engine's. `Conflict` when it is not
        empty.
        """
        begin_backup(target)
        first(target)
        with self._changes:
            self._credentials.flush()
            self._note_head()
            sources = Sources(self.path, self._registry, self._audit_file, self._pool)
            backup_directory(sources, target, root_key=root_key)

    def compact(self) -> None:
        """Leave no byte of what was deleted in registry and audit log; banks have their own `compact`."""
        self._registry.compact()
        self._audit_file.compact()

    def open_stores(self) -> int:
        """How many banks' stores are open now."""
        return self._pool.open_count()

    def check(self) -> list[str]:
        """What is wrong with registry, policies, audit log and its chain, and registry against folders."""
        problems = self._registry.check() + self._audit_file.check()
        problems += [f"access: {text}" for text in View(self.access.data).problems()]
        problems += [f"audit log: {text}" for text in self.audit.verify(_unwatched).problems]
        wanted = {row.store_id: row.bank_id for row in self._registry.all_rows()}
        with disk():
            there = {folder.name for folder in (self.path / BANKS).iterdir()}
        problems += [f"the store of bank '{wanted[id]}' is missing" for id in sorted(wanted.keys() - there)]
        return problems + _strays(there - wanted.keys())

    def close(self) -> None:
        """Close all stores and let other processes in."""
        with ExitStack() as ending:
            for last in (self._lock.release, self._registry.close, self._audit_file.close):
                ending.callback(last)
            self._pool.close()
            self._credentials.close()
            self._note_head()

    def __enter__(self) -> DataDirectory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _own(self, operation: str, outcome: Outcome, reason: str, target: str | None = None) -> None:
        """Write down what the directory did by itself."""
        event = AuditEvent(
            at=clock.now(),
            principal="local:server",
            action="iam:users:write" if outcome == "done" else "audit:begin",
            outcome=outcome,
            operation=operation,
            target=target,
            reason=reason,
        )
        self.audit.record(event, durable=True)

    def _note_head(self) -> None:
        """Let the registry know how far the audit log reaches: a log that ends earlier was cut off.

        What shows that it was is never overwritten.
        """
        try:
            noted, (seq, hash) = self._noted_head(), self.audit.head()
            if noted != (seq, hash) and (noted is None or self.audit.knows(*noted)):
                self._audit_file.sync_all()
                self._registry.set_meta(_HEAD + self._audit_file.uuid, f"{seq}:{hash}")
        except Unavailable as exc:
            log.warning("the registry does not know the end of the audit log: %s", exc.message)

    def _noted_head(self) -> tuple[int, str] | None:
        seq, _, hash = (self._registry.meta(_HEAD + self._audit_file.uuid) or "").partition(":")
        return (int(seq), hash) if hash else None

    def _cut_off(self) -> tuple[str, ...]:
        noted = self._noted_head()
        if noted is None or self.audit.knows(*noted):
            return ()
        return ("the audit log was cut off or replaced; 'lorebank audit verify' says more",)

    def _settle(self) -> list[str]:
        """Remove stores whose making or removal was cut short; say what belongs to no bank."""
        for store_id in self._registry.unsettled():
            remove_folder(self._pool.folder / store_id)
            self._registry.settled(store_id)
        known = {row.store_id for row in self._registry.all_rows()}
        with disk():
            return _strays({folder.name for folder in (self.path / BANKS).iterdir()} - known)


def _unwatched(stage: str, done: int, total: int) -> None:
    """Nobody wants to know how far it is."""


def _strays(names: set[str]) -> list[str]:
    if not names:
        return []
    return [
        f"{len(names)} folders in 'banks' belong to no bank and are left alone: {', '.join(sorted(names))}"
    ]


def _refuse_lost_registry(path: Path) -> None:
    """A registry is never made anew beside what belongs to an old one: that would hide the loss."""
    with disk():
        if (path / REGISTRY_FILE).exists():
            return
        stores = (path / BANKS).is_dir() and any((path / BANKS).iterdir())
        if (path / SENTINEL_FILE).exists() or (path / AUDIT_FILE).exists() or stores:
            raise Corrupt(
                f"{REGISTRY_FILE} of the data directory is missing although data was kept here; bring it "
                "back with 'lorebank restore', or start with another data directory"
            )


def _exposed(path: Path) -> tuple[str, ...]:
    if not others_may_write(path):
        return ()
    return ("other users of this machine can write to the data directory; make it private with chmod 700",)
