"""A decided permission. Handles are opened with it and apply what it carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from lorebank.access.policy.values import UNSET, Parameters
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
    RELINK = "relink"
    """The scheduled pass over a knowledge store (seed 002)."""
    CHECK = "check"
    """Look through a knowledge store without changing it."""
    MEND = "mend"
    """Bring a knowledge store's interrupted or conflicted publication to its end."""
    IMPORT = "import"
    """Read records of another store into a new one."""


_SEAL = object()


@dataclass(frozen=True, slots=True)
class Grant:
    """The right of `principal` to do `action` on `bank` (None for actions on the server).

    Made only by `access.resolve`: the constructor refuses without the module's seal, and a
    syntax-tree test refuses other constructions. `filter` restricts which memories and documents
    the holder sees; None means that the rules put no restriction on this grant, decided, not
    forgotten. `parameters` are the merged behavioural parameters. `own_operations` tells that of
    operations the holder sees only those that he started. `user` is the user behind the principal
    (None: nobody). `auto_tags` are the tags that whatever he stores gets; `may_reserve` tells
    whether he may set `user:` and `agent:` tags himself, `may_replace` whether he may store over a
    document that is not marked as his own. `epoch` is the access epoch at which this
    was decided.
    """

    principal: Principal
    action: str
    bank: BankId | None
    filter: TagFilter | None
    epoch: int
    parameters: Parameters = UNSET
    own_operations: bool = False
    user: str | None = None
    auto_tags: tuple[str, ...] = ()
    may_reserve: bool = False
    may_replace: bool = False
    ticket: Ticket | None = None
    seal: object = field(default=None, repr=False, compare=False)

    @property
    def user_tag(self) -> str | None:
        """The tag by which what the holder's user stored is known; None for strangers and the owner."""
        return None if self.user is None else f"user:{self.user}"

    def shows_the_same(self, other: Grant) -> bool:
        """Whether what was read under `other` may be shown under this grant as it is."""
        return (self.filter, self.own_operations, self.parameters, self.user) == (
            other.filter,
            other.own_operations,
            other.parameters,
            other.user,
        )

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise Bug("a Grant can only be made by access.resolve")

    def __reduce__(self) -> str:
        raise Bug("a Grant cannot be copied or pickled")
