"""Multipart bodies: files are spooled to disk while they arrive, and gone when the request ends."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import anyio.to_thread
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.types import Receive

from lorebank.errors import FieldProblem, InvalidInput
from lorebank.http.binding import Form
from lorebank.http.errors import Disconnected, TooLarge
from lorebank.http.exchange import Exchange, Headers, header
from lorebank.http.receive import check_length
from lorebank.limits import Limits
from lorebank.service.requests.base import ignored, parse, refuse
from lorebank.service.requests.document import read_json
from lorebank.service.requests.retain import FileMetadata, FileRetainOptions
from lorebank.service.requests.uploads import ArchiveUpload, FileRetain, UploadedFile

if TYPE_CHECKING:
    from lorebank.service.requests.knowledge_read import Attachment

SPOOL_BYTES = 1 << 20
"""Bytes of one file that stay in memory; more goes to a temporary file."""
_OVERHEAD = 1 << 20
_HEADER_BYTES = 8_192
_FIELDS = 20


@dataclass(slots=True)
class _Part:
    """One part while it arrives."""

    file: BinaryIO
    headers: dict[bytes, bytes] = field(default_factory=dict)
    name: str = ""
    filename: str | None = None
    size: int = 0

    def finish_headers(self) -> None:
        _, options = parse_options_header(self.headers.get(b"content-disposition", b""))
        self.name = options.get(b"name", b"").decode("utf-8", "replace")
        given = options.get(b"filename")
        self.filename = None if given is None else given.decode("utf-8", "replace")

    def uploaded(self) -> UploadedFile:
        self.file.seek(0)
        kind = self.headers.get(b"content-type")
        return UploadedFile(
            self.filename, None if kind is None else kind.decode("latin-1"), self.size, self.file
        )


@dataclass(frozen=True, slots=True)
class _Most:
    """How many bytes the files of a form may have, and the setting that says so."""

    size: int
    setting: str

    @classmethod
    def of(cls, kind: Form, limits: Limits) -> _Most:
        """Sources of a vault have no size of their own (seed 000, Limits): the setting only guards the
        disk."""
        if kind == "attachment":
            return cls(limits.attachment_bytes, "LOREBANK_LIMIT_ATTACHMENT_BYTES")
        return cls(limits.file_bytes, "LOREBANK_LIMIT_FILE_BYTES")

    def exceeded(self) -> TooLarge:
        return TooLarge(f"the files must have at most {self.size} bytes together (setting {self.setting})")


class _Reader:
    """Collects the parts that the parser announces, within the limits."""

    def __init__(self, boundary: bytes, limits: Limits, most: _Most, stack: ExitStack) -> None:
        self.parts: list[_Part] = []
        self.ended = False
        self._limits, self._most, self._stack = limits, most, stack
        self._name, self._value, self._header_bytes, self._files = b"", b"", 0, 0
        self._file_bytes = 0
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers_finished,
                "on_part_data": self._data,
                "on_end": self._end,
            },
        )

    def write(self, data: bytes) -> None:
        self._parser.write(data)

    def finish(self) -> None:
        self._parser.finalize()
        if not self.ended:
            raise _broken()

    def _begin(self) -> None:
        if len(self.parts) >= self._limits.files + _FIELDS:
            raise refuse("body", (), "has too many form fields", "too_long")
        file = tempfile.SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - the stack closes it
        self._stack.callback(file.close)
        self.parts.append(_Part(cast(BinaryIO, file)))
        self._header_bytes = 0

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += self._counted(data[start:end])

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += self._counted(data[start:end])

    def _counted(self, piece: bytes) -> bytes:
        self._header_bytes += len(piece)
        if self._header_bytes > _HEADER_BYTES:
            raise refuse("body", (), "has a part with too long headers", "too_long")
        return piece

    def _header_end(self) -> None:
        self.parts[-1].headers[self._name.lower()] = self._value
        self._name, self._value = b"", b""

    def _headers_finished(self) -> None:
        part = self.parts[-1]
        part.finish_headers()
        if part.filename is not None:
            self._files += 1
            if self._files > self._limits.files:
                message = f"at most {self._limits.files} files in one upload (setting LOREBANK_LIMIT_FILES)"
                raise refuse("body", (part.name,), message, "too_long")

    def _data(self, data: bytes, start: int, end: int) -> None:
        part = self.parts[-1]
        part.size += end - start
        if part.filename is None and part.size > self._limits.body_bytes:
            raise TooLarge(f"the form field must be at most {self._limits.body_bytes} bytes")
        if part.filename is not None:
            self._file_bytes += end - start
            if self._file_bytes > self._most.size:
                raise self._most.exceeded()
        part.file.write(data[start:end])

    def _end(self) -> None:
        self.ended = True


@dataclass(frozen=True, slots=True)
class ReceivedForm:
    """A form that has arrived whole."""

    kind: Form
    parts: list[_Part]
    limits: Limits

    def request(self, exchange: Exchange) -> Any:
        """The request value of the operation; `InvalidInput` names the wrong form field."""
        if self.kind == "attachment":
            return self._attachment()
        return self._archive(exchange) if self.kind == "archive" else self._files(exchange)

    def _archive(self, exchange: Exchange) -> ArchiveUpload:
        archives = [part for part in self.parts if part.name == "file"]
        if len(archives) != 1:
            raise refuse("body", ("file",), "exactly one archive is required", "missing")
        self._note_unknown(exchange, {"file"})
        return ArchiveUpload(archives[0].uploaded())

    def _attachment(self) -> Attachment:
        """One file and the strict `request` about it; nothing else may come with them."""
        from lorebank.service.requests.knowledge_read import AttachFileRequest, Attachment

        for part in self.parts:
            if part.name not in ("file", "request"):
                raise refuse("body", (part.name,), "is no field of this form", "extra_forbidden")
        found = {name: [part for part in self.parts if part.name == name] for name in ("file", "request")}
        for name, parts in found.items():
            if len(parts) != 1:
                raise refuse("body", (name,), f"exactly one {name} is required", "missing")
        said, file = found["request"][0], found["file"][0]
        said.file.seek(0)
        data = read_json(said.file.read(self.limits.body_bytes), self.limits, keys_once=True)
        try:
            request = parse(AttachFileRequest, data, self.limits)
        except InvalidInput as exc:
            raise _inside_request(exc) from exc
        return Attachment(request, file.uploaded())

    def _files(self, exchange: Exchange) -> FileRetain:
        files = [part for part in self.parts if part.name == "files" and part.filename is not None]
        if not files:
            raise refuse("body", ("files",), "at least one file is required", "missing")
        self._note_unknown(exchange, {"files", "request"})
        options = self._options(exchange)
        given = options.files_metadata
        if given is not None and len(given) != len(files):
            message = f"must have one entry for each of the {len(files)} files, not {len(given)}"
            raise refuse("body", ("request", "files_metadata"), message, "wrong_length")
        metadata = tuple(one or FileMetadata() for one in given or [None] * len(files))
        return FileRetain(tuple(part.uploaded() for part in files), metadata, options)

    def _options(self, exchange: Exchange) -> FileRetainOptions:
        sent = next((part for part in self.parts if part.name == "request"), None)
        if sent is None:
            return FileRetainOptions()
        sent.file.seek(0)
        data = read_json(sent.file.read() or b"{}", self.limits)
        exchange.ignored += ignored(FileRetainOptions, data)
        return parse(FileRetainOptions, data, self.limits)

    def _note_unknown(self, exchange: Exchange, known: set[str]) -> None:
        exchange.ignored += tuple(part.name for part in self.parts if part.name not in known)


@asynccontextmanager
async def read_form(
    kind: Form, receive: Receive, headers: Headers, limits: Limits
) -> AsyncIterator[ReceivedForm]:
    """The form of a request. `TooLarge` as soon as it exceeds the limit; its files live in this block."""
    most = _Most.of(kind, limits)
    check_length(headers, most.size + _OVERHEAD)
    with ExitStack() as stack:
        try:
            reader = _Reader(_boundary(headers), limits, most, stack)
            await _collect(reader, receive, most)
        except FormParserError as exc:
            raise _broken() from exc
        yield ReceivedForm(kind, reader.parts, limits)


async def _collect(reader: _Reader, receive: Receive, most: _Most) -> None:
    size = 0
    async for part in _chunks(receive):
        size += len(part)
        if size > most.size + _OVERHEAD:
            raise most.exceeded()
        if size > SPOOL_BYTES:  # from here on bytes go to the disk, which may keep a thread waiting
            await anyio.to_thread.run_sync(reader.write, part)
        else:
            reader.write(part)
    reader.finish()


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        yield message.get("body", b"")
        more = message.get("more_body", False)


def _boundary(headers: Headers) -> bytes:
    kind, options = parse_options_header(header(headers, b"content-type") or "")
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise refuse("body", (), "must be multipart/form-data with a boundary", "form_invalid")
    return boundary


def _broken() -> InvalidInput:
    return refuse("body", (), "is not a complete multipart form", "form_invalid")


def _inside_request(error: InvalidInput) -> InvalidInput:
    """The same problems, placed in the form's field."""
    problems = [
        FieldProblem((one.loc[0], "request", *one.loc[1:]), one.msg, one.type) for one in error.fields
    ]
    return InvalidInput(f"request.{error.message}", fields=problems, cause=error)
