"""The archive format: its parts, its limits, and the manifest that describes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lorebank.errors import BadRequest
from lorebank.ids import check_id

FORMAT = "lorebank-bank-archive"
VERSION = 1
MEDIA_TYPE = "application/zip"

MANIFEST = "manifest.json"
BANK = "bank.json"
DOCUMENTS = "documents.jsonl"
CHUNKS = "chunks.jsonl"
EVENTS = "document_events.jsonl"
ENTITIES = "entities.jsonl"
MEMORIES = "memories.jsonl"
LINKS = "links.jsonl"
VECTOR_IDS = "vectors.jsonl"
VECTORS = "vectors.f16"
PARTS = (BANK, DOCUMENTS, CHUNKS, EVENTS, ENTITIES, MEMORIES, LINKS, VECTOR_IDS, VECTORS)

MAX_MANIFEST = 2**20
"""Bytes of a manifest."""
MAX_LINE = 2**26
"""Bytes of one line: the text of one document at most."""
MAX_UNPACKED = 2**32
"""Bytes of all parts of an archive together."""
MAX_RATIO = 400
"""How many times larger than its packed form a part may be; real text stays below 100."""
MAX_DIMENSION = 8192

Kind = Literal["bank", "documents"]


@dataclass(frozen=True, slots=True)
class Part:
    """One part: the SHA-256 of its bytes in hex, its bytes, and its rows (1 for bank.json)."""

    sha256: str
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive holds. `model` and `dimension` belong to the vectors, when there are any.

    `kind` is `bank` for a whole bank, `documents` for a choice of documents. `created_at` is ISO 8601.
    """

    kind: Kind
    bank_id: str
    created_at: str
    made_by: str
    parts: Mapping[str, Part] = field(default_factory=dict)
    model: str | None = None
    dimension: int = 0

    def rows(self, name: str) -> int:
        """The rows of a part, 0 when the archive has not got it."""
        part = self.parts.get(name)
        return 0 if part is None else part.rows

    def to_json(self) -> bytes:
        """The text of manifest.json."""
        parts = {n: {"sha256": p.sha256, "bytes": p.size, "rows": p.rows} for n, p in self.parts.items()}
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "kind": self.kind,
            "bank_id": self.bank_id,
            "created_at": self.created_at,
            "made_by": self.made_by,
            "parts": parts,
        }
        if self.model is not None:
            data["vectors"] = {"model": self.model, "dimension": self.dimension}
        return json.dumps(data, ensure_ascii=False, indent=2).encode() + b"\n"


def bad(message: str, cause: BaseException | None = None) -> BadRequest:
    """The error for an archive that cannot be taken in."""
    return BadRequest(f"archive: {message}", cause=cause)


def parse_manifest(data: bytes) -> Manifest:
    """The manifest; `BadRequest` for another format, a newer version, or anything out of place."""
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise bad("manifest.json is not JSON", exc) from exc
    if not isinstance(raw, dict) or raw.get("format") != FORMAT:
        raise bad("this is no lorebank bank archive (manifest.json names another format)")
    version = raw.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise bad("manifest.json has no format version")
    if version > VERSION:
        raise bad(f"format version {version} is newer than this server's {VERSION}; upgrade lorebank first")
    if raw.get("kind") not in ("bank", "documents"):
        raise bad("manifest.json: kind must be bank or documents")
    model, dimension = _vectors(raw.get("vectors"))
    return Manifest(
        kind=raw["kind"],
        bank_id=check_id(_text(raw, "bank_id"), "archive: bank_id"),
        created_at=_text(raw, "created_at"),
        made_by=_text(raw, "made_by"),
        parts=_parts(raw.get("parts")),
        model=model,
        dimension=dimension,
    )


def _text(raw: Mapping[str, Any], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str):
        raise bad(f"manifest.json: {name} must be a text")
    return value


def _parts(raw: Any) -> dict[str, Part]:
    if not isinstance(raw, dict):
        raise bad("manifest.json lists no parts")
    made: dict[str, Part] = {}
    for name, part in raw.items():
        if name not in PARTS:
            raise bad("manifest.json lists a part that this format does not have")
        made[name] = _part(name, part)
    return made


def _part(name: str, raw: Any) -> Part:
    digest = raw.get("sha256") if isinstance(raw, dict) else None
    if not isinstance(digest, str) or len(digest) != 64:
        raise bad(f"manifest.json: {name} has no SHA-256")
    numbers = [raw.get("bytes"), raw.get("rows")]
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n <= MAX_UNPACKED for n in numbers):
        raise bad(f"manifest.json: bytes and rows of {name} must be whole numbers in range")
    return Part(digest.lower(), numbers[0], numbers[1])


def _vectors(raw: Any) -> tuple[str | None, int]:
    if raw is None:
        return None, 0
    model = raw.get("model") if isinstance(raw, dict) else None
    dimension = raw.get("dimension") if isinstance(raw, dict) else None
    if not isinstance(model, str) or not model:
        raise bad("manifest.json: vectors need the name of their model")
    if not isinstance(dimension, int) or isinstance(dimension, bool) or not 1 <= dimension <= MAX_DIMENSION:
        raise bad(f"manifest.json: the dimension of vectors must be between 1 and {MAX_DIMENSION}")
    return model, dimension
