"""The stores and partitions that a pass visits, and how it gets in: with a ticket that serves relink only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from lorebank.access.audience import Partition
from lorebank.access.grant import Ticket
from lorebank.access.vault_grant import VaultGrant
from lorebank.access.vault_resolve import VaultResolver

if TYPE_CHECKING:
    from lorebank.vaults.store.values import VaultHandle


class Visits(Protocol):
    """Where a pass goes. Nothing here makes a store or a partition."""

    def partitions(self, vault: str) -> Sequence[Partition]:
        """The partitions that the store has, the private one first. Raises as `open` does."""

    def open(self, vault: str, binding: str, partition: Partition) -> VaultHandle:
        """`NotCreated` when there is none, `StoreUnavailable` when it cannot be trusted."""


class OpenedVaults(Protocol):
    """The part of the knowledge stores that a pass needs."""

    def partitions(self, vault: str) -> Sequence[Partition]: ...

    def open(self, grant: VaultGrant) -> VaultHandle: ...


class TicketVisits:
    """Visits with tickets. `binding` is empty for a store that nothing is bound to."""

    def __init__(self, vaults: OpenedVaults, resolver: VaultResolver) -> None:
        self._vaults = vaults
        self._resolver = resolver

    def partitions(self, vault: str) -> Sequence[Partition]:
        """See `Visits`."""
        return self._vaults.partitions(vault)

    def open(self, vault: str, binding: str, partition: Partition) -> VaultHandle:
        """See `Visits`."""
        return self._vaults.open(self._resolver.ticket(Ticket.RELINK, binding, vault, partition))
