"""What both kinds of tokens share: HS256 signatures, times and texts of claims (RFC 7515, 7519).

The kinds are told apart by the header `typ`, and each has secrets of its own (DESIGN, Access).
"""

from __future__ import annotations

import binascii
import math
import re
import unicodedata
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from lorebank.errors import Unauthenticated

if TYPE_CHECKING:
    from jwt.api_jws import PyJWS

TOKEN_START = "eyJ"
"""How every token begins: base64url of `{"`. No key begins so (`config` refuses such a root key)."""
AUDIENCE = "lorebank"
"""What `aud` says where a token has it."""
STRONG_SECRET_BYTES = 32
"""From this length on a secret is as strong as HS256 itself (RFC 7518, section 3.2)."""
MAX_TOKEN_CHARS = 8_192
MAX_CLAIM_BYTES = 512
SECOND = 1_000_000
"""Microseconds in one."""
# The last character of a 32-byte signature has two bits to spare. They must be zero, as every encoder
# leaves them: otherwise four spellings of one token would be valid.
_SHAPE = re.compile(r"[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]", re.ASCII)


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a server accepts of one kind of token.

    Any of `secrets` may have signed (none: no token is accepted); `lifetime_s` is the longest time in
    seconds from issue to expiry; `leeway_s` the seconds by which clocks may differ.
    """

    secrets: tuple[str, ...] = field(default=(), repr=False)
    lifetime_s: int = 900
    leeway_s: int = 30

    @property
    def weak(self) -> bool:
        """Whether a secret is short enough to be guessed."""
        return any(len(key_of(one)) < STRONG_SECRET_BYTES for one in self.secrets)


def refused(what: str) -> Unauthenticated:
    """The refusal of a token; the sentence begins with "the token"."""
    return Unauthenticated(f"the token {what}")


def key_of(secret: str) -> bytes:
    """The bytes of a secret as they are signed with."""
    return secret.encode("utf-8", "surrogatepass")


def kind_of(token: str) -> str | None:
    """The header's `typ` as it stands, verified by nobody: it only tells with which secrets to look.
    None when there is none, or when it cannot be read."""
    head = token[:MAX_TOKEN_CHARS].partition(".")[0]
    try:
        header = orjson.loads(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (binascii.Error, ValueError):
        return None
    kind = header.get("typ") if isinstance(header, dict) else None
    return kind if isinstance(kind, str) else None


def verified_claims(
    token: str, secrets: tuple[str, ...], accepts: Callable[[object], bool]
) -> dict[str, Any]:
    """The claims of a token that one of the secrets signed and whose `typ` (None: it has none) `accepts`
    takes. `Unauthenticated` otherwise."""
    if len(token) > MAX_TOKEN_CHARS or _SHAPE.fullmatch(token) is None or not secrets:
        raise refused("is not valid")
    # Imported late: a server that sees no token starts without it.
    from jwt.exceptions import InvalidSignatureError, PyJWTError

    for secret in secrets:
        # HMAC itself fills a short key up with zero bytes, so this changes no signature; a library that
        # minds short keys is not asked to (`TokenRules.weak` is told to the operator once).
        key = key_of(secret).ljust(STRONG_SECRET_BYTES, b"\0")
        try:
            found = _signer().decode_complete(token, key, algorithms=["HS256"])
        except InvalidSignatureError:
            continue
        except (PyJWTError, ValueError, RecursionError):
            break
        _check_header(found["header"], accepts)
        return _claims(found["payload"])
    raise refused("is not valid")


def signed(claims: Mapping[str, Any], secret: str, kind: str) -> str:
    """A token of that kind with these claims."""
    key = key_of(secret).ljust(STRONG_SECRET_BYTES, b"\0")
    return _signer().encode(orjson.dumps(claims), key, algorithm="HS256", headers={"typ": kind})


def check_times(claims: Mapping[str, Any], rules: TokenRules, now: float) -> float:
    """The expiry in seconds since 1970, when the token is valid now and does not live too long."""
    expires = _time(claims, "exp")
    if expires is None:
        raise refused("has no expiry; the gateway must send an exp claim")
    issued, begins = _time(claims, "iat"), _time(claims, "nbf")
    if expires + rules.leeway_s <= now:
        raise refused("has expired")
    if issued is not None and issued > now + rules.leeway_s:
        raise refused("was issued in the future; compare the clocks of gateway and server")
    if begins is not None and begins > now + rules.leeway_s:
        raise refused("is not valid yet")
    # Without iat the token counts as issued now, by a clock that may be ahead by the leeway.
    lives = expires - (now + rules.leeway_s if issued is None else issued)
    if lives > rules.lifetime_s:
        raise refused(f"lives too long; at most {rules.lifetime_s} seconds are accepted")
    return expires


def check_audience(claims: Mapping[str, Any]) -> None:
    """That `aud` is this server, alone or in a list."""
    audience = claims.get("aud")
    if audience != AUDIENCE and not (isinstance(audience, list) and AUDIENCE in audience):
        raise refused("is for another audience")


def text(
    claims: Mapping[str, Any],
    name: str,
    *,
    optional: bool = False,
    most: int = MAX_CLAIM_BYTES,
    exact: bool = False,
) -> str | None:
    """A claim as text in NFC, in which the directory and the policies have their names, or `exact`, byte for
    byte; None when it is missing. An optional one may be null or empty, as gateways send what they do not
    know."""
    value = claims.get(name)
    if (value is None and (optional or name not in claims)) or (optional and value == ""):
        return None
    if isinstance(value, str) and not exact:
        value = unicodedata.normalize("NFC", value)
    if not isinstance(value, str) or not value or len(value.encode("utf-8")) > most:
        raise refused(f"has a claim '{name}' that is not a text of 1 to {most} bytes")
    if any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in value):
        raise refused(f"has a claim '{name}' with control characters")
    return value


@cache
def _signer() -> PyJWS:
    from jwt.api_jws import PyJWS

    return PyJWS(algorithms=["HS256"])


def _check_header(header: Mapping[str, Any], accepts: Callable[[object], bool]) -> None:
    if not accepts(header.get("typ")) or ("typ" in header and header["typ"] is None):
        raise refused("is of a type that is not accepted here")
    if "crit" in header or "b64" in header:
        raise refused("has header fields that are not accepted here")


def _claims(payload: bytes) -> dict[str, Any]:
    try:
        claims = orjson.loads(payload)
    except orjson.JSONDecodeError:
        claims = None
    if not isinstance(claims, dict):
        raise refused("is not valid")
    return claims


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None and name not in claims:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise refused(f"has a claim '{name}' that is not a time in seconds")
    return float(value)
