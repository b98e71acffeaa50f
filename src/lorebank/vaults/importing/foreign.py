"""Evidence descriptors of other programs, as far as they can be understood. Pure.

What a descriptor tells is public (specs, Record formats); how another program spells it is not. A
JSON object that names a SHA-256 of a file that is there counts as one.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from lorebank.access.audience import Partition
from lorebank.vaults.evidence.descriptors import (
    MAX_ATTRIBUTION_CHARS,
    MAX_DESCRIPTOR_BYTES,
    MAX_FILENAME_CHARS,
    ORIGINS,
    content_path,
)
from lorebank.vaults.store.values import Descriptor

_SHA256: Final = re.compile(r"(?:sha-?256[:=-])?([0-9a-fA-F]{64})")
_DIGEST_KEYS: Final = ("sha256", "contentsha256", "sha256hash", "digest", "contenthash", "hash", "checksum")
_ID_KEYS: Final = ("id", "descriptorid", "sourceid", "evidenceid", "artifactid")
_NAME_KEYS: Final = ("filename", "originalfilename", "originalname", "name")
_TYPE_KEYS: Final = ("mediatype", "mimetype", "contenttype", "mime")
_ATTRIBUTION_KEYS: Final = ("attribution", "originattribution", "attributedto", "author")
_ORIGIN_KEYS: Final = ("origin", "origintool", "source", "via")
_TIME_KEYS: Final = ("retainedat", "recordedat", "createdat", "addedat")
_NAMESPACE: Final = uuid.UUID("6d0c3b3e-6f0a-5f6e-9a53-1f3b8c1f9e70")
"""For descriptors whose own id is no UUID: the same one gets the same id in every import."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a descriptor says. `named` is its own id where that is no UUID and could not be kept; `scoped`
    whether its scope, if it names any, is the partition's."""

    descriptor: Descriptor
    named: str | None
    scoped: bool


def told_by(raw: bytes, path: str, partition: Partition, sizes: Mapping[str, int]) -> Told | str | None:
    """The descriptor in a file at `path`; a text when it describes something that is not there; None when
    it is no descriptor. `sizes` are the bytes of the files that are there, by SHA-256."""
    data = _object(raw)
    if data is None:
        return None
    plain = {_key(name): value for name, value in data.items()}
    sha256 = _digest(plain) or _digest_of_place(path, sizes)
    if sha256 is None:
        return None
    if sha256 not in sizes:
        return "the file that it describes is missing, or its SHA-256 is another one"
    own = _first(plain, _ID_KEYS)
    origin = _first(plain, _ORIGIN_KEYS)
    descriptor = Descriptor(
        id=_id(own, path, sha256),
        path=content_path(sha256),
        sha256=sha256,
        size=sizes[sha256],
        origin=origin if origin in ORIGINS else "import",
        attribution=_short(_first(plain, _ATTRIBUTION_KEYS), MAX_ATTRIBUTION_CHARS),
        filename=_filename(_first(plain, _NAME_KEYS)),
        media_type=_short(_first(plain, _TYPE_KEYS), MAX_FILENAME_CHARS),
        retained_at=_short(_first(plain, _TIME_KEYS), 64),
    )
    scope = data.get("scope", partition.scope)
    return Told(descriptor, own if own not in (None, descriptor.id) else None, scope == partition.scope)


def _object(raw: bytes) -> dict[str, Any] | None:
    if len(raw) > MAX_DESCRIPTOR_BYTES:
        return None
    try:
        data = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _first(data: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first of the keys that has a text."""
    for name in names:
        value = data.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _digest(data: Mapping[str, Any]) -> str | None:
    for name in _DIGEST_KEYS:
        value = data.get(name)
        if isinstance(value, dict):
            value = value.get("value") or value.get("hex") or value.get("sha256")
        if isinstance(value, str) and (match := _SHA256.fullmatch(value.strip())):
            return match[1].lower()
    return None


def _digest_of_place(path: str, sizes: Mapping[str, int]) -> str | None:
    """A descriptor that tells no digest may stand in a folder, or have a name, that does."""
    place = PurePosixPath(path)
    for name in (place.stem, place.name.partition(".")[0], place.parent.name):
        if _SHA256.fullmatch(name) and name.lower() in sizes:
            return name.lower()
    return None


def _id(own: str | None, path: str, sha256: str) -> str:
    for name in (own, PurePosixPath(path).stem):
        if name is not None and _is_uuid(name):
            return name
    return str(uuid.uuid5(_NAMESPACE, own or f"{sha256} {path}"))


def _is_uuid(name: str) -> bool:
    try:
        return str(uuid.UUID(name)) == name
    except ValueError:
        return False


def _short(text: str | None, longest: int) -> str | None:
    """One line without control characters, cut to what we keep."""
    if text is None:
        return None
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:longest] or None


def _filename(text: str | None) -> str | None:
    return _short(None if text is None else re.split(r"[/\\]", text)[-1], MAX_FILENAME_CHARS)
