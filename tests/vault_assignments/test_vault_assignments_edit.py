"""Edits of the store map leave everything else byte for byte."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyjson5
import pytest
from assignments_kit import SHARED
from hypothesis import given
from hypothesis import strategies as st

from lorebank.access.knowledge import NamedStore
from lorebank.errors import Conflict, Unavailable
from lorebank.vaults.assignments import replace as replacing
from lorebank.vaults.assignments.config import parse_config
from lorebank.vaults.assignments.config_file import MISSING, digest
from lorebank.vaults.assignments.edit import edited
from lorebank.vaults.assignments.json5 import comments, decode, locate
from lorebank.vaults.assignments.replace import replace_config


def after(text: str, **wanted: list[str]) -> str:
    """The text after these stores got these agents; the others stay."""
    now = dict(parse_config(text.encode()).settings.stores)
    for name, agents in wanted.items():
        label = now[name].label if name in now else name.title()
        now[name] = NamedStore(name, label, tuple(agents))
    return edited(text.encode(), now).decode()


def test_agents_are_taken_and_added_where_they_stand() -> None:
    assert after(SHARED, personal=["main", "bot"], team=["clerk"]) == (
        SHARED.replace('"main", "research"', '"main", "bot"').replace('        "bot",\n', "")
    )


def test_a_new_entry_comes_last_in_the_layout_that_is_there() -> None:
    assert after(SHARED, home=["a"]) == SHARED.replace(
        "      ],\n    },\n  },\n",
        '      ],\n    },\n    home: { label: "Home", agents: ["a"] },\n  },\n',
    )


@pytest.mark.parametrize(
    ("text", "agents", "meant"),
    [
        ("['a']", ["a", "b"], "['a', 'b']"),
        ("['a',]", ["a", "b"], "['a', 'b',]"),
        ("[]", ["a"], '["a"]'),
        ("[ /* none */ ]", ["a"], '["a" /* none */ ]'),
        ("['a', 'b', 'c']", ["c"], "['c']"),
        ("['a', 'b', 'c']", ["a"], "['a']"),
        ("['a', 'b', 'c']", [], "[]"),
        ("['a', /* x */ 'b']", ["a"], "['a' /* x */ ]"),
        ("['a', 'a']", [], "[]"),
        ("[\n  'a',\n  'b'\n]", ["a"], "[\n  'a'\n]"),
        ("[\n  'a',\n  'b'\n]", ["a", "b", "c"], "[\n  'a',\n  'b',\n  'c'\n]"),
        ("[\n  'a', // x\n]", ["a", "c"], "[\n  'a', // x\n  'c',\n]"),
        ("[\r\n\t'a'\r\n]", ["a", "c"], "[\r\n\t'a',\r\n\t'c'\r\n]"),
        ("['a' // x\n]", ["a", "c"], "['a', 'c' // x\n]"),
    ],
)
def test_lists_keep_their_look(text: str, agents: list[str], meant: str) -> None:
    around = "{{stores:{{s:{{agents:{}}}}}}}"
    assert after(around.format(text), s=agents) == around.format(meant)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("{}", '{ stores: { n: { label: "N", agents: ["a"] } } }'),
        ("{stores:{}}", '{stores:{ n: { label: "N", agents: ["a"] } }}'),
        ('{"semantic": true}', '{"semantic": true, "stores": { "n": { "label": "N", "agents": ["a"] } }}'),
        ("{'semantic':true,}", "{'semantic':true, 'stores': { 'n': { 'label': 'N', 'agents': ['a'] } },}"),
        (
            "{plugins:{entries:{}}}",
            '{plugins:{entries:{ knowledge: { config: { stores: { n: { label: "N", agents: ["a"] } } } } }}}',
        ),
        ("{\n  stores: {},\n}\n", '{\n  stores: {\n    n: { label: "N", agents: ["a"] },\n  },\n}\n'),
        ('{\n\t"stores": {}\n}', '{\n\t"stores": {\n\t\t"n": { "label": "N", "agents": ["a"] }\n\t}\n}'),
    ],
)
def test_missing_objects_are_added_in_the_files_own_style(text: str, meant: str) -> None:
    assert after(text, n=["a"]) == meant


def test_an_entry_without_a_list_gets_one_and_a_missing_file_is_written() -> None:
    assert after("{stores:{s:{label:'S'}}}", s=["a"]) == "{stores:{s:{label:'S', agents: ['a']}}}"
    made = edited(None, {"n": NamedStore("n", "N", ("a",))}).decode()
    assert made == '{\n  stores: {\n    n: { label: "N", agents: ["a"] },\n  },\n}\n'


NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]), min_size=1, max_size=4).filter(
    lambda text: bool(text.strip())
)
COMMENTS = st.sampled_from(["", " ", "\n", "\r\n  ", "// , ] } \"'\n", "/* [{ ' \" // */", "\t/**/ "])


@st.composite
def spelled(draw: st.DrawFn, text: str) -> str:
    if draw(st.booleans()):
        return json.dumps(text, ensure_ascii=draw(st.booleans()))
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@st.composite
def written(draw: st.DrawFn, value: object) -> str:
    """Some JSON5 text of a value, with comments wherever they may stand."""

    def gap() -> str:
        return draw(COMMENTS)

    if isinstance(value, dict):
        parts = []
        for key, inner in value.items():
            name = key if key.isascii() and key.isidentifier() else draw(spelled(key))
            parts.append(f"{gap()}{name}{gap()}:{gap()}{draw(written(inner))}{gap()}")
        return "{" + ",".join(parts) + draw(_end(parts)) + gap() + "}"
    if isinstance(value, list):
        parts = [f"{gap()}{draw(written(inner))}{gap()}" for inner in value]
        return "[" + ",".join(parts) + draw(_end(parts)) + gap() + "]"
    return draw(spelled(value)) if isinstance(value, str) else json.dumps(value)


def _end(parts: list[str]) -> st.SearchStrategy[str]:
    return st.sampled_from(["", ","] if parts else [""])


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, dict[str, NamedStore]]:
    """A file, and the map that it shall have."""
    agents = st.lists(st.sampled_from(["main", "bot", "it's", 'a"b', "é", "\\"]), unique=True, max_size=4)
    names = draw(st.lists(NAMES, unique_by=_nfc, max_size=3))
    stores = {name: {"label": "L", "agents": draw(agents)} for name in names}
    data: dict[str, object] = {"stores": stores, "operatorRead": True}
    if draw(st.booleans()):
        data = {"x": [1, {"y": "]"}], "plugins": {"entries": {"knowledge": {"config": data}}, "z": {}}}
    text = draw(written(data))
    wanted = {_nfc(name): NamedStore(_nfc(name), "L", tuple(draw(agents))) for name in names}
    for name in draw(st.lists(NAMES, unique_by=_nfc, max_size=2)):
        wanted.setdefault(_nfc(name), NamedStore(_nfc(name), "New", tuple(draw(agents))))
    return text, wanted


def _nfc(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", text)


def stores_span(text: str) -> tuple[int, int]:
    """Where the store map stands."""
    node = locate(text)
    for key in (*parse_config(text.encode()).path, "stores"):
        node = next(member.value for member in node.members if member.key == key)
    return node.start, node.end


@given(edits())
def test_whatever_the_file_an_edit_says_what_was_meant_and_touches_nothing_else(
    edit: tuple[str, dict[str, NamedStore]],
) -> None:
    text, wanted = edit
    new = edited(text.encode(), wanted).decode()
    found = parse_config(new.encode()).settings
    assert {name: set(store.agents) for name, store in found.stores.items()} == {
        name: set(store.agents) for name, store in wanted.items()
    }
    assert found.operator_read
    (start, end), (start_new, end_new) = stores_span(text), stores_span(new)
    assert (text[:start], text[end:]) == (new[:start_new], new[end_new:])
    assert list(comments(text)) == list(comments(new))


@given(st.data())
def test_what_is_located_is_what_the_parser_reads(data: st.DataObject) -> None:
    value = data.draw(
        st.recursive(
            st.one_of(st.booleans(), st.none(), st.integers(), NAMES),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
            max_leaves=8,
        )
    )
    text = data.draw(COMMENTS) + data.draw(written(value)) + data.draw(COMMENTS)
    node = locate(text)
    assert decode(text[node.start : node.end]) == decode(text) == value
    for member in node.members:
        assert isinstance(value, dict)
        assert decode(text[member.value.start : member.value.end]) == value[member.key]
    assert len(node.items) == (len(value) if isinstance(value, list) else 0)


def test_odd_but_valid_json5_is_located() -> None:
    text = "{a\\u0062:+.5e1,null:0x1F,Infinity:-Infinity,$_:'\\\n\\'',\"\u2028\":NaN,\u00a0\ufeffz:[,]}"
    text = text.replace("[,]", "[]")
    assert [member.key for member in locate(text).members] == list(pyjson5.decode(text))


def test_the_file_is_replaced_as_a_whole_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "k.json5"
    path.write_text("{}")
    path.chmod(0o640)
    replace_config(path, digest(b"{}"), b"{a}")
    assert path.read_bytes() == b"{a}" and path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["k.json5"]


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles" / "real").write_text("{}")
    (tmp_path / "k.json5").symlink_to("dotfiles/real")
    replace_config(tmp_path / "k.json5", digest(b"{}"), b"{a}")
    assert (tmp_path / "k.json5").is_symlink() and (tmp_path / "dotfiles" / "real").read_bytes() == b"{a}"


def test_a_file_that_changed_since_it_was_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.json5"
    path.write_text("theirs")
    for expected in (digest(b"{}"), MISSING):
        with pytest.raises(Conflict):
            replace_config(path, expected, b"mine")
    path.unlink()
    with pytest.raises(Conflict):
        replace_config(path, digest(b"{}"), b"mine")
    assert os.listdir(tmp_path) == []
    replace_config(path, MISSING, b"mine")
    assert path.read_bytes() == b"mine" and os.listdir(tmp_path) == ["k.json5"]


@pytest.mark.parametrize("swaps", [True, False])
def test_a_save_in_the_last_moment_is_never_lost(
    swaps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "k.json5"
    path.write_text("{}")
    exchange = replacing.exchange

    def late(folder: int, one: str, other: str) -> None:
        if path.read_text() == "{}":
            path.write_text("theirs")
        if not swaps:
            raise replacing.Unsupported
        exchange(folder, one, other)

    monkeypatch.setattr(replacing, "exchange", late)
    with pytest.raises(Conflict):
        replace_config(path, digest(b"{}"), b"mine")
    assert path.read_text() == "theirs" and os.listdir(tmp_path) == ["k.json5"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot be written"):
        replace_config(tmp_path / "file" / "k.json5", MISSING, b"{}")
