"""Editing a record changes the keys that were named, and not one other byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorebank.errors import InvalidInput
from lorebank.vaults.record.edit import REMOVE, edit_record
from lorebank.vaults.record.frame import framed
from lorebank.vaults.record.parse import body_of, meta_of
from lorebank.vaults.record.render import quoted, render_record

_words = st.text(st.sampled_from("abc xyzé漢🙂0:#-'\"|>{}[]&*!%@`,?~\\"), max_size=12)
_any_text = st.one_of(_words, st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0.5, -1.25, 1e300]),
    _any_text,
)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(_words.filter(bool), inner, max_size=3)
    ),
    max_leaves=6,
)
_plain = st.sampled_from(["word", "two words", "it's", "2026-11-30", "12", "http://a.b/c?d#e", "é漢"])
_line_texts = st.lists(
    st.sampled_from(["one", "two: 2", "# no comment", "- three", "é", "  deep"]), min_size=1
)


@st.composite
def _styled(draw: st.DrawFn) -> str:
    """What may stand behind a key: a value in one of YAML's styles, with comments where they may be."""
    style = draw(
        st.sampled_from(
            [
                "plain",
                "wrapped",
                "double",
                "single",
                "literal",
                "folded",
                "keep",
                "list",
                "same",
                "map",
                "flow",
                "no",
            ]
        )
    )
    note = draw(st.sampled_from(["", "  # note", " #"]))
    if style in ("literal", "folded", "keep"):
        lines = draw(_line_texts)
        head = {"literal": "|", "folded": ">-", "keep": "|+"}[style]
        blank = draw(st.sampled_from(["", "\n", "\n\n"]))
        return f" {head}{note}\n  top" + "".join(f"\n  {line}" for line in lines) + blank
    texts = {
        "plain": " " + draw(_plain) + note,
        "wrapped": f" {draw(_plain)}\n  more {draw(_plain)}" + note,
        "double": " " + quoted(draw(_any_text)) + note,
        "single": " '" + draw(_words).replace("'", "''").replace("\\", "/") + "'" + note,
        "list": note + "".join(f"\n  - {draw(_plain)}{note}\n  # in between" for _ in range(2)),
        "same": note + "".join(f"\n- {draw(_plain)}" for _ in range(2)),
        "map": f"{note}\n  inner: {draw(_plain)}\n\n  # about\n  other: [1, 2]\n    # deep",
        "flow": f" {{a: [1, '{draw(_plain).replace(chr(39), '')}'],\n  b: {{c: ~}}}}" + note,
        "no": note,
    }
    return texts[style]


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A whole record file as text with LF, and its keys in order."""
    keys = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5, unique=True))
    between = st.sampled_from(["", "", "# a comment\n", "\n", "\n# one\n#two\n"])
    text = "---\n" + draw(st.sampled_from(["", "# at the top\n"]))
    for key in keys:
        name = draw(st.sampled_from([key, key, f'"{key}"', f"'{key}'"]))
        text += f"{name}:{draw(_styled())}\n{draw(between)}"
    body = draw(st.sampled_from(["", "\nText.\n", "\n# A\n\n---\n\nb", "no empty line\n\n\n"]))
    return f"{text}---\n{body}", keys


@settings(max_examples=250, deadline=None)
@given(
    _files(),
    st.data(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_2_1_3_an_edit_keeps_every_byte_of_what_was_not_named(
    file: tuple[str, list[str]], data: st.DataObject, eol: str, bom: bool
) -> None:
    text, keys = file
    raw = (("\ufeff" if bom else "") + text.replace("\n", eol)).encode()
    before = meta_of(raw)
    names = st.sampled_from([*keys, "new", "other key"])
    changes = data.draw(st.dictionaries(names, st.one_of(_values, st.just(REMOVE)), max_size=3))
    expected = _changed(before, changes)
    if not expected:
        return  # a record without any key is none
    after = edit_record(raw, changes)
    assert meta_of(after) == expected
    assert body_of(after) == body_of(raw)
    assert after.startswith("\ufeff".encode()) == bom
    assert _rest(after) == _rest(raw)
    for key in keys:
        if key not in changes:
            assert _chunk(text, key, keys).replace("\n", eol).rstrip("\r\n") in after.decode("utf-8")
    for comment in ("# at the top", "# a comment", "#two"):
        assert after.decode().count(comment) == raw.decode().count(comment)


def _changed(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in before.items() if key not in changes}
    return kept | {key: value for key, value in changes.items() if value is not REMOVE}


def _rest(raw: bytes) -> str:
    frame = framed(raw)
    return frame.text[frame.rest :]


def _chunk(text: str, key: str, keys: list[str]) -> str:
    """The lines of a key up to the next one, without the comments at the margin before it."""
    lines = text.split("\n")
    marks = tuple(f"{quote}{one}{quote}:" for one in keys for quote in ("", '"', "'"))
    start = next(
        at for at, line in enumerate(lines) if line.lstrip("'\"")[:1] == key and line.startswith(marks)
    )
    end = next(
        at for at in range(start + 1, len(lines)) if lines[at].startswith((*marks, "#")) or lines[at] == "---"
    )
    return "\n".join(lines[start:end])


def test_2_1_3_unknown_keys_comments_and_line_ends_survive_a_save() -> None:
    raw = (
        "\ufeff---\r\n# mine\r\ntitle:  'Old'   # why\r\nmy-own: {x: [1,  2]}\r\n"
        "tags:\r\n- a # first\r\n- b\r\n---\r\n\r\nBody\r\n"
    ).encode()
    after = edit_record(raw, {"title": "New", "revision": 2}, "Line one\nLine two")
    assert (
        after
        == (
            "\ufeff---\r\n# mine\r\ntitle: New   # why\r\nmy-own: {x: [1,  2]}\r\n"
            "tags:\r\n- a # first\r\n- b\r\nrevision: 2\r\n---\r\n\r\nLine one\r\nLine two\r\n"
        ).encode()
    )


def test_an_edit_of_nothing_is_the_same_file() -> None:
    raw = render_record({"format": "x", "quote": "a\nb", "list": []}, "text")
    assert edit_record(raw, {}) == raw


@pytest.mark.parametrize(
    "front",
    ["{a: 1, b: 2}\n", "? a\n: 1\n", "a: &x 1\nb: *x\n", "a: 1\na: 2\n", "a: [1\n", "- a\n", ""],
)
def test_what_cannot_be_changed_line_by_line_is_refused_with_its_line(front: str) -> None:
    with pytest.raises(InvalidInput, match="line"):
        edit_record(f"---\n{front}---\n".encode(), {"a": 5})


def test_a_body_is_exchanged_and_the_frontmatter_stays() -> None:
    raw = b"---\na:   1 # c\n---\n"
    assert edit_record(raw, {}, "New") == b"---\na:   1 # c\n---\n\nNew\n"
    assert edit_record(b"---\na: 1\n---", {}, "New") == b"---\na: 1\n---\n\nNew\n"
    assert edit_record(b"---\na: 1\n---\nOld\n\n", {}, "New\n\n") == b"---\na: 1\n---\nNew\n\n"
    assert edit_record(b"---\na: 1\n---\n\nOld\n", {}, "") == b"---\na: 1\n---\n"


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(_words.filter(bool), _values, min_size=1, max_size=5), _any_text)
def test_what_is_written_reads_back(meta: dict[str, Any], body: str) -> None:
    raw = render_record(meta, body)
    assert meta_of(raw) == json.loads(json.dumps(meta))
    assert edit_record(raw, {"k": [meta]}) != raw
