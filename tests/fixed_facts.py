"""Knowledge facts in memory, for tests that are about decisions and not about registries."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lorebank.access.audience import Audience, GrantAccess
from lorebank.access.audit import AuditEvent
from lorebank.access.knowledge import ConversationGrant, KnowledgeData, KnowledgeSettings, NamedStore
from lorebank.access.principal import Circumstances, Principal
from lorebank.access.resolve import Epoch

NOW = 1_790_000_000_000_000
SECOND = 1_000_000
SESSION = "33333333-3333-4333-8333-333333333333"
GROUP = "agent:main:telegram:group:7"


def named(**stores: tuple[str, ...]) -> Mapping[str, NamedStore]:
    """A store map."""
    return {name: NamedStore(name, name.title(), agents) for name, agents in stores.items()}


def given(key: str, access: GrantAccess, agent: str = "main") -> ConversationGrant:
    """An owner's grant."""
    return ConversationGrant(agent, key, access, "user:root", NOW)


def audience(**changed: object) -> Audience:
    """An owner-private audience of the agent `main`, with what is changed in it."""
    base = Audience("main", "owner-private", None, None, "run-1", NOW + 60 * SECOND)
    return replace(base, **changed)  # type: ignore[arg-type]


def conversation(key: str = GROUP, session: str = SESSION, **changed: object) -> Audience:
    """A conversation's audience."""
    return audience(visibility="conversation", session_key=key, session_id=session, **changed)


def agent(speaks: Audience) -> Principal:
    """The principal that comes with an audience."""
    return Principal("agent", speaks.agent, Circumstances(client=speaks.host), audience=speaks)


@dataclass
class FixedFacts:
    """Holds one snapshot. `recorded` are the session ids that were asked to be written down."""

    data: KnowledgeData = field(default_factory=KnowledgeData)
    epoch: Epoch = field(default_factory=Epoch)
    ended: set[str] = field(default_factory=set)
    recorded: list[str] = field(default_factory=list)

    def session_uuid(self, session_id: str, *, record: bool) -> str:
        if record:
            self.recorded.append(session_id)
        try:
            return str(uuid.UUID(session_id))
        except ValueError:
            return str(uuid.uuid5(uuid.NAMESPACE_URL, session_id))

    def invocation_ended(self, invocation: str) -> bool:
        return invocation in self.ended

    def change(self, **changed: object) -> None:
        """The next snapshot."""
        self.data = replace(self.data, **changed)  # type: ignore[arg-type]
        self.epoch.advance()

    def set(self, **settings: object) -> None:
        """The next snapshot, with other settings."""
        self.change(settings=replace(self.data.settings, **settings))  # type: ignore[arg-type]

    def grant(self, *grants: ConversationGrant) -> None:
        """The next snapshot, with exactly these grants."""
        agents = {one.agent for one in grants}
        self.change(grants={who: tuple(one for one in grants if one.agent == who) for who in agents})


@dataclass
class Recorded:
    """An audit log that remembers."""

    events: list[AuditEvent] = field(default_factory=list)
    durable: list[bool] = field(default_factory=list)

    def record(self, event: AuditEvent, *, durable: bool) -> None:
        self.events.append(event)
        self.durable.append(durable)


def settings(**changed: object) -> KnowledgeData:
    """A snapshot with these settings."""
    return KnowledgeData(replace(KnowledgeSettings(), **changed))  # type: ignore[arg-type]
