"""A decided permission. Handles are opened with it and apply what it carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from lorebank.access.principal import Principal
from lorebank.errors import Bug
from lorebank.ids import BankId
from lorebank.tags import TagFilter


class Ticket(Enum):
    """The purposes for which work without a caller may open a handle (DESIGN, Access)."""

    INDEX = "index"
    """Load a bank's search index and build missing vectors."""
    RECOVER = "recover"
    """Bring jobs back that a dead process left behind."""
    MAINTAIN = "maintain"
    """doctor, backup and migration by the owner of the data directory."""


_SEAL = object()


@dataclass(frozen=True, slots=True)
class Grant:
    """The right of `principal` to do `action` on `bank` (None for actions on the server).

    Made only by `access.resolve`: the constructor refuses without the module's seal, and a
    syntax-tree test refuses other constructions. `filter` restricts which memories and documents
    the holder sees; None means that the rules put no restriction on this grant, decided, not
    forgotten. `parameters` are the merged behavioural parameters (budget, max tokens, tags, …).
    `epoch` is the access epoch at which this was decided.
    """

    principal: Principal
    action: str
    bank: BankId | None
    filter: TagFilter | None
    epoch: int
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    ticket: Ticket | None = None
    seal: object = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise Bug("a Grant can only be made by access.resolve")

    def __reduce__(self) -> str:
        raise Bug("a Grant cannot be copied or pickled")
