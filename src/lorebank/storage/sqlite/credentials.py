"""What is noted of credentials as they are used: ids of gateway tokens, and when each key was last used."""

from __future__ import annotations

import logging
import threading
from collections.abc import Container, Mapping

from lorebank.clock import Micros
from lorebank.errors import LorebankError
from lorebank.storage.sqlite.audit_file import SQL, AuditFile

log = logging.getLogger(__name__)
_FLUSH_SECONDS = 30.0
_PURGE_EVERY = 60_000_000


class Credentials:
    """Token ids are stored at once; uses of keys are kept in memory and written every 30 seconds."""

    def __init__(self, file: AuditFile) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._uses: dict[str, Micros] = dict(file.rows(SQL.key_uses))
        self._unwritten: set[str] = set()
        self._timer: threading.Timer | None = None
        self._closed = False
        self._purged_at: Micros = 0

    def claim(self, token_id: str, digest: str, expires_at: Micros, now: Micros) -> bool:
        """See `AccessStore.claim_token`. One claim at a time: of two at once, exactly one is the first."""
        with self._file.writing() as db:
            if abs(now - self._purged_at) >= _PURGE_EVERY:
                self._purged_at = now
                db.execute(SQL.forget_tokens, {"now": now})
            row = {"id": token_id, "digest": digest, "expires_at": expires_at, "now": now}
            if db.execute(SQL.claim, row).rowcount == 1:
                return True
            return bool(db.execute(SQL.claimed, {"id": token_id}).fetchone()[0] == digest)

    def note_use(self, key_id: str, now: Micros) -> None:
        """Remember the time; never waits for the disk."""
        with self._lock:
            self._uses[key_id] = max(now, self._uses.get(key_id, now))
            self._unwritten.add(key_id)
            if self._timer is None and not self._closed:
                self._timer = threading.Timer(_FLUSH_SECONDS, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def last_uses(self) -> Mapping[str, Micros]:
        """key id -> last use."""
        with self._lock:
            return dict(self._uses)

    def keep_only(self, key_ids: Container[str]) -> None:
        """Forget the uses of keys that are no more."""
        gone = [(key_id,) for key_id in self._uses if key_id not in key_ids]
        if gone:
            with self._file.writing() as db:
                db.executemany(SQL.forget_use, gone)
            for (key_id,) in gone:
                del self._uses[key_id]

    def flush(self) -> None:
        """Write what is only in memory so far; a disk that refuses is for later and keeps nobody out."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            rows = [(key_id, self._uses[key_id]) for key_id in sorted(self._unwritten)]
            self._unwritten.clear()
        if not rows:
            return
        try:
            with self._file.writing() as db:
                db.executemany(SQL.note_use, rows)
        except LorebankError as exc:
            log.warning("the last uses of keys could not be written: %s", exc.message)
            with self._lock:
                self._unwritten.update(key_id for key_id, _ in rows)

    def close(self) -> None:
        """Write the rest; nothing is written after it."""
        with self._lock:
            self._closed = True
        self.flush()
