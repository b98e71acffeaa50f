"""An archive is checked as if an enemy had made it; a bad one is refused by name and leaves nothing."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bank_server import Server
from hypothesis import given
from hypothesis import strategies as st

from lorebank.banks.transfer.contents import Contents
from lorebank.banks.transfer.format import MAX_RATIO, parse_manifest
from lorebank.banks.transfer.read import Archive
from lorebank.banks.transfer.restore import NEWEST
from lorebank.errors import BadRequest, LorebankError
from lorebank.limits import Limits

UUID = "11111111-2222-3333-4444-555555555555"
OTHER = "99999999-2222-3333-4444-555555555555"
Parts = dict[str, bytes]
Change = Callable[[Parts], None]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The archive of a small bank with one of everything."""
    server = Server(tmp_path_factory.mktemp("good") / "data")
    text = "Ada met Grace in Paris on 3 March 2024."
    server.retain("b", {"content": text, "document_id": "d", "tags": ["t"]})
    handle = server.handle("b")
    with handle.read() as reader:
        [row] = reader.missing_vectors("off", 10)
    with handle.write() as writer:
        writer.put_vectors("off", [(row.key, NEWEST, struct.pack("<4e", 0.5, -0.5, 0.25, 0.0))])
        writer.set_meta("active_model", "off")
    archive = server.export("b")
    server.close()
    return archive


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Server]:
    opened = Server(tmp_path / "data")
    yield opened
    opened.close()


def unpack(archive: bytes) -> Parts:
    packed = zipfile.ZipFile(io.BytesIO(archive))
    return {name: packed.read(name) for name in packed.namelist()}


def pack(parts: Parts, *, honest: bool = True) -> bytes:
    """The parts as a zip; `honest` makes the manifest agree with them."""
    if honest:
        manifest = json.loads(parts["manifest.json"])
        for name, part in manifest["parts"].items():
            data = parts.get(name, b"")
            part |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            if name.endswith(".jsonl"):
                part["rows"] = len(data.splitlines())
        parts = parts | {"manifest.json": json.dumps(manifest).encode()}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, data in parts.items():
            writer.writestr(name, data)
    return made.getvalue()


def _read(archive: bytes) -> None:
    """Read an archive to its end, as a restore does."""
    opened = Archive(io.BytesIO(archive))
    opened.verify()
    contents = Contents(opened, Limits())
    for rows in (
        contents.documents, contents.chunks, contents.events, contents.entities,
        contents.memories, contents.links, contents.vectors,
    ):  # fmt: skip
        for _ in rows():
            pass


def _field(part: str, name: str, value: Any) -> Change:
    def change(parts: Parts) -> None:
        first, *rest = parts[part].splitlines()
        line = json.dumps(json.loads(first) | {name: value}).encode()
        parts[part] = b"\n".join([line, *rest]) + b"\n"

    return change


def _manifest(**values: Any) -> Change:
    def change(parts: Parts) -> None:
        parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | values).encode()

    return change


def _twice(part: str) -> Change:
    def change(parts: Parts) -> None:
        parts[part] = parts[part] * 2

    return change


def _set(part: str, data: bytes) -> Change:
    def change(parts: Parts) -> None:
        parts[part] = data

    return change


def _link(**values: Any) -> Change:
    line = {"source": UUID, "target": UUID, "type": "causal", "weight": 1} | values
    return _set("links.jsonl", json.dumps(line).encode() + b"\n")


def test_the_good_archive_is_read_to_its_end(good: bytes) -> None:
    _read(pack(unpack(good)))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_manifest(version=2), "newer than this server's 1"),
        (_manifest(version="1"), "no format version"),
        (_manifest(version=True), "no format version"),
        (_manifest(format="other"), "another format"),
        (_manifest(kind="x"), "kind"),
        (_manifest(bank_id="a\nb"), "bank_id"),
        (_manifest(parts=[]), "lists no parts"),
        (_manifest(parts={"../../etc/passwd": {}}), "does not have"),
        (_manifest(vectors={"model": "m", "dimension": 10**9}), "dimension"),
        (_set("manifest.json", b"[" * 100_000), "not JSON"),
        (_set("memories.jsonl", b"[" * 100_000 + b"\n"), "memories.jsonl line 1 is not JSON"),
        (_set("memories.jsonl", b'{"id": NaN}\n'), "not JSON"),
        (_set("memories.jsonl", b"1\n"), "is no object"),
        (_set("memories.jsonl", b"\xff\xfe\n"), "not JSON"),
        (_set("vectors.f16", b"abc"), "whole vectors"),
        (_set("vectors.f16", struct.pack("<4e", float("inf"), 0, 0, 0)), "not finite"),
        (_set("vectors.f16", b"\0" * 16), "fewer lines"),
        (_set("vectors.f16", b""), "more lines"),
        (_twice("documents.jsonl"), "documents.jsonl line 2: id is there twice"),
        (_twice("memories.jsonl"), "memories.jsonl line 2: id is there twice"),
        (_twice("chunks.jsonl"), "chunk_id is there twice"),
        (_twice("entities.jsonl"), "id is there twice"),
        (_field("documents.jsonl", "id", ""), "documents.jsonl line 1: id must not be empty"),
        (_field("documents.jsonl", "id", 7), "id must be a text"),
        (_field("documents.jsonl", "text", "a\0b"), "NUL"),
        (_field("documents.jsonl", "text", "\ud800"), "surrogates"),
        (_field("documents.jsonl", "tags", "t"), "tags must be a list"),
        (_field("documents.jsonl", "tags", ["a\nb"]), "tags must not contain control"),
        (_field("documents.jsonl", "metadata", []), "metadata must be an object"),
        (_field("documents.jsonl", "metadata", {"x": "\0"}), "metadata must not contain NUL"),
        (_field("documents.jsonl", "created_at", "yesterday"), "created_at must be an ISO 8601"),
        (_field("documents.jsonl", "created_at", "99999-01-01"), "created_at must be an ISO 8601"),
        (_field("chunks.jsonl", "document_id", "nope"), "not in the archive"),
        (_field("chunks.jsonl", "chunk_index", -1), "chunk_index"),
        (_field("chunks.jsonl", "chunk_index", 1.5), "chunk_index"),
        (_field("document_events.jsonl", "kind", "explode"), "kind must be one of"),
        (_field("document_events.jsonl", "document_id", "nope"), "not in the archive"),
        (_field("entities.jsonl", "id", "x"), "id must be a UUID"),
        (_field("entities.jsonl", "name", "  "), "name must not be empty"),
        (_field("memories.jsonl", "id", "../x"), "id must be a UUID"),
        (_field("memories.jsonl", "fact_type", "opinion"), "fact_type"),
        (_field("memories.jsonl", "state", None), "state"),
        (_field("memories.jsonl", "precision", "century"), "precision"),
        (_field("memories.jsonl", "metadata", {"a": 1}), "object of texts"),
        (_field("memories.jsonl", "entities", [OTHER]), "not in entities.jsonl"),
        (_field("memories.jsonl", "sources", [{"document_id": "nope"}]), "not in the archive"),
        (_field("memories.jsonl", "sources", [1]), "list of objects"),
        (_field("memories.jsonl", "source_memories", [OTHER]), "not in the archive"),
        (_field("memories.jsonl", "position", 10**12), "position"),
        (_field("memories.jsonl", "text", "x" * 2_000_000), "text must have at most"),
        (_field("memories.jsonl", "tags", ["x" * 5000]), "tags must be at most"),
        (_field("memories.jsonl", "history", [{"at": "x"}]), "history"),
        (_link(target=OTHER), "not in the archive"),
        (_link(type="evil"), "type must be one of"),
        (_link(weight=9), "weight"),
        (_field("vectors.jsonl", "memory", OTHER), "not in the archive"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(good: bytes, change: Change, told: str) -> None:
    parts = unpack(good)
    change(parts)
    try:
        archive = pack(parts)
    except (ValueError, TypeError, AttributeError, RecursionError):  # the manifest itself is broken
        archive = pack(parts, honest=False)
    with pytest.raises(BadRequest, match=told) as caught:
        _read(archive)
    assert caught.value.message.startswith("archive: ")


def test_a_changed_byte_is_noticed(good: bytes) -> None:
    parts = unpack(good)
    parts["memories.jsonl"] = parts["memories.jsonl"].replace(b"Paris", b"Pariz")
    with pytest.raises(BadRequest, match="SHA-256"):
        _read(pack(parts, honest=False))


def test_rows_must_be_as_many_as_promised(good: bytes) -> None:
    parts = unpack(good)
    manifest = json.loads(parts["manifest.json"])
    manifest["parts"]["memories.jsonl"]["rows"] = 5
    parts["manifest.json"] = json.dumps(manifest).encode()
    with pytest.raises(BadRequest, match=r"has 1 lines, manifest\.json says 5"):
        _read(pack(parts, honest=False))


@pytest.mark.parametrize("name", ["../evil.jsonl", "/etc/passwd", "a/bank.json", "bank.json\\..\\x", "x.txt"])
def test_files_outside_the_format_are_refused(good: bytes, name: str) -> None:
    with pytest.raises(BadRequest, match="no part of the format"):
        Archive(io.BytesIO(pack(unpack(good) | {name: b"x"})))


def test_parts_must_be_those_of_the_manifest(good: bytes) -> None:
    parts = unpack(good)
    del parts["links.jsonl"]
    with pytest.raises(BadRequest, match="parts are not those"):
        Archive(io.BytesIO(pack(parts, honest=False)))
    del parts["manifest.json"]
    with pytest.raises(BadRequest, match=r"no manifest\.json"):
        Archive(io.BytesIO(pack(parts, honest=False)))


def test_a_long_list_of_files_is_refused_before_it_is_read(good: bytes) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as writer:
        for number in range(100):
            writer.writestr(f"{number:040}", b"")
    for archive in (made.getvalue(), good + b"PK\6\7" + b"\0" * 16 + good[-22:], good[:-2] + b"\5\0hello"):
        with pytest.raises(BadRequest, match="archive: the file"):
            Archive(io.BytesIO(archive))


def test_a_part_may_be_there_once_only(good: bytes) -> None:
    made = io.BytesIO(good)
    with warnings.catch_warnings(), zipfile.ZipFile(made, "a") as writer:
        warnings.simplefilter("ignore")
        writer.writestr("bank.json", b"{}")
    with pytest.raises(BadRequest, match=r"bank\.json twice"):
        Archive(made)


def test_a_bomb_is_refused_before_it_is_unpacked(good: bytes) -> None:
    parts = unpack(good)
    parts["documents.jsonl"] = b" " * (2**16 * MAX_RATIO + 1)
    with pytest.raises(BadRequest, match=f"more than {MAX_RATIO} times"):
        Archive(io.BytesIO(pack(parts)))


def test_a_size_that_lies_is_noticed_while_unpacking(good: bytes) -> None:
    data = bytearray(good)
    packed = zipfile.ZipFile(io.BytesIO(good))
    info = packed.getinfo("memories.jsonl")
    at = data.rfind(b"memories.jsonl") - 46  # its entry in the central directory
    assert data[at : at + 4] == b"PK\x01\x02"
    data[at + 24 : at + 28] = struct.pack("<I", info.file_size - 7)
    with pytest.raises(BadRequest):
        _read(bytes(data))


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip file at all", b"\0" * 1000])
def test_what_is_no_zip_is_refused_when_it_is_sent(target: Server, data: bytes) -> None:
    for operation in ("import_bank_transfer", "import_documents"):
        with pytest.raises(BadRequest, match="archive: the file"):
            target.call(operation, "b", data)
    assert target.call("list_banks")["total"] == 0


@given(st.data())
def test_damage_anywhere_is_refused_or_harmless(good: bytes, data: st.DataObject) -> None:
    changed = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        _read(bytes(changed))
    except LorebankError as exc:
        assert isinstance(exc, BadRequest)


objects = st.dictionaries(st.text(max_size=9), st.none() | st.integers() | st.text())


@given(st.binary(max_size=300) | objects.map(lambda value: json.dumps(value).encode()))
def test_no_manifest_breaks_the_reader(data: bytes) -> None:
    with pytest.raises(BadRequest, match="archive: "):
        parse_manifest(data)


def test_a_bad_last_line_leaves_nothing_behind(good: bytes, target: Server) -> None:
    parts = unpack(good)
    _field("vectors.jsonl", "memory", OTHER)(parts)
    target.call("import_bank_transfer", "jobs", pack(parts), target_bank_id="b")
    with pytest.raises(BadRequest, match=r"vectors\.jsonl line 1"):
        target.run_job("jobs")
    assert [bank["bank_id"] for bank in target.call("list_banks")["banks"]] == ["jobs"]
    target.retain("own", "Ada likes tea with milk.")
    before = target.memories("own")
    target.call("import_documents", "own", pack(parts))
    with pytest.raises(BadRequest, match=r"vectors\.jsonl line 1"):
        target.run_job("own")
    assert target.memories("own") == before
    assert target.call("list_documents", "own")["total"] == 1
