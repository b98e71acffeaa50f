"""Credentials -> Principal. Keys are compared as SHA-256 digests in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from lorebank.access.principal import Principal
from lorebank.errors import Unauthenticated

USER_KEY_PREFIX = "hc_u_"
_SECRET_BYTES = 16


@dataclass(frozen=True, slots=True)
class StoredKey:
    """An API key as it is stored: the owner and the digest of the secret, never the secret."""

    user_id: str
    digest: str
    root: bool


class Keys(Protocol):
    """Where API keys live. `active_keys` yields the keys that are valid now."""

    def active_keys(self) -> Iterable[StoredKey]:
        """All keys that may authenticate at this moment."""


def new_user_key() -> str:
    """A fresh API key with a 128-bit secret."""
    return USER_KEY_PREFIX + secrets.token_hex(_SECRET_BYTES)


def digest(key: str) -> str:
    """The SHA-256 of `key` in hex; what is stored instead of the key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def bearer(header: str | None) -> str | None:
    """The key in an `Authorization` header: `Bearer K` or the bare key; None when there is none."""
    if header is None:
        return None
    scheme, _, rest = header.strip().partition(" ")
    key = rest.strip() if scheme.lower() == "bearer" else header.strip()
    return key or None


def authenticate(key: str | None, keys: Keys) -> Principal:
    """The principal that owns `key`; `Unauthenticated` when there is no key or it is not known."""
    if key is None:
        raise Unauthenticated("an API key is required: send it as 'Authorization: Bearer KEY'")
    given = digest(key)
    found: StoredKey | None = None
    for stored in keys.active_keys():
        if hmac.compare_digest(stored.digest, given):
            found = stored
    if found is None:
        raise Unauthenticated("the API key is not valid")
    return Principal(kind="user", id=found.user_id, root=found.root)
