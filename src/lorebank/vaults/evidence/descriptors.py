"""The form of an evidence descriptor: a small JSON file beside the source that it describes.

`artifacts/<first 2 of sha256>/<sha256>/content` is the source, `<descriptor id>.json` in the same folder
each of its descriptors: the same bytes may come twice, with another attribution, and are kept once.
Descriptors are immutable (specs, Record formats).
"""

from __future__ import annotations

import json
import re
import uuid
from typing import Any, Final

from lorebank.access.audience import Partition
from lorebank.errors import InvalidInput
from lorebank.vaults.store.values import Descriptor

FORMAT: Final = "knowledge-evidence-v1"
ORIGINS: Final = ("knowledge_remember", "knowledge_attach_file", "import")
MAX_DESCRIPTOR_BYTES: Final = 65_536
MAX_FILENAME_CHARS: Final = 255
MAX_ATTRIBUTION_CHARS: Final = 1_000
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_REQUIRED: Final = frozenset({"format", "id", "sha256", "size", "origin", "path", "scope"})
_TEXTS: Final = {"attribution": "attribution", "filename": "filename", "mediaType": "media_type"}


def content_path(sha256: str) -> str:
    """Where a retained source is kept, relative to its partition."""
    return f"artifacts/{sha256[:2]}/{sha256}/content"


def descriptor_path(sha256: str, descriptor_id: str) -> str:
    """Where a descriptor of that source is kept, relative to its partition."""
    return f"artifacts/{sha256[:2]}/{sha256}/{descriptor_id}.json"


def encode(descriptor: Descriptor, partition: Partition) -> bytes:
    """The descriptor's file: JSON with one key a line, in a fixed order, with the partition's scope."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "id": descriptor.id,
        "sha256": descriptor.sha256,
        "size": descriptor.size,
        "path": descriptor.path,
        "origin": descriptor.origin,
        "attribution": descriptor.attribution,
        "filename": descriptor.filename,
        "mediaType": descriptor.media_type,
        "retainedAt": descriptor.retained_at,
        "scope": partition.scope,
    }
    kept = {name: value for name, value in data.items() if value is not None}
    return (json.dumps(kept, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def decode(raw: bytes, path: str, partition: Partition) -> Descriptor:
    """The descriptor in a file at `path`; `InvalidInput` says what is wrong with it.

    One whose scope is not the partition's is refused like a record (seed 000, Partitions).
    """
    data = _object(raw, path)
    missing = sorted(_REQUIRED - data.keys())
    if missing:
        raise _wrong(path, f"has no '{missing[0]}'")
    if data["format"] != FORMAT:
        raise _wrong(path, f"must have the format '{FORMAT}'")
    if data["scope"] != partition.scope:
        raise _wrong(path, "has a scope that is not its partition's")
    _check_identity(data, path)
    texts = {ours: _text(data, theirs, path) for theirs, ours in _TEXTS.items()}
    return Descriptor(
        id=data["id"],
        path=data["path"],
        sha256=data["sha256"],
        size=data["size"],
        origin=data["origin"],
        retained_at=_text(data, "retainedAt", path),
        **texts,
    )


def _object(raw: bytes, path: str) -> dict[str, Any]:
    if len(raw) > MAX_DESCRIPTOR_BYTES:
        raise _wrong(path, f"must be at most {MAX_DESCRIPTOR_BYTES} bytes")
    try:
        data = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as exc:
        raise _wrong(path, "is not JSON in UTF-8") from exc
    if not isinstance(data, dict):
        raise _wrong(path, "must be a JSON object")
    return data


def _check_identity(data: dict[str, Any], path: str) -> None:
    if not _is_uuid(data["id"]):
        raise _wrong(path, "must have a UUID as 'id'")
    if not isinstance(data["sha256"], str) or not _SHA256.fullmatch(data["sha256"]):
        raise _wrong(path, "must have 64 lower-case hexadecimal digits as 'sha256'")
    if type(data["size"]) is not int or data["size"] < 0:
        raise _wrong(path, "must have a whole number of bytes as 'size'")
    if not isinstance(data["origin"], str) or not data["origin"]:
        raise _wrong(path, "must say how the source came in 'origin'")
    if not _is_artifact(data["path"]):
        raise _wrong(path, "must have a 'path' below artifacts/")


def _is_uuid(value: object) -> bool:
    try:
        return isinstance(value, str) and str(uuid.UUID(value)) == value
    except ValueError:
        return False


def _is_artifact(value: object) -> bool:
    if not isinstance(value, str) or not value.isprintable() or "\\" in value:
        return False
    parts = value.split("/")
    return len(parts) > 1 and parts[0] == "artifacts" and not any(p == "" or p[0] == "." for p in parts)


def _text(data: dict[str, Any], name: str, path: str) -> str | None:
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(path, f"must have a text as '{name}'")
    return value


def _wrong(path: str, what: str) -> InvalidInput:
    return InvalidInput(f"the evidence descriptor {path} {what}")
