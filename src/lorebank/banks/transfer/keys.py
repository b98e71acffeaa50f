"""Names of exported archives: a file key names its bank, because the wire downloads a file by key alone.

The bank id is in base64url form, so that a key has only letters that survive every URL decoder.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode

from lorebank.tags import TagFilter

DOWNLOAD_PATH = "/v1/default/files/download/"


def file_key(bank_id: str, name: str) -> str:
    """The key of an export of a bank."""
    encoded = urlsafe_b64encode(bank_id.encode()).decode().rstrip("=")
    return f"banks/{encoded}/exports/{name}"


def export_name(operation_id: str, seen: TagFilter | None) -> str:
    """The name of an export; it ends in what its maker could see, so that others do not get to see it."""
    return f"{operation_id}-{_mark(seen)}.zip"


def may_read(name: str, seen: TagFilter | None) -> bool:
    """Whether an export of this name is for a caller who sees that much: everything, or just the same."""
    return seen is None or name.endswith(f"-{_mark(seen)}.zip")


def _mark(seen: TagFilter | None) -> str:
    return "all" if seen is None else hashlib.sha256(repr(seen).encode("utf-8", "replace")).hexdigest()[:32]


def split_key(key: str) -> tuple[str, str] | None:
    """(bank id, name of the export), None when the key was not made by `file_key`."""
    parts = key.split("/")
    if len(parts) != 4 or parts[0] != "banks" or parts[2] != "exports":
        return None
    try:
        bank_id = urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):  # UnicodeDecodeError is a ValueError
        return None
    return (bank_id, parts[3]) if file_key(bank_id, parts[3]) == key else None


def bank_of_file(key: str) -> str | None:
    """The bank id inside a file key."""
    found = split_key(key)
    return None if found is None else found[0]
