"""Uploaded files become text, or a sentence that says what to send instead."""

from __future__ import annotations

import importlib.util
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.errors import InvalidInput, LorebankError, Unavailable
from lorebank.models.parse import FileParser
from lorebank.models.providers import documents
from lorebank.models.providers.html_text import html_to_text

PARSER = FileParser()


def parse(data: bytes, media_type: str | None = None, filename: str | None = None) -> str:
    return PARSER.parse(data, media_type=media_type, filename=filename)


@pytest.mark.parametrize(
    ("data", "media_type", "filename"),
    [
        (b"# Notes\n- one", "text/markdown", "notes.md"),
        (b'{"a": [1, 2]}', "application/json", "a.json"),
        (b"name,age\nTom,3", None, "people.csv"),
        (b"plain", None, None),
        (b"plain", "application/octet-stream", "README"),
        ("Grüße".encode(), "text/plain; charset=utf-8", "a.txt"),
    ],
)
def test_text_kinds_come_back_unchanged(data: bytes, media_type: str | None, filename: str | None) -> None:
    assert parse(data, media_type, filename) == data.decode()


def test_line_breaks_and_byte_order_marks_are_made_alike() -> None:
    assert parse(b"\xef\xbb\xbfone\r\ntwo\rthree") == "one\ntwo\nthree"
    assert parse("drei\n".encode("utf-16")) == "drei\n"


def test_a_named_charset_is_used() -> None:
    assert parse("Größe".encode("latin-1"), "text/plain; charset=iso-8859-1", "a.txt") == "Größe"


@pytest.mark.parametrize(
    ("data", "media_type", "filename", "sentence"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png", "photo.png", r"photo\.png is of the kind image/png"),
        (b"\x89PNG\r\n\x1a\n\0\0", None, "photo.png", r"photo\.png is not readable as utf-8"),
        (b"MZ\0\0", None, "tool.exe", r"tool\.exe looks like a binary file"),
        (b"abc", "text/plain; charset=klingon", "a.txt", "unknown charset"),
        (b"YWJj", "text/plain; charset=base64", "a.txt", "unknown charset"),
        (b"x", "video/mp4", "/srv/someone/secret/film.mp4", r"^film\.mp4 is"),
    ],
)
def test_what_cannot_be_read_is_told_by_name(
    data: bytes, media_type: str | None, filename: str, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        parse(data, media_type, filename)


@given(st.binary(max_size=40), st.none() | st.text(max_size=20), st.none() | st.text(max_size=20))
def test_any_upload_gives_text_or_a_typed_error(
    data: bytes, media_type: str | None, name: str | None
) -> None:
    try:
        assert isinstance(parse(data, media_type, name), str)
    except LorebankError as exc:
        assert exc.message.isprintable()


def test_html_becomes_what_a_person_reads() -> None:
    page = b"""<!doctype html><html><head><title>Trip</title><style>p {}</style>
    <script>var a = "<p>no</p>"</script></head><body><h1>Day 1</h1><p>We took
    the <b>ferry</b> &amp; a bus.<br>Then lunch.</p><table><tr><td>in</td><td>9:00</td></tr></table></body>"""
    assert parse(page, "text/html", "trip.html") == "\n".join(
        ["Trip", "Day 1", "We took the ferry & a bus.", "Then lunch.", "in 9:00"]
    )


@pytest.mark.parametrize(
    "page",
    ["<head><title>T</title><p>text", "<p>text<script>alert(1)", "<pre>text</pre></div></svg>", "<<p>>text"],
)
def test_broken_html_keeps_its_text(page: str) -> None:
    text = html_to_text(page)
    assert "text" in text
    assert "alert" not in text


@given(st.text(max_size=80))
def test_html_never_raises(page: str) -> None:
    assert isinstance(html_to_text(page), str)


def test_preformatted_lines_stay_lines() -> None:
    assert html_to_text("<pre>one\ntwo</pre>") == "one\ntwo"


def test_a_pdf_without_the_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"lorebank\[documents\]"):
        parse(b"%PDF-1.4", "application/pdf", "a.pdf")


def small_pdf(text: str) -> bytes:
    """A one-page PDF with one line of text."""
    stream = zlib.compress(f"BT /F1 18 Tf 20 100 Td ({text}) Tj ET".encode())
    objects: list[Any] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n" % len(stream) + stream + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj" % number + body + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + table
    return bytes(out + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start)


needs_documents = pytest.mark.skipif(
    importlib.util.find_spec("kreuzberg") is None, reason="the extra `documents` is not installed"
)


@needs_documents
def test_a_pdf_becomes_its_text() -> None:
    assert "Minutes of the May meeting" in parse(small_pdf("Minutes of the May meeting"), None, "m.pdf")


@needs_documents
def test_a_damaged_pdf_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"m\.pdf could not be read"):
        parse(b"%PDF-1.4 nothing", "application/pdf", "m.pdf")


@needs_documents
def test_a_pdf_without_text_is_no_empty_success() -> None:
    with pytest.raises(InvalidInput, match="holds no text"):
        parse(small_pdf(" "), "application/pdf", "scan.pdf")
