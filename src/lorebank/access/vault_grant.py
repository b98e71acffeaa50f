"""A decided permission on one partition of one knowledge store. Vault handles are opened with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from lorebank.access.actions import KNOWLEDGE_READ, KNOWLEDGE_RECALL, KNOWLEDGE_SAVE
from lorebank.access.audience import Partition
from lorebank.access.grant import Ticket
from lorebank.access.principal import Principal
from lorebank.errors import Bug

Via = Literal["owner", "conversation", "granted", "operator", "ticket"]

_OPENING = frozenset({KNOWLEDGE_READ, KNOWLEDGE_RECALL, KNOWLEDGE_SAVE})
_SEAL = object()


@dataclass(frozen=True, slots=True)
class VaultGrant:
    """The right of `principal` to do `action` in `partition` of the store behind `binding`.

    Made only by `access.vault_resolve` (seal and syntax-tree test, as for `Grant`). `agent` is the agent
    whose store it is: the writing agent that history names, empty for tickets. `vault` is None while the
    store does not exist; `may_create` tells that this use may make it; `may_save` that its holder may
    write records here, whichever the action is: only `knowledge:save` and tickets do. `via` says by which
    row of the authority table it was decided. `epoch` is the access epoch of the decision, `basis` the
    facts that it rests on, which tell by their identity that nothing has changed.
    """

    principal: Principal
    action: str
    agent: str
    binding: str
    vault: str | None
    partition: Partition
    may_save: bool
    may_create: bool
    via: Via
    epoch: int
    ticket: Ticket | None = None
    basis: object = field(default=None, repr=False, compare=False)
    seal: object = field(default=None, repr=False, compare=False)

    @property
    def opens(self) -> bool:
        """Whether a partition may be opened with it. The right to assign stores reads none of them."""
        return self.ticket is not None or self.action in _OPENING

    @property
    def publishes(self) -> bool:
        """Whether records may be written with it: the right to, and an action that is for it."""
        return self.may_save and (self.ticket is not None or self.action == KNOWLEDGE_SAVE)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise Bug("a VaultGrant can only be made by access.vault_resolve")

    def __reduce__(self) -> str:
        raise Bug("a VaultGrant cannot be copied or pickled")
