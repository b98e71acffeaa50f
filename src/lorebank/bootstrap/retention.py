"""Old rows of the audit log go, where a setting says for how long they are kept."""

from __future__ import annotations

import logging
import threading

from lorebank.clock import Clock, now
from lorebank.errors import LorebankError
from lorebank.service.context import AuditLog

log = logging.getLogger(__name__)
_DAY_S = 86_400.0
_MICROS_A_DAY = 86_400_000_000


class Retention:
    """Trims the audit log when it starts and once a day. `days` 0 keeps everything: then nothing runs."""

    def __init__(self, audit: AuditLog, days: int, clock: Clock = now, every_s: float = _DAY_S) -> None:
        self._audit = audit
        self._days = days
        self._clock = clock
        self._every_s = every_s
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin in the background; a server does not wait for it."""
        if self._days > 0 and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="audit-retention", daemon=True)
            self._thread.start()

    def close(self, timeout_s: float = 5.0) -> None:
        """End; a trim that is going on is waited for."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def trim(self) -> int:
        """Remove what is older than the setting allows; how many rows went."""
        return self._audit.trim(self._clock() - self._days * _MICROS_A_DAY)

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self.trim()
            except LorebankError as exc:
                log.warning("the audit log could not be trimmed: %s", exc.message)
            self._closing.wait(self._every_s)
