"""Gateway tokens: short-lived HS256 tokens in which a gateway says who speaks and where (seed 001).

A token proves only that the gateway made it. Whom its sender is, `access.authenticate` looks up.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from lorebank.access.principal import Circumstances
from lorebank.clock import Micros
from lorebank.errors import Unauthenticated

if TYPE_CHECKING:
    from jwt.api_jws import PyJWS

TOKEN_START = "eyJ"
"""How every token begins: base64url of `{"`. No key begins so (`config` refuses such a root key)."""
AUDIENCE = "lorebank"
STRONG_SECRET_BYTES = 32
"""From this length on a secret is as strong as HS256 itself (RFC 7518, section 3.2)."""
MAX_TOKEN_CHARS = 8_192
MAX_CLAIM_BYTES = 512
MAX_AGENT_BYTES = 250
"""What `agent:` leaves of a tag of the usual length."""
_SECOND = 1_000_000
# The last character of a 32-byte signature has two bits to spare. They must be zero, as every encoder
# leaves them: otherwise four spellings of one token would be valid.
_SHAPE = re.compile(r"[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]", re.ASCII)
_OPTIONAL = ("provider", "channel", "topic", "agent", "client_id")


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a server accepts.

    Any of `secrets` may have signed (none: no token is accepted); `lifetime_s` is the longest time in
    seconds from issue to expiry; `leeway_s` the seconds by which clocks may differ.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)
    lifetime_s: int = 900
    leeway_s: int = 30

    @property
    def weak(self) -> bool:
        """Whether a secret is short enough to be guessed."""
        return any(len(_key(one)) < STRONG_SECRET_BYTES for one in self.secrets)


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
    claims = _claims(_verified(token, rules.secrets))
    expires = _check_times(claims, rules, now / _SECOND)
    _check_audience(claims)
    sender = _text(claims, "sender")
    if sender is None:
        raise _refused("has no sender; the gateway must send 'provider:id' as its sender claim")
    provider, _, sender_id = sender.partition(":")
    if not provider or not sender_id:
        raise _refused("has a sender that is not of the form 'provider:id'")
    given = {name: _text(claims, name, optional=True) for name in _OPTIONAL}
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
        expires_at=int(expires + rules.leeway_s) * _SECOND + _SECOND,
    )


def _verified(token: str, secrets: tuple[str, ...]) -> bytes:
    """The payload of a token that one of the secrets signed."""
    if len(token) > MAX_TOKEN_CHARS or _SHAPE.fullmatch(token) is None or not secrets:
        raise _refused("is not valid")
    # Imported late: a server that sees no token starts without it.
    from jwt.exceptions import InvalidSignatureError, PyJWTError

    for secret in secrets:
        # HMAC itself fills a short key up with zero bytes, so this changes no signature; a library that
        # minds short keys is not asked to (`TokenRules.weak` is told to the operator once).
        key = _key(secret).ljust(STRONG_SECRET_BYTES, b"\0")
        try:
            found = _verifier().decode_complete(token, key, algorithms=["HS256"])
        except InvalidSignatureError:
            continue
        except (PyJWTError, ValueError, RecursionError):
            break
        _check_header(found["header"])
        payload: bytes = found["payload"]
        return payload
    raise _refused("is not valid")


@cache
def _verifier() -> PyJWS:
    from jwt.api_jws import PyJWS

    return PyJWS(algorithms=["HS256"])


def _key(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogatepass")


def _check_header(header: Mapping[str, Any]) -> None:
    """Only plain tokens: another `typ` is another kind with its own secrets (DESIGN, Access)."""
    kind = header.get("typ", "JWT")
    if not isinstance(kind, str) or kind.upper() != "JWT":
        raise _refused("is of a type that is not accepted here")
    if "crit" in header or "b64" in header:
        raise _refused("has header fields that are not accepted here")


def _claims(payload: bytes) -> dict[str, Any]:
    try:
        claims = orjson.loads(payload)
    except orjson.JSONDecodeError:
        claims = None
    if not isinstance(claims, dict):
        raise _refused("is not valid")
    return claims


def _check_times(claims: Mapping[str, Any], rules: TokenRules, now: float) -> float:
    """The expiry in seconds since 1970, when the token is valid now and does not live too long."""
    expires = _time(claims, "exp")
    if expires is None:
        raise _refused("has no expiry; the gateway must send an exp claim")
    issued, begins = _time(claims, "iat"), _time(claims, "nbf")
    if expires + rules.leeway_s <= now:
        raise _refused("has expired")
    if issued is not None and issued > now + rules.leeway_s:
        raise _refused("was issued in the future; compare the clocks of gateway and server")
    if begins is not None and begins > now + rules.leeway_s:
        raise _refused("is not valid yet")
    # Without iat the token counts as issued now, by a clock that may be ahead by the leeway.
    lives = expires - (now + rules.leeway_s if issued is None else issued)
    if lives > rules.lifetime_s:
        raise _refused(f"lives too long; at most {rules.lifetime_s} seconds are accepted")
    return expires


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None and name not in claims:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise _refused(f"has a claim '{name}' that is not a time in seconds")
    return float(value)


def _check_audience(claims: Mapping[str, Any]) -> None:
    if "aud" not in claims:
        return
    audience = claims["aud"]
    if audience != AUDIENCE and not (isinstance(audience, list) and AUDIENCE in audience):
        raise _refused("is for another audience")


def _text(claims: Mapping[str, Any], name: str, *, optional: bool = False) -> str | None:
    """A claim as text in NFC, in which the directory and the policies have their names; None when it is
    missing. An optional one may be null or empty, as gateways send what they do not know."""
    value = claims.get(name)
    if (value is None and (optional or name not in claims)) or (optional and value == ""):
        return None
    most = MAX_AGENT_BYTES if name == "agent" else MAX_CLAIM_BYTES
    if isinstance(value, str):
        value = unicodedata.normalize("NFC", value)
    if not isinstance(value, str) or not value or len(value.encode("utf-8")) > most:
        raise _refused(f"has a claim '{name}' that is not a text of 1 to {most} bytes")
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in value):
        raise _refused(f"has a claim '{name}' with control characters")
    return value


def _token_id(claims: Mapping[str, Any], client: str | None) -> str | None:
    """Two gateways may use the same `jti`, so the gateway's name is part of the id."""
    jti = _text(claims, "jti")
    return None if jti is None else sha256(orjson.dumps([client, jti])).hexdigest()


def _refused(what: str) -> Unauthenticated:
    return Unauthenticated(f"the token {what}")
