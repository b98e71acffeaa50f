"""Audience tokens: short-lived HS256 tokens in which a host says for whom one of its agents speaks now.

They are the host-minted memory audience of seed 000 (Caller authority) for a server outside the host.
Claims: `aud` lorebank, `exp`, `jti`, `agent`, `visibility`, `invocation` always; `session_key` and
`session_id` for a conversation; `spawned` with `root` for a spawned child; `sandboxed`, `host`, `iat`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, get_args

import orjson

from lorebank.access.audience import Audience, Visibility
from lorebank.access.signed_token import (
    AUDIENCE,
    SECOND,
    TokenRules,
    check_audience,
    check_times,
    refused,
    signed,
    text,
    verified_claims,
)
from lorebank.clock import Micros
from lorebank.errors import BadRequest, Unauthenticated
from lorebank.ids import MAX_AGENT_BYTES, MAX_SESSION_KEY_BYTES, check_agent_id, new_uuid

AUDIENCE_TYPE = "lorebank-audience"
"""The header's `typ`, letter by letter."""


@dataclass(frozen=True, slots=True)
class AudienceToken:
    """What a valid token says. `token_id` is a digest of the host and its `jti`; uses of it are remembered
    until `expires_at`."""

    audience: Audience
    token_id: str
    expires_at: Micros


def read_audience(token: str, rules: TokenRules, now: Micros) -> AudienceToken:
    """The token's audience. `Unauthenticated` with a reason that repeats nothing of the token."""
    claims = verified_claims(token, rules.secrets, lambda kind: kind == AUDIENCE_TYPE)
    expires = check_times(claims, rules, now / SECOND) + rules.leeway_s
    check_audience(claims)
    host, jti = text(claims, "host", optional=True), _needed(claims, "jti")
    return AudienceToken(
        audience=_audience(claims, host, int(expires * SECOND)),
        token_id=sha256(orjson.dumps([AUDIENCE_TYPE, host, jti])).hexdigest(),
        expires_at=int(expires) * SECOND + SECOND,
    )


def make_token(claims: Mapping[str, Any], secret: str, lifetime_s: int, now: Micros) -> str:
    """A token with these claims, valid from `now` for `lifetime_s` seconds. `aud`, `iat`, `exp` and a fresh
    `jti` are added where they are not given. What the claims say is checked by whoever reads it."""
    issued = now // SECOND
    given = {"aud": AUDIENCE, "iat": issued, "exp": issued + lifetime_s, "jti": new_uuid()}
    return signed(given | dict(claims), secret, AUDIENCE_TYPE)


def _audience(claims: Mapping[str, Any], host: str | None, expires_at: Micros) -> Audience:
    spawned = _flag(claims, "spawned")
    speaks = _root(claims) if spawned else claims
    if not spawned and claims.get("root") is not None:
        raise refused("has a root but is not of a spawned child")
    visibility = _visibility(speaks)
    if spawned and "visibility" in claims:
        _visibility(claims)
    # Two that differ in a byte are two conversations of the host, and grants compare byte for byte.
    key = text(speaks, "session_key", optional=True, most=MAX_SESSION_KEY_BYTES, exact=True)
    session = text(speaks, "session_id", optional=True, exact=True)
    if visibility == "conversation" and (key is None or session is None):
        raise _missing("it speaks for a conversation without its session_key and session_id")
    return Audience(
        agent=_agent(claims),
        visibility=visibility,
        session_key=key,
        session_id=session,
        invocation=_needed(claims, "invocation"),
        expires_at=expires_at,
        sandboxed=_flag(claims, "sandboxed"),
        delegated=spawned,
        host=host,
    )


def _root(claims: Mapping[str, Any]) -> Mapping[str, Any]:
    """The audience of the conversation that a spawned child comes from: the host delegates it, and lorebank
    works none out (seed 000, Caller authority)."""
    root = claims.get("root")
    if root is None:
        raise _missing("a spawned child needs the root audience that the host delegates to it")
    if not isinstance(root, dict):
        raise refused("has a claim 'root' that is not an object")
    return root


def _visibility(claims: Mapping[str, Any]) -> Visibility:
    given = claims.get("visibility")
    if given is None:
        raise _missing("it says neither owner-private nor conversation")
    for known in get_args(Visibility):
        if given == known:
            found: Visibility = known
            return found
    raise refused("has a claim 'visibility' that is neither owner-private nor conversation")


def _agent(claims: Mapping[str, Any]) -> str:
    given = text(claims, "agent", most=MAX_AGENT_BYTES)
    if given is None:
        raise _missing("it names no agent")
    try:
        return check_agent_id(given, "agent")
    except BadRequest as exc:
        raise refused("has a claim 'agent' that cannot be an agent's id") from exc


def _needed(claims: Mapping[str, Any], name: str) -> str:
    given = text(claims, name)
    if given is None or not given.strip():  # the end of a run without a name could not be reported
        raise refused(f"has no claim '{name}'; the host must send one")
    return given


def _flag(claims: Mapping[str, Any], name: str) -> bool:
    given = claims.get(name, False)
    if not isinstance(given, bool):
        raise refused(f"has a claim '{name}' that is neither true nor false")
    return given


def _missing(why: str) -> Unauthenticated:
    return Unauthenticated(f"missing audience: {why}")
