"""Uploaded files to text: text kinds here, PDF and Office through an optional extra.

Text kinds come back as they are written (JSON, CSV and Markdown unchanged), because text is the truth
and those who split it know these forms.
"""

from __future__ import annotations

import codecs
from email.message import Message
from pathlib import PurePosixPath, PureWindowsPath

from lorebank.errors import InvalidInput, printable
from lorebank.models.document_kinds import KINDS
from lorebank.models.providers.documents import document_to_text
from lorebank.models.providers.html_text import html_to_text

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_TEXT_TYPES = frozenset({"application/json", "application/jsonl", "application/x-ndjson", "application/xml"})
_UNTOLD_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_TEXT_NAMES = "txt text md markdown rst log json jsonl ndjson csv tsv yaml yml xml"
_TEXT_EXTENSIONS = frozenset(_TEXT_NAMES.split())
_HTML_EXTENSIONS = frozenset({"html", "htm", "xhtml"})
_SUPPORTED = "text, Markdown, JSON, CSV and HTML files, and with the extra `documents` " + ", ".join(KINDS)
_LONGEST_NAME = 80


class FileParser:
    """The `Parser` of the offline default."""

    def parse(self, data: bytes, *, media_type: str | None, filename: str | None) -> str:
        """The text of the file, with line breaks as `\\n`.

        The extension decides where it is a known one, then the media type, then the bytes. Text must
        be UTF-8, or UTF-16 with a byte order mark, or in the `charset` that the media type names.
        Raises `InvalidInput` for another kind or encoding and for a damaged file, `Unavailable` where
        the extra is missing.
        """
        name, extension = _name_and_extension(filename)
        kind, charset = _media_type(media_type)
        document = KINDS.get(extension) or (kind if kind in KINDS.values() else None)
        if document is not None:
            return _lines(document_to_text(data, document, name))
        if extension not in _TEXT_EXTENSIONS | _HTML_EXTENSIONS and not _may_be_text(kind):
            raise InvalidInput(f"{name} is of the kind {printable(kind)}; send one of: {_SUPPORTED}")
        text = _decoded(data, charset, name)
        is_html = extension in _HTML_EXTENSIONS or kind in _HTML_TYPES
        return _lines(html_to_text(text) if is_html else text)


def _name_and_extension(filename: str | None) -> tuple[str, str]:
    base = PurePosixPath(PureWindowsPath(filename or "").name).name
    extension = PurePosixPath(base).suffix.removeprefix(".").lower()
    return (printable(base[:_LONGEST_NAME]).replace("\n", " ") or "the file"), extension


def _media_type(value: str | None) -> tuple[str, str | None]:
    message = Message()
    message["content-type"] = (value or "").replace("\r", " ").replace("\n", " ")
    if not value or "/" not in value:
        return "", None
    return message.get_content_type(), message.get_content_charset()


def _may_be_text(kind: str) -> bool:
    return kind.startswith("text/") or kind in _UNTOLD_TYPES | _TEXT_TYPES | _HTML_TYPES


def _decoded(data: bytes, charset: str | None, name: str) -> str:
    encoding = _encoding(data, charset, name)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as exc:
        raise InvalidInput(
            f"{name} is not readable as {encoding} text; convert it to UTF-8, name its charset in the "
            f"media type, or send one of: {_SUPPORTED}",
            cause=exc,
        ) from exc
    if "\0" in text:
        raise InvalidInput(f"{name} looks like a binary file; send one of: {_SUPPORTED}")
    return text.removeprefix("\ufeff")


def _encoding(data: bytes, charset: str | None, name: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        found = codecs.lookup(charset or "utf-8")
    except (LookupError, ValueError) as exc:
        raise InvalidInput(f"{name} names an unknown charset; use utf-8", cause=exc) from exc
    if not found._is_text_encoding:  # base64, zip and the like are codecs too
        raise InvalidInput(f"{name} names an unknown charset; use utf-8")
    return found.name


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
