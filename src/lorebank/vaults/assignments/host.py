"""What the gateway reports: its agents, its conversations, the end of a run.

The report feeds listings, and takes access from agents that are gone; it never gives any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lorebank import clock
from lorebank.access.audience import run_of_host
from lorebank.errors import BadRequest, InvalidInput
from lorebank.ids import check_id
from lorebank.storage.knowledge_ports import ConversationRow, KnowledgeRegistry
from lorebank.vaults.assignments.grants import check_session_key
from lorebank.vaults.assignments.operator import check_agent

CONVERSATION_KINDS: Final = ("direct", "group", "channel")
MAX_AGENTS: Final = 10_000
MAX_CONVERSATIONS: Final = 100_000
INVOCATION_MEMORY: Final = 2 * 86_400 * 1_000_000
"""Microseconds that the end of a run is remembered at least: no audience token lives that long."""


@dataclass(frozen=True, slots=True)
class Reported:
    """How many of each the report held, and which agents have lost access by it or earlier ones."""

    agents: int
    conversations: int
    removed: tuple[str, ...]


class Host:
    """The gateway's side."""

    def __init__(self, registry: KnowledgeRegistry) -> None:
        self._registry = registry

    def report(self, agents: Sequence[str], conversations: Sequence[Mapping[str, Any]]) -> Reported:
        """Replace the last report. Each conversation: agent, sessionKey, kind, label or none.

        `InvalidInput` names the wrong entry; then the last report stays.
        """
        if len(agents) > MAX_AGENTS or len(conversations) > MAX_CONVERSATIONS:
            raise InvalidInput(
                f"a report holds at most {MAX_AGENTS} agents and {MAX_CONVERSATIONS} conversations"
            )
        names = dict.fromkeys(check_agent(agent, f"agents[{i}]") for i, agent in enumerate(agents))
        now = clock.now()
        rows = {}
        for i, one in enumerate(conversations):
            row = _conversation(one, f"conversations[{i}]", now)
            if row.agent not in names:
                raise InvalidInput(f"conversations[{i}].agent must be one of the agents of this report")
            rows[row.agent, row.session_key] = row
        self._registry.report_host(list(names), list(rows.values()), now)
        return Reported(len(names), len(rows), tuple(sorted(self._registry.host_agents()[1])))

    def end_invocation(self, invocation: str, host: str | None = None) -> None:
        """The run is over: its work stops at the next check, and its tokens open nothing any more. With
        `host` only the run of that name in tokens of that host, otherwise in all tokens."""
        try:
            name = check_id(invocation, "invocation", max_bytes=1024)
            if host is not None:
                name = run_of_host(check_id(host, "host", max_bytes=512), name)
        except BadRequest as exc:
            raise InvalidInput(exc.message, cause=exc) from exc
        self._registry.end_invocation(name, clock.now() + INVOCATION_MEMORY)


def _conversation(one: Mapping[str, Any], here: str, now: int) -> ConversationRow:
    agent, key, kind = one.get("agent"), one.get("sessionKey"), one.get("kind")
    if not isinstance(agent, str) or not isinstance(key, str):
        raise InvalidInput(f"{here} must have agent and sessionKey, both texts")
    if kind not in CONVERSATION_KINDS:
        raise InvalidInput(f"{here}.kind must be one of: {', '.join(CONVERSATION_KINDS)}")
    label = one.get("label")
    if label is not None and not isinstance(label, str):
        raise InvalidInput(f"{here}.label must be a text or null")
    return ConversationRow(check_agent(agent, f"{here}.agent"), check_session_key(key), kind, label, now)
