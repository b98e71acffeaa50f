"""The configuration file on disk: read whole, with what tells that it has changed since.

A symlink is followed (people keep their settings elsewhere and link them): the file that it leads to is
read, and replaced by an edit. A link that leads nowhere is a broken file, not a missing one.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from lorebank.access.knowledge import KnowledgeSettings
from lorebank.errors import InvalidInput
from lorebank.storage.sqlite.files import open_plain
from lorebank.vaults.assignments.config import MAX_BYTES, ParsedConfig, parse_config

MISSING = "missing"
"""The hash of a file that is not there."""
_SETTLED_NS = 100_000_000
"""A file that was changed less than this before it was read may change again within the same time stamp."""

Signature = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """One reading. `parsed` is None when the file is missing (then the defaults hold) or wrong (then
    `problem` says why). `signature` is None when the same one would not prove that nothing has changed."""

    sha256: str
    parsed: ParsedConfig | None
    problem: str | None
    signature: Signature | None

    @property
    def settings(self) -> KnowledgeSettings:
        """What the file sets, or the defaults."""
        return KnowledgeSettings() if self.parsed is None else self.parsed.settings


def load_config(path: Path) -> LoadedConfig:
    """Read it; never raises for what is wrong with the file."""
    began = time.time_ns()
    signature = signature_of(path)
    raw = b""
    try:
        raw = read_config(path)
        parsed = parse_config(raw)
    except FileNotFoundError:
        if not path.is_symlink():
            return LoadedConfig(MISSING, None, None, signature)
        problem = _sentence("it is a link that leads nowhere; mend or remove it")
        return LoadedConfig("", None, problem, signature)
    except OSError as exc:
        problem = _sentence(f"it cannot be read ({exc.strerror or 'unknown error'}); check it and its owner")
        return LoadedConfig("", None, problem, signature)
    except InvalidInput as exc:
        return LoadedConfig(digest(raw), None, _sentence(exc.message), _lasting(signature, began))
    return LoadedConfig(digest(raw), parsed, None, _lasting(signature, began))


def read_config(path: Path) -> bytes:
    """The file's bytes, one more than allowed at most; `OSError`, also for what is no plain file."""
    with open_plain(path) as file:
        return file.read(MAX_BYTES + 1)


def digest(raw: bytes) -> str:
    """How a content of the file is named in the journal."""
    return hashlib.sha256(raw).hexdigest()


def signature_of(path: Path) -> Signature | None:
    """What `stat` says of the file now, all zero when there is none; None when that cannot be told."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return (0, 0, 0, 0, 0)
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _lasting(signature: Signature | None, now: int) -> Signature | None:
    if signature is None or max(signature[3], signature[4]) > now - _SETTLED_NS:
        return None
    return signature


def _sentence(why: str) -> str:
    return f"the knowledge configuration cannot be used: {why}"
