"""`knowledge_attach_file`: keep a file of the agent's machine as evidence.

The client reads the file and streams it with its SHA-256. The answer is a receipt only: attaching makes no
claim, and shows nothing of the file.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from lorebank import clock
from lorebank.clock import Clock, to_iso
from lorebank.errors import Conflict, FieldProblem, Forbidden, InvalidInput
from lorebank.ids import new_uuid
from lorebank.vaults.evidence.descriptors import (
    MAX_ATTRIBUTION_CHARS,
    MAX_FILENAME_CHARS,
    content_path,
    descriptor_path,
    encode,
)
from lorebank.vaults.store.values import Descriptor, Draft, FileChange, Receipt, VaultHandle, View

ORIGIN: Final = "knowledge_attach_file"
BLOCK: Final = 1 << 20
MEDIA_TYPES: Final = {
    "csv": "text/csv",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "eml": "message/rfc822",
    "gif": "image/gif",
    "htm": "text/html",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "log": "text/plain",
    "m4a": "audio/mp4",
    "md": "text/markdown",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "pdf": "application/pdf",
    "png": "image/png",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "rtf": "application/rtf",
    "svg": "image/svg+xml",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webp": "image/webp",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}
"""By the end of the name; the host's own tables differ from machine to machine."""
UNKNOWN_TYPE: Final = "application/octet-stream"
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class AttachAsk:
    """`sha256` is what the client counted, `size` what arrived. `filename` is shown and never a path.
    `expected_vault` refuses when the store is another one; it selects nothing."""

    request_id: str
    sha256: str
    size: int
    filename: str | None = None
    attribution: str | None = None
    expected_vault: str | None = None


def run(handle: VaultHandle, ask: AttachAsk, file: BinaryIO, now: Clock = clock.now) -> dict[str, Any]:
    """Keep the bytes of `file` with a new descriptor, in one publication, and answer its receipt.

    The same request again gives the same receipt; the same bytes under another request get a further
    descriptor and are kept once. `InvalidInput` when the bytes are not those of `sha256`, `Conflict` for
    another store than the expected one or another request under a used id.
    """
    if not handle.grant.may_save:
        raise Forbidden("this conversation may read knowledge and not save it")
    _check_vault(handle, ask)
    ask = _checked(ask)
    staged, sha256, size = handle.stage(_blocks(file), size=ask.size, sha256=ask.sha256)
    receipt = handle.publish(
        ask.request_id, _digest(ask), lambda view: _draft(view, ask, staged, sha256, size, now)
    )
    # A replay, or bytes that are kept already. After an error the journal may still need the file; what it
    # does not need is swept.
    with suppress(OSError):
        staged.unlink(missing_ok=True)
    return _answer(receipt)


def _check_vault(handle: VaultHandle, ask: AttachAsk) -> None:
    if ask.expected_vault is not None and ask.expected_vault != handle.grant.vault:
        raise Conflict("the knowledge store is not the expected one; nothing was kept")


def _checked(ask: AttachAsk) -> AttachAsk:
    if not _SHA256.fullmatch(ask.sha256):
        raise _wrong("sha256", "must be 64 hexadecimal digits")
    if ask.filename is not None:
        _check_text("filename", ask.filename, MAX_FILENAME_CHARS)
        if "/" in ask.filename or "\\" in ask.filename or ask.filename.strip(". ") == "":
            raise _wrong("filename", "must be a name without folders")
    if ask.attribution is not None:
        _check_text("attribution", ask.attribution, MAX_ATTRIBUTION_CHARS)
    return AttachAsk(
        ask.request_id, ask.sha256.lower(), ask.size, ask.filename, ask.attribution, ask.expected_vault
    )


def _check_text(field: str, text: str, most: int) -> None:
    if not text.strip():
        raise _wrong(field, "must not be blank; leave it out instead")
    if len(text) > most:
        raise _wrong(field, f"must have at most {most} characters")
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in text):
        raise _wrong(field, "must be one line without control characters")


def _wrong(field: str, message: str) -> InvalidInput:
    return InvalidInput(f"{field} {message}", fields=[FieldProblem(("body", "request", field), message)])


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while block := file.read(BLOCK):
        yield block


def _digest(ask: AttachAsk) -> str:
    return hashlib.sha256(json.dumps(asdict(ask), sort_keys=True).encode("ascii")).hexdigest()


def _draft(view: View, ask: AttachAsk, staged: Path, sha256: str, size: int, now: Clock) -> Draft:
    found = Descriptor(
        id=new_uuid(),
        path=content_path(sha256),
        sha256=sha256,
        size=size,
        origin=ORIGIN,
        attribution=ask.attribution,
        filename=ask.filename,
        media_type=media_type(ask.filename),
        retained_at=to_iso(now()),
    )
    content = encode(found, view.partition)
    described = FileChange(
        path=descriptor_path(sha256, found.id), content=content, sha256=hashlib.sha256(content).hexdigest()
    )
    kept = FileChange(path=found.path, staged=staged, sha256=sha256, action="retain")
    answer = {"source": found.id, "sha256": sha256, "size": size, "mediaType": found.media_type}
    return Draft((kept, described), (), answer, f"keep evidence {found.id}")


def media_type(filename: str | None) -> str:
    """By the name's end, from a fixed table; unknown ends are plain bytes."""
    end = (filename or "").rpartition(".")[2].casefold()
    return MEDIA_TYPES.get(end, UNKNOWN_TYPE)


def _answer(receipt: Receipt) -> dict[str, Any]:
    return {
        "requestId": receipt.request_id,
        "publishedAt": to_iso(receipt.published_at),
        **receipt.answer,
        "replayed": receipt.replayed,
    }
