"""Multipart uploads: what arrives, what is refused, and that nothing stays behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

PATH = "/v1/default/banks/team/files/retain"
IMPORT = "/v1/default/banks/team/transfer/import"
HEAD = b'--B\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n'


async def test_files_arrive_with_what_is_known_about_them(stage: Any) -> None:
    seen: list[Any] = []

    def look(call: Any) -> Any:
        request = call.request
        seen.extend((one.filename, one.media_type, one.size, one.file.read()) for one in request.files)
        seen.append([one.tags for one in request.metadata])
        return {"operation_ids": []}

    stage.answer = look
    options = {"parser": None, "colour": 1, "files_metadata": [{"tags": ["a"], "size": 1}, None]}
    async with stage.client() as client:
        answer = await client.post(
            PATH,
            files=[
                ("files", ("grüße.txt", b"hello" * 300_000, "text/plain")),
                ("files", ("b", b"", "application/x")),
            ],
            data={"request": json.dumps(options), "note": "x"},
        )
    assert answer.status_code == 200
    assert seen[0][:3] == ("grüße.txt", "text/plain", 1_500_000) and seen[0][3] == b"hello" * 300_000
    assert seen[1] == ("b", "application/x", 0, b"")
    assert seen[2] == [("a",), None]
    assert set(answer.headers["X-Ignored-Params"].split(", ")) == {"colour", "files_metadata.size", "note"}


async def test_files_are_closed_when_the_request_has_ended(stage: Any) -> None:
    async with stage.client() as client:
        await client.post(PATH, files=[("files", ("a.txt", b"x", "text/plain"))])
    assert stage.calls[0].request.files[0].file.closed


@pytest.mark.parametrize(
    ("files", "request_field", "loc"),
    [
        ([], None, ["body", "files"]),
        (["a"] * 4, None, ["body", "files"]),
        (["a"], "{", ["body"]),
        (["a"], "[]", ["body"]),
        (["a"], '{"files_metadata": [{}, {}]}', ["body", "request", "files_metadata"]),
        (["a"], '{"files_metadata": [{"tags": [5]}]}', ["body", "files_metadata", 0, "tags", 0]),
        (["a"], '{"files_metadata": [{"timestamp": "soon"}]}', ["body", "files_metadata", 0, "timestamp"]),
    ],
)
async def test_a_wrong_upload_is_refused_by_field(
    make_stage: Any, files: list[str], request_field: str | None, loc: list[Any]
) -> None:
    stage = make_stage(files=3)
    parts: list[Any] = [("files", (name, b"x", "text/plain")) for name in files]
    if request_field is not None:
        parts.append(("request", (None, request_field)))
    parts.append(("pad", (None, "x")))
    async with stage.client() as client:
        answer = await client.post(PATH, files=parts)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"][0]["loc"] == loc
    assert not stage.calls


async def test_too_many_bytes_are_refused_before_all_are_read(make_stage: Any) -> None:
    stage = make_stage(file_bytes=4096)
    parts = [HEAD, *[b"x" * 65_536] * 100]
    kind = {"content-type": "multipart/form-data; boundary=B"}
    streamed = await stage.exact("POST", PATH, headers=kind, body=parts)
    announced = await stage.exact("POST", PATH, headers=kind | {"content-length": "99999999"}, body=parts)
    assert streamed.status == announced.status == 413
    assert "4096 bytes" in streamed.json()["detail"]
    assert streamed.parts_read == 2 and announced.parts_read == 0
    exact = await stage.exact("POST", PATH, headers=kind, body=[HEAD + b"x" * 4096 + b"\r\n--B--\r\n"])
    assert exact.status == 200


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"x"),
        ("multipart/form-data; boundary=B", b"no boundary here"),
        ("multipart/form-data; boundary=B", HEAD + b"x"),
        ("multipart/form-data; boundary=B", b"--B\r\n" + b"X: " + b"y" * 10_000 + b"\r\n\r\nx\r\n--B--\r\n"),
        ("multipart/form-data; boundary=" + "B" * 400, b"--B--\r\n"),
    ],
)  # fmt: skip
async def test_a_broken_form_is_refused(stage: Any, kind: str, body: bytes) -> None:
    answer = await stage.exact("POST", PATH, headers={"content-type": kind}, body=[body])
    assert answer.status == 422 and not stage.calls


async def test_an_import_takes_exactly_one_archive(stage: Any) -> None:
    stage.answer = lambda call: {"operation_id": call.request.archive.file.read().decode()}
    async with stage.client() as client:
        one = await client.post(IMPORT, files={"file": ("a.zip", b"PK", "application/zip")})
        none = await client.post(IMPORT, files={"archive": ("a.zip", b"PK")})
    assert (one.status_code, one.json()) == (202, {"operation_id": "PK"})
    assert none.status_code == 422 and none.json()["detail"][0]["loc"] == ["body", "file"]
