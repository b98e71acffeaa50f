"""Names of exported archives: a file key names its bank, because the wire downloads a file by key alone.

The bank id is in base64url form, so that a key has only letters that survive every URL decoder.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode

DOWNLOAD_PATH = "/v1/default/files/download/"


def file_key(bank_id: str, name: str) -> str:
    """The key of an export of a bank."""
    encoded = urlsafe_b64encode(bank_id.encode()).decode().rstrip("=")
    return f"banks/{encoded}/exports/{name}"


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
