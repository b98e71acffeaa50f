"""Gateway tokens: short-lived HS256 tokens in which a gateway says who speaks and where (seed 001).

A token proves only that the gateway made it. Whom its sender is, `access.authenticate` looks up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from lorebank.access.principal import Circumstances
from lorebank.access.signed_token import (
    MAX_CLAIM_BYTES,
    SECOND,
    TokenRules,
    check_audience,
    check_times,
    refused,
    text,
    verified_claims,
)
from lorebank.clock import Micros
from lorebank.ids import MAX_AGENT_BYTES

__all__ = ["GatewayToken", "TokenRules", "read_token"]
_OPTIONAL = ("provider", "channel", "topic", "agent", "client_id")


@dataclass(frozen=True, slots=True)
class GatewayToken:
    """What a valid token says.

    `sender` is (provider, sender id). `token_id` is a digest of the gateway and its `jti`, None without
    one. The token is accepted until `expires_at`, leeway included.
    """

    sender: tuple[str, str]
    circumstances: Circumstances
    token_id: str | None
    expires_at: Micros


def read_token(token: str, rules: TokenRules, now: Micros) -> GatewayToken:
    """The token's claims. `Unauthenticated` with a reason that repeats nothing of the token."""
    claims = verified_claims(token, rules.secrets, _plain)
    expires = check_times(claims, rules, now / SECOND)
    if "aud" in claims:
        check_audience(claims)
    sender = text(claims, "sender")
    if sender is None:
        raise refused("has no sender; the gateway must send 'provider:id' as its sender claim")
    provider, _, sender_id = sender.partition(":")
    if not provider or not sender_id:
        raise refused("has a sender that is not of the form 'provider:id'")
    given = {name: text(claims, name, optional=True, most=_most(name)) for name in _OPTIONAL}
    circumstances = Circumstances(
        provider=given["provider"] or provider,
        channel=given["channel"],
        topic=given["topic"],
        agent=given["agent"],
        sender=sender,
        client=given["client_id"],
    )
    return GatewayToken(
        sender=(provider, sender_id),
        circumstances=circumstances,
        token_id=_token_id(claims, given["client_id"]),
        expires_at=int(expires + rules.leeway_s) * SECOND + SECOND,
    )


def _plain(kind: object) -> bool:
    """Only plain tokens: another `typ` is another kind with its own secrets (DESIGN, Access)."""
    return kind is None or (isinstance(kind, str) and kind.upper() == "JWT")


def _most(name: str) -> int:
    return MAX_AGENT_BYTES if name == "agent" else MAX_CLAIM_BYTES


def _token_id(claims: Mapping[str, Any], client: str | None) -> str | None:
    """Two gateways may use the same `jti`, so the gateway's name is part of the id."""
    jti = text(claims, "jti")
    return None if jti is None else sha256(orjson.dumps([client, jti])).hexdigest()
