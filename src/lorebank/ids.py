"""Typed identifiers and the rules for ids that callers choose.

A bank id, document id or tag is any text that a caller likes, within limits: it is never used
as a path. Folders on disk are named by a `StoreId` that lorebank makes itself.
"""

from __future__ import annotations

import unicodedata
import uuid
from typing import NewType

from lorebank.errors import BadRequest

BankId = NewType("BankId", str)
"""The name callers use for a bank; compared exactly: `Team` and `team` are two banks."""
StoreId = NewType("StoreId", str)
"""The UUID that names a store's folder."""

MAX_ID_BYTES = 4096
MAX_AGENT_BYTES = 250
"""What `agent:` leaves of a tag of the usual length."""
MAX_SESSION_KEY_BYTES = 1024
"""Of a conversation's key, in audience tokens, grants and reports alike."""
_UNMAPPED = "_unmapped"
_NAMES_OF_OTHERS = ("sa:", "unmapped:", "local:", "user:", "agent:")
"""How the names of principals begin (`access.principal.Principal.name`)."""


def new_uuid() -> str:
    """A random UUID in its canonical 36-character form."""
    return str(uuid.uuid4())


def new_store_id() -> StoreId:
    """A fresh store id."""
    return StoreId(new_uuid())


def parse_uuid(value: str, field: str) -> str:
    """The canonical form of `value`; `BadRequest` naming `field` when it is not a UUID."""
    try:
        return str(uuid.UUID(value))
    except ValueError as exc:
        raise BadRequest(f"{field} must be a UUID such as {uuid.UUID(int=0)}", cause=exc) from exc


def check_id(value: str, field: str, *, max_bytes: int = MAX_ID_BYTES) -> str:
    """`value` in NFC when it can serve as an id.

    Any printable characters are allowed, `/`, `%`, `::` and emoji included. Refused with
    `BadRequest`: empty or blank ids, more than `max_bytes` bytes of UTF-8, NUL, control
    characters and lone surrogates.
    """
    if not value.strip():
        raise BadRequest(f"{field} must not be empty")
    for char in value:
        if unicodedata.category(char) in ("Cc", "Cs"):
            raise BadRequest(f"{field} must not contain control characters or lone surrogates")
    normal = unicodedata.normalize("NFC", value)
    if len(normal.encode("utf-8")) > max_bytes:
        raise BadRequest(f"{field} must be at most {max_bytes} bytes of UTF-8")
    return normal


def names_another(user_id: str) -> str | None:
    """What is wrong with a user's id that could be taken for another principal's name; None if nothing."""
    if user_id != _UNMAPPED and not user_id.startswith(_NAMES_OF_OTHERS):
        return None
    words = ", ".join(f"'{word}'" for word in _NAMES_OF_OTHERS)
    return f"must not be '{_UNMAPPED}' and must not begin with {words}: those name others"


def check_bank_id(value: str, *, max_bytes: int = MAX_ID_BYTES) -> BankId:
    """`value` as a bank id; the rules of `check_id`."""
    return BankId(check_id(value, "bank_id", max_bytes=max_bytes))


def check_agent_id(value: str, field: str) -> str:
    """`value` in NFC as the id of a host's agent: `check_id` with at most 250 bytes, and without `*`, which
    would be taken for a pattern where policies name agents. `.` and `..` are refused: clients take them out
    of the paths of operators' requests."""
    normal = check_id(value, field, max_bytes=MAX_AGENT_BYTES)
    if "*" in normal:
        raise BadRequest(f"{field} must not contain '*'")
    if normal in (".", ".."):
        raise BadRequest(f"{field} must not be '.' or '..', which cannot stand in the path of a request")
    return normal
