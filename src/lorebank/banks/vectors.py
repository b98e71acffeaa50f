"""Vectors are derived: made in the background from the text, never awaited by an acknowledgement.

`build` brings one bank up to date for one model; `VectorBuilder` does that for every bank that has
something to embed. A vector is stored only if its text is still the text it was made from.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import numpy as np

from lorebank.access.grant import Ticket
from lorebank.access.resolve import Resolver
from lorebank.banks import reembed
from lorebank.banks.embedders import ACTIVE_MODEL, Embedders
from lorebank.errors import LorebankError, NotFound, Unavailable
from lorebank.ids import BankId
from lorebank.jobs.turns import Turns
from lorebank.models.service import EmbedService
from lorebank.search import embed_text
from lorebank.storage.ports import BankHandle, Banks

log = logging.getLogger(__name__)

BATCH = 128
_SLICE = 1024
_DEADLINE_S = 120.0
_RETRY_S = 5.0
# While retains follow each other this closely, a full batch waits, but never longer than the second.
_QUIET_S = 0.06
_LONGEST_PACE_S = 1.0


def build(
    handle: BankHandle,
    service: EmbedService,
    stop: threading.Event,
    *,
    most: int | None = None,
    pace: Callable[[], None] = lambda: None,
) -> bool:
    """Embed what has no vector of the service's model yet, oldest first; True when nothing is left.

    `pace` is called before each full batch and may take its time. Ends early when `stop` is set or about
    `most` are made. Raises `Unavailable` when the embedder does not answer: what was stored stays, the
    rest is found again by the next call.
    """
    made = 0
    while not stop.is_set() and (most is None or made < most):
        with handle.read() as reader:
            waiting = reader.missing_vectors(service.model_id, BATCH)
        if not waiting:
            return True
        if len(waiting) == BATCH:
            pace()
        matrix = service.embed_documents([embed_text(w.text, w.previous) for w in waiting], _DEADLINE_S)
        packed = matrix.astype("<f2")
        rows = [(w.key, w.seq, packed[i].tobytes()) for i, w in enumerate(waiting)]
        with handle.write() as writer:
            active = writer.meta(ACTIVE_MODEL)
            if service.model_id not in (active or service.model_id, reembed.target(writer)):
                return False  # the bank has turned to another model meanwhile
            writer.put_vectors(service.model_id, rows)
            if active is None:
                writer.set_meta(ACTIVE_MODEL, service.model_id)
        made += len(rows)
    return False


def unpack(blob: bytes, dimension: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Stored rows as float32, one row a vector."""
    return np.frombuffer(blob, dtype="<f2").reshape(-1, dimension).astype(np.float32)


class VectorBuilder:
    """One thread that builds the vectors of the banks it is told about, in turn.

    `failures` says why a bank's last attempt failed; such a bank is tried again every few seconds.
    """

    def __init__(
        self, banks: Banks, resolver: Resolver, embedders: Embedders, *, retry_s: float = _RETRY_S
    ) -> None:
        self._retry_s = retry_s
        self._banks = banks
        self._resolver = resolver
        self._embedders = embedders
        self._turns = Turns()
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self.failures: dict[BankId, str] = {}
        self._current: BankId | None = None
        self._told = 0.0
        self._busy = True  # until the first look at every bank is over
        self._thread = threading.Thread(target=self._run, name="vectors", daemon=True)

    def start(self) -> None:
        """Begin, with a look at every bank: no note of open work has to survive a kill."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether `start` was called and `close` has not ended the thread."""
        return self._thread.is_alive()

    def notify(self, handle: BankHandle) -> None:
        """Say that the bank has memories without vectors."""
        self._told = time.monotonic()
        self._add(BankId(handle.bank.bank_id))

    def settle(self, handle: BankHandle, timeout_s: float) -> None:
        """Wait until the bank's vectors are complete, at most `timeout_s` seconds; not after a failure."""
        bank = BankId(handle.bank.bank_id)

        def settled() -> bool:
            return bank in self.failures or not (bank in self._turns or bank == self._current)

        with self._changed:
            self._changed.wait_for(settled, timeout_s)

    def drain(self, timeout_s: float) -> bool:
        """Wait until nothing is left to build; False when that takes longer than `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._turns and not self._busy, timeout_s)

    def close(self) -> None:
        """Stop after the batch in hand."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=30)

    def _add(self, bank: BankId) -> None:
        with self._changed:
            self._turns.add(bank)
            self._changed.notify_all()

    def _next(self) -> BankId | None:
        with self._changed:
            while not self._stop.is_set():
                self._current = self._turns.take()
                if self._current is not None:
                    self._busy = True
                    return self._current
                self._changed.wait(self._turns.pause())
            return None

    def _run(self) -> None:
        self._sweep()
        self._rest()
        while (bank := self._next()) is not None:
            self._attempt(bank)
            self._rest()

    def _rest(self) -> None:
        with self._changed:
            self._busy = False
            self._current = None
            self._changed.notify_all()

    def _sweep(self) -> None:
        for row in self._banks.all_rows(self._resolver.ticket(Ticket.RECOVER)):
            if self._stop.is_set():
                return
            self._attempt(BankId(row.bank_id))

    def _attempt(self, bank: BankId) -> None:
        try:
            self._build(bank)
        except NotFound:
            log.info("a bank was deleted while its vectors were built")
        except LorebankError as exc:
            log.warning("vectors wait: %s", exc.message)
            with self._changed:
                self.failures[bank] = exc.message
            self._later(bank)
        except Exception:  # thread edge: one bank must not end the work of all others
            log.exception("vectors of one bank could not be built")
            self._later(bank)

    def _later(self, bank: BankId) -> None:
        with self._changed:
            self._turns.later(bank, self._retry_s)

    def _build(self, bank: BankId) -> None:
        handle = self._banks.open(self._resolver.ticket(Ticket.INDEX, bank))
        with handle.read() as reader:
            stored, aimed = reader.meta(ACTIVE_MODEL), reembed.target(reader)
        self._build_active(handle, stored if isinstance(stored, str) else None)
        if aimed is not None:
            self._approach(handle, aimed)
        with self._changed:
            self.failures.pop(bank, None)

    def _build_active(self, handle: BankHandle, model_id: str | None) -> None:
        service = self._embedders.target if model_id is None else self._embedders.find(model_id)
        if service is None:
            log.warning("vectors of a bank come from %s, which is not configured; run a reembed", model_id)
        elif service.dimension:
            build(handle, service, self._stop, pace=self._pace)

    def _pace(self) -> None:
        """Let a bulk retain go first: acknowledgements come at full speed, then the vectors do."""
        ends = time.monotonic() + _LONGEST_PACE_S
        while (now := time.monotonic()) < min(ends, self._told + _QUIET_S):
            self._stop.wait(min(ends, self._told + _QUIET_S) - now)
            if self._stop.is_set():
                return

    def _approach(self, handle: BankHandle, model_id: str) -> None:
        """One slice of a re-embed, then the next bank's turn: fresh memories elsewhere must not wait."""
        service = self._embedders.find(model_id)
        if service is None:
            raise Unavailable(f"a re-embed to {model_id} waits: that model is not configured")
        build(handle, service, self._stop, most=_SLICE)
        if not reembed.switch(handle, model_id):
            self._add(BankId(handle.bank.bank_id))
