"""The one table of operations: every HTTP route, command and tool is bound to an entry here.

An entry says which action a caller needs, on what, and which function does the work. `guard`
is the only caller of handlers: without a resolved grant there is nothing to call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from lorebank.access.actions import AUDIENCE_ONLY, on_agents, writes
from lorebank.errors import Bug


class Scope(Enum):
    """What an operation's action is decided on."""

    PUBLIC = "public"
    """No credential needed: health and version."""
    SERVER = "server"
    """The server as a whole; the handler gets a grant."""
    LISTING = "listing"
    """The list of banks: every caller gets a grant, and each bank is decided by itself."""
    BANK = "bank"
    """One existing bank; the handler gets an opened handle."""
    NEW_BANK = "new_bank"
    """One bank that is made when missing; the handler gets an opened handle."""
    BANK_NAME = "bank_name"
    """One bank by name, existing or not; the handler gets a grant (delete, create, aliases)."""
    AUDIENCE = "audience"
    """The partition that an agent's audience reaches; the handler gets it opened (`Call.vault`)."""
    AGENT = "agent"
    """One agent, named by the parameter `agent_id`, or the default one, for an operator. The handler gets a
    vault grant; one that reads opens the partition with `Call.open_vault`."""
    AGENTS = "agents"
    """The list of agents, for operators: each one is decided by itself (`VaultResolver.may`)."""


ON_VAULTS = frozenset({Scope.AUDIENCE, Scope.AGENT, Scope.AGENTS})
"""What `access.vault_resolve` decides."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that lorebank can do.

    `name` is the wire's operation id; `action` is the permission it needs (empty only for PUBLIC);
    `handler` takes a `Call` and returns the JSON-ready answer. `check` is for NEW_BANK: it refuses a
    request for a bank that does not exist yet, so that no bank is made for nothing. `reads` says that it
    changes nothing although its action may: a list of what the action changes.
    """

    name: str
    action: str
    scope: Scope
    handler: Callable[..., Any]
    check: Callable[..., None] | None = None
    reads: bool = False

    @property
    def writing(self) -> bool:
        """Whether it may change something: audited durably before it begins, and once more at its end. What
        reads has one row, and is confirmed right before it is sent."""
        return not self.reads and writes(self.action)

    def __post_init__(self) -> None:
        if (self.scope is Scope.PUBLIC) == bool(self.action):
            raise Bug(f"operation '{self.name}' must declare an action unless it is public")
        if (self.scope is Scope.AUDIENCE) != (self.action in AUDIENCE_ONLY):
            raise Bug(f"operation '{self.name}' must be decided by an audience, or by policies")
        if self.scope in ON_VAULTS and not on_agents(self.action):
            raise Bug(f"operation '{self.name}' is decided on agents, and its action is not")


def table(*groups: Mapping[str, Operation] | tuple[Operation, ...]) -> dict[str, Operation]:
    """All operations by name; a name given twice or a missing action fails at start-up."""
    found: dict[str, Operation] = {}
    for group in groups:
        members = group.values() if isinstance(group, Mapping) else group
        for operation in members:
            if operation.name in found:
                raise Bug(f"operation '{operation.name}' is declared twice")
            found[operation.name] = operation
    return found
