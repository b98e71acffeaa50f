"""What decisions on knowledge stores rest on: one immutable snapshot, and the port that provides it.

Membership comes from configuration, identity and bindings from the registry (seed 000, Storage layout).
The snapshot is replaced whole, and the access epoch rises afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol

from lorebank.access.audience import GrantAccess
from lorebank.access.reasons import CONFIG_INVALID
from lorebank.clock import Micros

MembershipState = Literal["own", "named", "duplicate", "removed"]
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NamedStore:
    """An entry of the store map."""

    name: str
    label: str
    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """`maintenance.*` as written; `schedule` and `timezone` are checked by the scheduler (seed 002)."""

    enabled: bool = True
    schedule: str = "30 3 * * *"
    timezone: str | None = None
    review_job_id: str | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeSettings:
    """The knowledge configuration; the defaults are those of a file that is not there."""

    stores: Mapping[str, NamedStore] = field(default_factory=lambda: MappingProxyType({}))
    operator_read: bool = False
    writes_enabled: bool = True
    shared_gateway: bool = False
    default_agent: str = "main"
    semantic: bool = False
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)


@dataclass(frozen=True, slots=True)
class ConversationGrant:
    """An owner's grant: the conversations that `session_key` covers reach the agent's private partition."""

    agent: str
    session_key: str
    access: GrantAccess
    granted_by: str
    granted_at: Micros

    def covers(self, session_key: str) -> bool:
        """The key itself, and every key that extends it with `:` (seed 000, Conversation access)."""
        return session_key == self.session_key or session_key.startswith(self.session_key + ":")


def keys_that_cover(session_key: str) -> Iterator[str]:
    """The keys whose grants cover this conversation, the most specific first: `ConversationGrant.covers` for
    many conversations and grants at once."""
    yield session_key
    at = len(session_key)
    while (at := session_key.rfind(":", 0, at)) >= 0:
        yield session_key[:at]


@dataclass(frozen=True, slots=True)
class Membership:
    """Which store is an agent's now. `binding` is `own:<agent>` or `named:<name>`, empty unless `state` is
    own or named; `vault` its id, None while nobody has used it."""

    agent: str
    state: MembershipState
    binding: str = ""
    vault: str | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeData:
    """One consistent view of settings, bindings, grants and the host's report.

    `problem` is there when the configuration or the registry cannot be read: then no agent has a store (fail
    closed); `reason` is the stable code to say with it (`access.reasons`).
    `known` are the agents that the host reports now, None before its first report; `removed` those that
    it once reported and does not any more: they have lost access (statement 1.1.7).
    """

    settings: KnowledgeSettings = field(default_factory=KnowledgeSettings)
    problem: str | None = None
    reason: str = CONFIG_INVALID
    bindings: Mapping[str, str] = field(default_factory=lambda: _NONE)
    grants: Mapping[str, tuple[ConversationGrant, ...]] = field(default_factory=lambda: MappingProxyType({}))
    known: frozenset[str] | None = None
    removed: frozenset[str] = frozenset()

    def membership(self, agent: str) -> Membership:
        """The agent's store by the map (statements 1.1.1-4, 1.1.7)."""
        if agent in self.removed:
            return Membership(agent, "removed")
        named = [store for store in self.settings.stores.values() if agent in store.agents]
        if len(named) > 1:
            return Membership(agent, "duplicate")
        binding = f"named:{named[0].name}" if named else f"own:{agent}"
        return Membership(agent, "named" if named else "own", binding, self.bindings.get(binding))

    def faults(self) -> list[str]:
        """What keeps agents from their stores although these may be whole, each as a sentence."""
        if self.problem is not None:
            return [f"knowledge settings: {self.problem}"]
        listed = [agent for store in self.settings.stores.values() for agent in set(store.agents)]
        twice = sorted(agent for agent, times in Counter(listed).items() if times > 1)
        return [
            f"agent {agent}: is in two named stores; take it out of one"
            for agent in twice
            if agent not in self.removed
        ]

    def grant_for(self, agent: str, session_key: str) -> ConversationGrant | None:
        """The most specific grant that covers the conversation (statements 1.3.26-27)."""
        covering = [one for one in self.grants.get(agent, ()) if one.covers(session_key)]
        return max(covering, key=lambda one: len(one.session_key), default=None)


class KnowledgeFacts(Protocol):
    """Where decisions look things up. Safe from any thread."""

    @property
    def data(self) -> KnowledgeData:
        """The snapshot in force. Notices that the configuration file was edited (one `stat`)."""

    def session_uuid(self, session_id: str, *, record: bool) -> str:
        """The canonical UUID that stands for a host's session id: the id itself when it is a UUID,
        otherwise one that stays the same for ever. `record` writes a new mapping down, durably."""

    def invocation_ended(self, invocation: str) -> bool:
        """Whether the host has reported the end of this run."""
