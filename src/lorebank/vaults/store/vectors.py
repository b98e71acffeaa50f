"""The thread that makes vectors of records: after questions, after saves, for partitions that are in use.

Nobody waits for it. What a kill leaves undone is found again at the partition's next use.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lorebank.access.audience import Partition
from lorebank.errors import LorebankError, Unavailable
from lorebank.vaults.store.meaning import Made

if TYPE_CHECKING:
    from lorebank.models.service import EmbedService
    from lorebank.vaults.store.pool import RuntimePool
    from lorebank.vaults.store.values import Entry

_log = logging.getLogger(__name__)
BATCH: Final = 64
"""Records that are embedded at once; then another partition has its turn."""
MOST_CHARACTERS: Final = 8_000
"""The beginning of a record that is handed to a model; local models read less."""
_DEADLINE_S: Final = 120.0
_RETRY_S: Final = 5.0
# While saves follow each other this closely a batch waits, but never longer than the second.
_QUIET_S: Final = 0.06
_LONGEST_PACE_S: Final = 1.0

Place = tuple[str, Partition]


@dataclass(frozen=True, slots=True)
class Embedding:
    """The model for records, and whether the configuration asks for meaning now (`semantic`)."""

    service: EmbedService
    wanted: Callable[[], bool]


class VaultVectors:
    """See `meaning.Meaning`. The thread begins with the first partition that it is told of."""

    def __init__(self, embedding: Embedding, pool: RuntimePool, *, retry_s: float = _RETRY_S) -> None:
        self._embedding, self._pool, self._retry_s = embedding, pool, retry_s
        self._waiting: OrderedDict[Place, None] = OrderedDict()
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._busy = False
        self._told = 0.0

    @property
    def model_id(self) -> str:
        """See `Meaning`."""
        return self._embedding.service.model_id

    @property
    def dimension(self) -> int:
        """See `Meaning`."""
        return self._embedding.service.dimension

    @property
    def on(self) -> bool:
        """See `Meaning`."""
        return self.dimension > 0 and self._embedding.wanted()

    def soon(self, vault: str, partition: Partition) -> None:
        """See `Meaning`. What the thread itself looks at tells it nothing new."""
        if threading.current_thread() is self._thread:
            return
        self._told = time.monotonic()
        self._add((vault, partition))

    def drain(self, timeout_s: float) -> bool:
        """Wait until nothing is left to do; False when that takes longer than `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, timeout_s)

    def close(self) -> None:
        """End after the batch in hand."""
        with self._changed:
            self._stop.set()
            self._waiting.clear()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _add(self, place: Place) -> None:
        with self._changed:
            if self._stop.is_set():
                return
            self._waiting[place] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="vault-vectors", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _next(self) -> Place | None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._stop.is_set())
            if self._stop.is_set():
                return None
            self._busy = True
            return self._waiting.popitem(last=False)[0]

    def _run(self) -> None:
        while (place := self._next()) is not None:
            self._pace()
            try:
                if self._turn(*place):
                    self._add(place)
            except LorebankError as exc:
                # Whatever is wrong with a store is told to who uses it, and the next use comes back here.
                _log.info("vectors of knowledge store %s wait: %s", place[0], exc.message)
            except Exception:  # thread edge: one store must not end the work for all others
                _log.exception("vectors of knowledge store %s could not be made", place[0])

    def _turn(self, vault: str, partition: Partition) -> bool:
        """One batch; whether there may be more. Between its two visits the store may go on, or be closed."""
        if not self.on or not self._pool.is_open(vault):
            return False
        with self._pool.using(vault) as runtime:
            lacking = runtime.lacking(partition, BATCH)
        if not lacking:
            return False
        made = self._made(lacking)
        if made and self._pool.is_open(vault):
            with self._pool.using(vault) as runtime:
                runtime.take_vectors(partition, self.model_id, made)
        return not made or len(lacking) == BATCH

    def _made(self, lacking: Sequence[tuple[Entry, str]]) -> list[Made]:
        """Their vectors; none, after a pause, when the model does not answer."""
        texts = [text[:MOST_CHARACTERS] for _, text in lacking]
        try:
            matrix = self._embedding.service.embed_documents(texts, _DEADLINE_S)
        except Unavailable as exc:
            _log.warning("vectors of knowledge wait: %s", exc.message)
            self._stop.wait(self._retry_s)
            return []
        rows = matrix.astype("<f2")
        return [Made(one.key, one.sha256, row.tobytes()) for (one, _), row in zip(lacking, rows, strict=True)]

    def _pace(self) -> None:
        """Let saves that follow each other go first."""
        ends = time.monotonic() + _LONGEST_PACE_S
        while (now := time.monotonic()) < min(ends, self._told + _QUIET_S):
            if self._stop.wait(min(ends, self._told + _QUIET_S) - now):
                return
