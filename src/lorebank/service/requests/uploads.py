"""Files that came with a request, already received and counted; the transport closes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

from lorebank.service.requests.retain import FileMetadata, FileRetainOptions


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """One file: the name and media type that the client gave, its size in bytes, and its content at 0."""

    filename: str | None
    media_type: str | None
    size: int
    file: BinaryIO


@dataclass(frozen=True, slots=True)
class FileRetain:
    """The request of `file_retain`: each file with what is known about it."""

    files: tuple[UploadedFile, ...]
    metadata: tuple[FileMetadata, ...]
    options: FileRetainOptions


@dataclass(frozen=True, slots=True)
class ArchiveUpload:
    """The request of an import: one archive."""

    archive: UploadedFile
