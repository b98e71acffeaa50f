"""For whom an agent speaks: what a host vouches for in an audience token, and the partition that follows.

Seed 000, Caller authority: lorebank never looks at session rows, chat metadata or spawn lineage. The host
resolves those and says the result here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lorebank.clock import Micros

Visibility = Literal["owner-private", "conversation"]
GrantAccess = Literal["read", "read-and-save"]


@dataclass(frozen=True, slots=True)
class Audience:
    """A verified audience.

    For a spawned child the host delegates the root's audience: then `visibility`, `session_key` and
    `session_id` are the root's, and `delegated` is true. `session_key` and `session_id` are always there
    for `conversation`; `session_id` as the host has it, which may be no UUID and is never used as a path.
    `invocation` names the run of the agent: once its end is reported, nothing more is done for it.
    `sandboxed` callers are refused everything. Nothing is done for it after `expires_at` (UTC).
    """

    agent: str
    visibility: Visibility
    session_key: str | None
    session_id: str | None
    invocation: str
    expires_at: Micros
    sandboxed: bool = False
    delegated: bool = False
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition of a store: the private one, or that of a conversation (`session`: canonical UUID)."""

    session: str | None = None

    @property
    def folder(self) -> str:
        """Its folder below `vault/`, with `/`."""
        return "private" if self.session is None else f"conversations/{self.session}"

    @property
    def scope(self) -> dict[str, Any]:
        """The `scope` that every record in it carries (seed 000, Partitions)."""
        if self.session is None:
            return {"visibility": "private"}
        return {"visibility": "conversation", "sessionId": self.session}


PRIVATE = Partition()


def run_of_host(host: str, invocation: str) -> str:
    """The name of a run that only this host has; no run's own name has a control character."""
    return f"{invocation}\x1f{host}"
