"""Writing an archive: one consistent snapshot of a bank, part by part, into a zip file."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from lorebank import __version__
from lorebank.banks.transfer import encode
from lorebank.banks.transfer import format as fmt
from lorebank.banks.transfer.format import Manifest, Part
from lorebank.banks.transfer.rows import VectorRow
from lorebank.banks.transfer.snapshot import Choice, Snapshot
from lorebank.clock import Micros, to_datetime, to_iso
from lorebank.storage.rows import BankRow

_ZIP_EPOCH: Micros = 315_532_800_000_000
"""1980-01-01: the earliest time that a zip file can hold."""
_F16 = 2


def write_archive(file: BinaryIO, rows: Snapshot, bank: BankRow, choice: Choice, now: Micros) -> Manifest:
    """Write the archive of `rows` into `file`; its manifest."""
    manifest = Manifest(choice.kind, bank.bank_id, to_iso(now) or "", f"lorebank {__version__}")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        writer = _Writer(packed, now)
        if choice.config:
            writer.binary(fmt.BANK, [_pretty(encode.bank(bank))])
        if choice.data:
            manifest = _write_rows(writer, rows, manifest)
        manifest = replace(manifest, parts=writer.parts)
        packed.writestr(writer.info(fmt.MANIFEST), manifest.to_json())
    return manifest


def _write_rows(writer: _Writer, rows: Snapshot, manifest: Manifest) -> Manifest:
    writer.lines(fmt.DOCUMENTS, map(encode.document, rows.documents()))
    writer.lines(fmt.CHUNKS, map(encode.chunk, rows.chunks()))
    writer.lines(fmt.EVENTS, map(encode.event, rows.events()))
    writer.lines(fmt.MEMORIES, map(encode.memory, rows.memories()))
    writer.lines(fmt.ENTITIES, map(encode.entity, rows.entities()))
    writer.lines(fmt.LINKS, map(encode.link, rows.links()))
    return _write_vectors(writer, rows, manifest)


def _write_vectors(writer: _Writer, rows: Snapshot, manifest: Manifest) -> Manifest:
    """The vectors, so that recall finds the same at once; without them they are made anew."""
    found: list[VectorRow] = []

    def data() -> Iterator[bytes]:
        for row in rows.vectors():
            found.append(VectorRow(row.memory_id, b""))
            yield row.data

    writer.binary(fmt.VECTORS, data())
    writer.lines(fmt.VECTOR_IDS, ({"memory": row.memory_id} for row in found))
    if not found:
        return manifest
    dimension = writer.parts[fmt.VECTORS].size // len(found) // _F16
    return replace(manifest, model=rows.vector_model(), dimension=dimension)


def _pretty(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n"


class _Writer:
    """Writes parts and notes their digests."""

    def __init__(self, packed: zipfile.ZipFile, now: Micros) -> None:
        self._packed = packed
        when = to_datetime(max(now, _ZIP_EPOCH))
        self._date = (when.year, when.month, when.day, when.hour, when.minute, when.second)
        self.parts: dict[str, Part] = {}

    def lines(self, name: str, rows: Iterable[encode.Line]) -> None:
        """A part with one JSON object a line."""
        self.binary(name, (json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows))

    def binary(self, name: str, pieces: Iterable[bytes]) -> None:
        """A part made of pieces, one a row."""
        digest, size, rows = hashlib.sha256(), 0, 0
        with self._packed.open(self.info(name), "w", force_zip64=True) as part:
            for piece in pieces:
                part.write(piece)
                digest.update(piece)
                size, rows = size + len(piece), rows + 1
        self.parts[name] = Part(digest.hexdigest(), size, rows)

    def info(self, name: str) -> zipfile.ZipInfo:
        """The header of a part: private to its owner, dated by the export."""
        info = zipfile.ZipInfo(name, date_time=self._date)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o600 << 16
        return info
