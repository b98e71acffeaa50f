"""Reading an archive that anyone may have made: nothing in it is believed before it is checked.

Sizes are bounded before and while unpacking, names must be those of the format, and every part's
digest and row count must agree with the manifest once it was read.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from lorebank.banks.transfer import format as fmt
from lorebank.banks.transfer.format import Manifest, bad, parse_manifest

_PIECE = 2**16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_END = struct.Struct("<4s4H2LH")
"""The last record of a zip file: signature, four numbers, bytes and place of the list, comment length."""
_LOCATOR = 20
_MAX_LISTED = 4096


class Archive:
    """An opened archive. Every method raises `BadRequest` when something in it is wrong."""

    def __init__(self, file: BinaryIO) -> None:
        with _unpacking("the file"):
            _check_end(file)
            self._packed = zipfile.ZipFile(file)
            self._entries = _entries(self._packed)
            self.manifest: Manifest = parse_manifest(self._manifest())
        names = self._entries.keys() - {fmt.MANIFEST}
        if names != self.manifest.parts.keys():
            raise bad("its parts are not those that manifest.json lists")
        for name, part in self.manifest.parts.items():
            if self._entries[name].file_size != part.size:
                raise bad(f"{name} has another size than manifest.json says")

    def verify(self) -> None:
        """Check sizes and digests of all parts: one pass over all bytes, nothing is kept."""
        for name in self.manifest.parts:
            for _ in self._pieces(name):
                pass

    def whole(self, name: str) -> dict[str, Any] | None:
        """A part that is one JSON object, None when the archive has not got it."""
        if name not in self.manifest.parts:
            return None
        return _object(name, 1, b"".join(self._pieces(name)))

    def lines(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """(line number, JSON object) of each line of a part; nothing when the archive has not got it."""
        if name not in self.manifest.parts:
            return
        count = 0
        for count, line in enumerate(self._split(name), start=1):
            yield count, _object(name, count, line)
        if count != self.manifest.rows(name):
            raise bad(f"{name} has {count} lines, manifest.json says {self.manifest.rows(name)}")

    def vectors(self) -> Iterator[bytes]:
        """The rows of the vector part, each of the manifest's dimension, as they are in the file."""
        width = self.manifest.dimension * 2
        if not width or fmt.VECTORS not in self.manifest.parts:
            return
        rest = b""
        for piece in self._pieces(fmt.VECTORS):
            data = rest + piece
            whole = len(data) - len(data) % width
            for start in range(0, whole, width):
                yield data[start : start + width]
            rest = data[whole:]
        if rest:
            raise bad(f"{fmt.VECTORS} does not hold whole vectors")

    def _manifest(self) -> bytes:
        info = self._entries.get(fmt.MANIFEST)
        if info is None:
            raise bad("it has no manifest.json")
        if info.file_size > fmt.MAX_MANIFEST:
            raise bad("manifest.json is too large")
        with self._packed.open(info) as part:
            return part.read(fmt.MAX_MANIFEST + 1)

    def _split(self, name: str) -> Iterator[bytes]:
        line = bytearray()
        for piece in self._pieces(name):
            first, *others = piece.split(b"\n")
            line += first
            for following in others:
                yield bytes(line)
                line = bytearray(following)
            if len(line) > fmt.MAX_LINE:
                raise bad(f"{name} has a line of more than {fmt.MAX_LINE} bytes")
        if line:
            yield bytes(line)

    def _pieces(self, name: str) -> Iterator[bytes]:
        """The bytes of a part; what was read is right only when the iterator has come to its end."""
        expected = self.manifest.parts[name]
        digest, size = hashlib.sha256(), 0
        with _unpacking(name), self._packed.open(self._entries[name]) as part:
            while piece := part.read(_PIECE):
                size += len(piece)
                if size > expected.size:
                    raise bad(f"{name} is longer than manifest.json says")
                digest.update(piece)
                yield piece
        if size != expected.size or digest.hexdigest() != expected.sha256:
            raise bad(f"{name} is damaged: its SHA-256 is not the one in manifest.json")


@contextmanager
def _unpacking(what: str) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError) as exc:
        raise bad(f"{what} is no readable zip data", exc) from exc
    except (RuntimeError, OSError, ValueError) as exc:  # what zipfile raises for odd headers and passwords
        raise bad(f"{what} cannot be unpacked", exc) from exc


def _check_end(file: BinaryIO) -> None:
    """The list of files is at the end, small, and in the plain form: nobody can make the zip module read
    millions of entries."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _LOCATOR - _END.size))
    tail = file.read()
    if len(tail) < _END.size:
        raise bad("the file is no zip file")
    signature, *_, listed, _, comment = _END.unpack(tail[-_END.size :])
    if signature != b"PK\5\6" or comment:
        raise bad("the file is no zip file, or was changed after it was made")
    if listed > _MAX_LISTED or tail.startswith(b"PK\6\7"):
        raise bad("the file lists more parts than the format has")


def _entries(packed: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    infos = packed.infolist()
    for info in infos:
        if info.filename != fmt.MANIFEST and info.filename not in fmt.PARTS:
            raise bad("it holds a file that is no part of the format")
        if info.filename in found:
            raise bad(f"it holds {info.filename} twice")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise bad(f"{info.filename} is encrypted or packed in a way that is not supported")
        if info.file_size > fmt.MAX_RATIO * max(info.compress_size, _PIECE):
            raise bad(f"{info.filename} unpacks to more than {fmt.MAX_RATIO} times its size")
        found[info.filename] = info
    if sum(info.file_size for info in infos) > fmt.MAX_UNPACKED:
        raise bad(f"it unpacks to more than {fmt.MAX_UNPACKED} bytes")
    return found


def _object(name: str, number: int, data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as exc:
        raise bad(f"{name} line {number} is not JSON", exc) from exc
    if not isinstance(value, dict):
        raise bad(f"{name} line {number} is no object")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
