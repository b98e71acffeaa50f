"""Attaching files: one publication, checked hashes, safe repeats, a receipt only."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lorebank.access.audience import PRIVATE, Partition
from lorebank.errors import Conflict, Forbidden, InvalidInput, LorebankError
from lorebank.vaults.evidence.descriptors import content_path, decode, descriptor_path, encode
from lorebank.vaults.tools import attach_file
from lorebank.vaults.tools.attach_file import AttachAsk
from made_vault import MadeHandle, MadeVault, made_id

CONTENT = b"the minutes of the meeting\n"
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(name="handle")
def opened(tmp_path: Path) -> MadeHandle:
    return MadeHandle(MadeVault(tmp_path))


def attach(handle: MadeHandle, content: bytes = CONTENT, **rest: Any) -> dict[str, Any]:
    options = {"request_id": "r1", "sha256": SHA, "size": len(content)} | rest
    return attach_file.run(handle, AttachAsk(**options), io.BytesIO(content), lambda: 1_796_000_000_000_000)


def artifacts(handle: MadeHandle) -> list[str]:
    root = handle.vault.root
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def leftovers(handle: MadeHandle) -> list[Path]:
    return list(handle.vault.base.glob("staged-*"))


@pytest.mark.statement("3.2")
def test_a_file_is_kept_with_its_descriptor_and_only_a_receipt_comes_back(handle: MadeHandle) -> None:
    answer = attach(handle, filename="minutes.MD", attribution="the secretary")
    source = answer["source"]
    assert artifacts(handle) == sorted([content_path(SHA), descriptor_path(SHA, source)])
    kept = handle.vault.root / content_path(SHA)
    assert kept.read_bytes() == CONTENT
    path = descriptor_path(SHA, source)
    found = decode((handle.vault.root / path).read_bytes(), path, PRIVATE)
    assert (found.id, found.size, found.origin) == (source, len(CONTENT), "knowledge_attach_file")
    assert (found.filename, found.media_type, found.attribution) == (
        "minutes.MD",
        "text/markdown",
        "the secretary",
    )
    assert found.retained_at == "2026-11-30T00:53:20+00:00"
    assert answer.keys() == {"requestId", "publishedAt", "source", "sha256", "size", "mediaType", "replayed"}
    assert "minutes" not in str(answer)


@pytest.mark.statement("3.2")
def test_the_same_request_again_gives_the_same_receipt(handle: MadeHandle) -> None:
    first, again = attach(handle), attach(handle)
    assert again == first | {"replayed": True}
    assert len(artifacts(handle)) == 2 and leftovers(handle) == []
    with pytest.raises(Conflict):
        attach(handle, attribution="somebody else")


@pytest.mark.statement("3.2", "2.1.9")
def test_the_same_bytes_again_are_kept_once_with_a_further_descriptor(handle: MadeHandle) -> None:
    first = attach(handle, attribution="Ann")
    second = attach(handle, request_id="r2", attribution="Bob")
    assert first["source"] != second["source"]
    assert len(artifacts(handle)) == 3 and leftovers(handle) == []


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"sha256": "0" * 64}, None),
        ({"sha256": SHA[:-1]}, "sha256"),
        ({"size": 3}, None),
        ({"filename": "../minutes.md"}, "filename"),
        ({"filename": "C:\\minutes.md"}, "filename"),
        ({"filename": ".."}, "filename"),
        ({"filename": "a\nb"}, "filename"),
        ({"filename": "x" * 256}, "filename"),
        ({"attribution": " "}, "attribution"),
        ({"attribution": "a\x00b"}, "attribution"),
    ],
)
@pytest.mark.statement("3.2")
def test_what_does_not_fit_is_refused_and_keeps_nothing(
    handle: MadeHandle, wrong: dict[str, Any], field: str | None
) -> None:
    with pytest.raises(InvalidInput) as caught:
        attach(handle, **wrong)
    assert artifacts(handle) == []
    if field is not None:
        assert caught.value.fields[0].loc == ("body", "request", field)


@pytest.mark.statement("3.2", "1.1.12")
def test_the_expected_store_refuses_and_never_selects(handle: MadeHandle) -> None:
    with pytest.raises(Conflict) as caught:
        attach(handle, expected_vault=made_id(99))
    assert handle.grant.vault not in caught.value.message
    assert artifacts(handle) == []
    assert attach(handle, expected_vault=handle.grant.vault)["replayed"] is False


def test_1_3_23_a_reader_attaches_nothing(tmp_path: Path) -> None:
    reader = MadeHandle(MadeVault(tmp_path), may_save=False)
    with pytest.raises(Forbidden):
        attach(reader)
    assert artifacts(reader) == [] and leftovers(reader) == []


def test_1_8_77_a_file_is_read_in_blocks(handle: MadeHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attach_file, "BLOCK", 8)
    sizes: list[int] = []
    real = handle.stage

    def counted(chunks: Iterator[bytes], **rest: Any) -> Any:
        def each() -> Iterator[bytes]:
            for chunk in chunks:
                sizes.append(len(chunk))
                yield chunk

        return real(each(), **rest)

    monkeypatch.setattr(handle, "stage", counted)
    attach(handle)
    assert max(sizes) == 8 and sum(sizes) == len(CONTENT)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.pdf", "application/pdf"),
        ("a.tar.GZ", "application/octet-stream"),
        ("pdf", "application/pdf"),
        (None, "application/octet-stream"),
        ("notes.txt", "text/plain"),
    ],
)
def test_media_types_come_from_a_fixed_table(name: str | None, kind: str) -> None:
    assert attach_file.media_type(name) == kind


# --- descriptors


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"id": "../x"},
        {"id": "ABCDEF00-0000-4000-8000-000000000000"},
        {"sha256": "x"},
        {"size": -1},
        {"size": True},
        {"size": "3"},
        {"path": "/etc/passwd"},
        {"path": "artifacts/../private/x"},
        {"path": "people/x.md"},
        {"path": "artifacts/.git/x"},
        {"origin": ""},
        {"origin": None},
        {"attribution": 5},
        {"scope": {"visibility": "conversation", "sessionId": "33333333-3333-4333-8333-333333333333"}},
    ],
)
def test_a_descriptor_that_is_not_right_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    good = MadeVault(tmp_path).retain(CONTENT)
    data = json.loads(encode(good, PRIVATE))
    assert decode(json.dumps(data).encode(), "artifacts/x.json", PRIVATE) == good
    with pytest.raises(InvalidInput, match="descriptor"):
        decode(json.dumps(data | change).encode(), "artifacts/x.json", PRIVATE)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b"[" * 60_000, b" " * 70_000])
def test_anything_else_is_no_descriptor(raw: bytes) -> None:
    with pytest.raises(LorebankError):
        decode(raw, "artifacts/x.json", PRIVATE)


def test_1_5_47_a_descriptor_of_another_partition_is_refused(tmp_path: Path) -> None:
    session = Partition("33333333-3333-4333-8333-333333333333")
    foreign = MadeVault(tmp_path, session).retain(CONTENT)
    with pytest.raises(InvalidInput, match="scope"):
        decode(encode(foreign, session), "artifacts/x.json", PRIVATE)
