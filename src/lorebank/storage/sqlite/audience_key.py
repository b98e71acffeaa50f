"""The secret that audience tokens are signed with where the settings name none: made at the first start.

A host on the same machine reads it from its file, as clients read the root key.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from lorebank.errors import Corrupt
from lorebank.storage.sqlite.files import disk, open_plain, write_private

AUDIENCE_KEY_FILE = "audience.key"
_BYTES = 32
"""As strong as HS256 itself (RFC 7518, section 3.2)."""


def ensure_audience_key(folder: Path) -> str:
    """The secret in `audience.key`, made when there is no such file. `Corrupt` when the file is empty or no
    text: no token would be safe with what is left of it."""
    file = folder / AUDIENCE_KEY_FILE
    found = read_audience_key(folder)
    if found is None:
        found = secrets.token_urlsafe(_BYTES)
        write_private(file, found + "\n")
    return found


def read_audience_key(folder: Path) -> str | None:
    """The secret in `audience.key`, None when there is no such file. `Corrupt` as above."""
    file = folder / AUDIENCE_KEY_FILE
    try:
        with disk():
            if not file.exists():
                return None
            with open_plain(file) as opened:
                found = opened.read().decode("ascii").strip()
    except UnicodeDecodeError as exc:
        raise _broken(exc) from exc
    if not found:
        raise _broken(None)
    return found


def _broken(cause: Exception | None) -> Corrupt:
    return Corrupt(
        f"'{AUDIENCE_KEY_FILE}' in the data directory holds no key; remove the file, start again, "
        "and give hosts the new key",
        cause=cause,
    )
