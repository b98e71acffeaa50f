"""The stored access directory: one snapshot in memory, one change at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from lorebank.access.directory import AccessData, Check
from lorebank.clock import Micros
from lorebank.storage.sqlite.access_data import SQL, load_all
from lorebank.storage.sqlite.access_writer import SqlAccessWriter
from lorebank.storage.sqlite.credentials import Credentials
from lorebank.storage.sqlite.registry import Registry


class RegistryAccess:
    """An `AccessStore`; the port's docstrings are the contract."""

    def __init__(self, registry: Registry, credentials: Credentials) -> None:
        self._registry = registry
        self._credentials = credentials
        with registry.locked() as db:
            self._data = load_all(db)
        credentials.keep_only(self._data.keys_by_id)

    @property
    def data(self) -> AccessData:
        return self._data

    @contextmanager
    def change(self, check: Check) -> Iterator[SqlAccessWriter]:
        with self._registry.locked():
            with self._registry.changing() as db:
                before = self._data
                if db.execute(SQL.epoch).fetchone()[0] != before.epoch:
                    # A commit that was reported as failed had happened after all.
                    before = load_all(db)
                writer = SqlAccessWriter(db, before)
                yield writer
                after = writer.data()
                check(before, after)
                if after is not before:
                    db.execute(SQL.raise_epoch)
            if after is not self._data:
                # In this order: whoever sees the new epoch is sure to decide by the new rules.
                self._data = after
                self._registry.epoch.advance()

    def note_use(self, key_id: str, now: Micros) -> None:
        self._credentials.note_use(key_id, now)

    def last_uses(self) -> Mapping[str, Micros]:
        return self._credentials.last_uses()

    def claim_token(self, token_id: str, body_digest: str, expires_at: Micros, now: Micros) -> bool:
        return self._credentials.claim(token_id, body_digest, expires_at, now)

    def meta(self, name: str) -> str | None:
        """A small value beside the directory."""
        return self._registry.meta(name)
