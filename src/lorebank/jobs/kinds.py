"""What a worker knows of a kind of job: its action, its deadline, and the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lorebank.errors import Conflict
from lorebank.storage.ports import BankHandle, BankWriter
from lorebank.storage.rows import Operation


@dataclass(frozen=True, slots=True)
class Job:
    """A leased operation: its bank, opened for the principal that asked for it, and the lease's token.

    Work must note its progress in the transaction that stores it, through `checkpoint`.
    """

    handle: BankHandle
    operation: Operation
    token: int

    def checkpoint(self, writer: BankWriter, stage: str, processed: int, total: int) -> None:
        """Note progress in the caller's transaction; `Conflict`, so that it rolls back, without the lease."""
        if not writer.progress(self.operation.id, self.token, stage, processed, total):
            raise Conflict("the operation was cancelled or taken over")


@dataclass(frozen=True, slots=True)
class JobKind:
    """`name` is the operation's type, `action` what its principal must be allowed when it runs.

    `run` returns the operation's result. It raises `Conflict` when the lease is lost, `Unavailable`
    for what may work later (it is tried again), any other `LorebankError` for what never will.
    `deadline_s` is how long one attempt may take.
    """

    name: str
    action: str
    run: Callable[[Job], Mapping[str, Any]]
    deadline_s: float = 3600.0
