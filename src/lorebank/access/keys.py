"""API keys: how they are made, what is stored of them, what listings show of them."""

from __future__ import annotations

import hashlib
import secrets
from urllib.parse import quote

from lorebank.access.directory import Key, KeyKind
from lorebank.clock import Micros

USER_PREFIX = "hc_u_"
ACCOUNT_PREFIX = "hc_sa_"
_SECRET_BYTES = 16
_SHOWN_CHARS = 12


def digest(secret: str) -> str:
    """The SHA-256 of a key in hex; what is stored instead of it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def new_secret(kind: KeyKind, owner_id: str) -> str:
    """A fresh key: prefix, owner, and 128 random bits. The owner is percent-encoded where a header
    could not carry him."""
    prefix = USER_PREFIX if kind == "user" else ACCOUNT_PREFIX
    return f"{prefix}{quote(owner_id, safe='@.:+-')}_{secrets.token_hex(_SECRET_BYTES)}"


def new_key_id() -> str:
    """A key's id: 16 hex characters (specs, Data model)."""
    return secrets.token_hex(8)


def stored_key(
    secret: str,
    kind: KeyKind,
    owner_id: str,
    now: Micros,
    *,
    key_id: str | None = None,
    description: str | None = None,
    expires_at: Micros | None = None,
) -> Key:
    """What is kept of `secret`."""
    start = secret[:_SHOWN_CHARS]
    return Key(
        id=key_id or new_key_id(),
        kind=kind,
        owner_id=owner_id,
        digest=digest(secret),
        shown=f"{start}..." if kind == "user" else start,
        description=description,
        created_at=now,
        expires_at=expires_at,
    )
