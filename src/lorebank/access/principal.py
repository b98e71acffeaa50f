"""Who is asking. A principal is a value that can be stored with a job and resolved again later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from lorebank.access.audience import Audience
from lorebank.errors import Bug, Corrupt

PrincipalKind = Literal["user", "service_account", "unmapped", "local", "agent"]
_STORED = frozenset(get_args(PrincipalKind)) - {"agent"}
UNMAPPED = "_unmapped"
"""The id of every sender that no user is mapped to (seed 001, Public access)."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a gateway token claims about the conversation. All None for API keys.

    `provider` is the message provider (telegram, slack, web), `channel` the channel's type or id,
    `topic` the topic or thread, `agent` the agent that asks, `sender` the raw `provider:id`,
    `client` the gateway that made the token.
    """

    provider: str | None = None
    channel: str | None = None
    topic: str | None = None
    agent: str | None = None
    sender: str | None = None
    client: str | None = None

    def to_json(self) -> dict[str, str]:
        """The claims that are there."""
        pairs = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: value for name, value in pairs if value is not None}


NOWHERE = Circumstances()


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller.

    `user` (`id` is the user's), `service_account` (the account's), `unmapped` (a gateway's sender
    without a user; `id` is `_unmapped`), `agent` (a host's agent; what it may do follows from its
    `audience` alone, which only an agent has) or `local`: the owner of the data directory, who works
    without a server or with one started with `--no-auth`, and may do everything.

    `credential` names the API key that was used, so that its revocation reaches requests in
    flight; None for tokens, jobs and `local`. `by_token` tells whether a gateway vouches for it.
    `keyless` tells that a `local` came over the network to a server that asks nobody for a key: it
    need not be the owner (see `access.vault_resolve`).
    """

    kind: PrincipalKind
    id: str
    circumstances: Circumstances = field(default=NOWHERE)
    credential: str | None = None
    by_token: bool = False
    keyless: bool = False
    audience: Audience | None = None

    @property
    def name(self) -> str:
        """The stable name for audit rows and ownership: equal names are the same caller."""
        match self.kind:
            case "user":
                return f"user:{self.id}"
            case "service_account":
                return f"sa:{self.id}"
            case "unmapped":
                return f"unmapped:{self.circumstances.sender or ''}"
            case "local":
                return f"local:{self.id}"
            case "agent":
                return f"agent:{self.id}"

    def to_json(self) -> dict[str, Any]:
        """The form that is stored with a job. The credential stays out: jobs outlive keys, and the
        rights are looked up again when the job runs. No job runs for an agent: its audience ends with
        the invocation that it was made for, and there is nothing to look up again (seed 000)."""
        if self.kind == "agent":
            raise Bug("an agent's audience cannot be stored; no job runs for an agent")
        made: dict[str, Any] = {"kind": self.kind, "id": self.id, "name": self.name}
        claims = self.circumstances.to_json()
        if claims:
            made["claims"] = claims
        if self.by_token:
            made["by_token"] = True
        return made


def principal_from_json(data: Mapping[str, Any] | None) -> Principal:
    """The stored principal; `Corrupt` when it is missing or malformed, never a default identity."""
    if data is None or data.get("kind") not in _STORED or not isinstance(data.get("id"), str):
        raise Corrupt("a job has no readable principal; it cannot run")
    claims = data.get("claims", {})
    known = Circumstances.__slots__
    if not isinstance(claims, dict) or not all(
        name in known and isinstance(value, str) for name, value in claims.items()
    ):
        raise Corrupt("a job has no readable principal; it cannot run")
    return Principal(data["kind"], data["id"], Circumstances(**claims), by_token=data.get("by_token") is True)
