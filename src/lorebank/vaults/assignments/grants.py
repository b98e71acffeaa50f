"""Conversation access: which group or channel conversation reaches its agent's private partition (seed 000).

A grant is by session key and says read, or read and save; never save alone. It works also where no known
session has its key: access depends on the audience's key only, and the host's report is for listings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast, get_args

from lorebank import clock
from lorebank.access.audience import GrantAccess
from lorebank.access.knowledge import ConversationGrant, keys_that_cover
from lorebank.errors import BadRequest, InvalidInput, StoreUnavailable
from lorebank.ids import MAX_SESSION_KEY_BYTES, check_id
from lorebank.storage.knowledge_ports import ConversationRow, KnowledgeRegistry
from lorebank.vaults.assignments.facts import VaultFacts
from lorebank.vaults.assignments.operator import Operator, check_agent

UNKNOWN_MARK: Final = "No known conversation"
"""How a grant is marked that covers no session of the host's report (statement 1.3.33)."""
REVOKED_NOTE: Final = (
    "Future reads and saves stop now. What the conversation has already retrieved cannot be taken back."
)
"""What every answer to a revocation says (statement 1.3.35)."""


@dataclass(frozen=True, slots=True)
class GrantLine:
    """A grant with its mark, None when a known session is covered."""

    grant: ConversationGrant
    mark: str | None


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """A group or channel conversation that can be chosen, and the grant that covers it now."""

    conversation: ConversationRow
    grant: ConversationGrant | None


class Grants:
    """Set, drop and list; each needs the agent within the operator's role."""

    def __init__(self, facts: VaultFacts, registry: KnowledgeRegistry) -> None:
        self._facts = facts
        self._registry = registry

    def set(self, operator: Operator, agent: str, session_key: str, access: str) -> ConversationGrant:
        """In force when this returns. `InvalidInput` for anything but read and read-and-save."""
        agent = check_agent(agent)
        operator.check([agent])
        if access not in get_args(GrantAccess):
            raise InvalidInput(
                "access must be 'read' or 'read-and-save'; there is no grant to save only, because what a "
                "save answers would show the private records to a conversation that may not read them"
            )
        key = check_session_key(session_key)
        grant = ConversationGrant(agent, key, cast(GrantAccess, access), operator.by, clock.now())
        self._registry.set_grant(grant)
        return grant

    def drop(self, operator: Operator, agent: str, session_key: str) -> bool:
        """Whether there was one. See `REVOKED_NOTE`."""
        agent = check_agent(agent)
        operator.check([agent])
        return self._registry.drop_grant(agent, session_key)

    def granted(self, operator: Operator, agent: str) -> list[GrantLine]:
        """An agent's, by key."""
        agent = check_agent(agent)
        operator.check([agent])
        rows = self._registry.conversations(agent)
        known = {key for row in rows for key in keys_that_cover(row.session_key)}
        return [
            GrantLine(grant, None if grant.session_key in known else UNKNOWN_MARK)
            for grant in self._registry.grants()
            if grant.agent == agent
        ]

    def conversations(self, operator: Operator, agent: str) -> list[ConversationLine]:
        """The group and channel conversations of an agent that the host has reported, by key."""
        agent = check_agent(agent)
        operator.check([agent])
        data = self._facts.data
        if data.problem is not None:
            raise StoreUnavailable(data.reason, data.problem)
        given = {grant.session_key: grant for grant in data.grants.get(agent, ())}
        return [
            ConversationLine(row, next(filter(None, map(given.get, keys_that_cover(row.session_key))), None))
            for row in self._registry.conversations(agent)
            if row.kind != "direct"
        ]


def check_session_key(value: str) -> str:
    """`value` exactly as it is (keys are compared byte for byte) when it can be a session key."""
    try:
        check_id(value, "session_key", max_bytes=MAX_SESSION_KEY_BYTES)
    except BadRequest as exc:
        raise InvalidInput(exc.message, cause=exc) from exc
    if len(value.encode("utf-8")) > MAX_SESSION_KEY_BYTES:  # longer than in NFC, which check_id measures
        raise InvalidInput(f"session_key must be at most {MAX_SESSION_KEY_BYTES} bytes of UTF-8")
    return value
