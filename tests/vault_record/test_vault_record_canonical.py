"""The fast reader reads what lorebank writes, and never otherwise than the complete one."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from lorebank.vaults.record.canonical import NotCanonical, load_canonical
from lorebank.vaults.record.frame import Broken
from lorebank.vaults.record.render import render_record
from lorebank.vaults.record.yaml_events import load

_texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.text(st.sampled_from("ab :#-\n'\"|>{}[]0.1eé\u2028\x85\ufeff"), max_size=10),
    st.sampled_from(
        ["no", "1.0", "0o17", "1e5", "12:30", "null", "~", "a\n\nb", "x\n y", "x\n ", "0x1f", "1_0"]
    ),
)
_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    _texts,
)
_keys = st.one_of(st.text("ab_: -#é", max_size=5), st.sampled_from(["a", "title", "y", "null", "1"]))
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_keys, inner, max_size=3)),
    max_leaves=8,
)


_PIECES = ["", " ", "\n", "#", ":", "- ", '"', "a", "'", "|", "&a ", "*a", "!", "  x: y\n", "\t"]


def _yaml(meta: dict[str, Any]) -> str:
    return render_record(meta, "").decode().removeprefix("---\n").removesuffix("---\n")


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(_keys, _values, min_size=1, max_size=4))
def test_what_lorebank_writes_is_read_fast_and_the_same(meta: dict[str, Any]) -> None:
    text = _yaml(meta)
    value, lines = load_canonical(text)
    complete = load(text)
    assert value == complete.value == meta
    assert {where: text.count("\n", 0, offset) for where, offset in complete.offsets.items()} == lines


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(_keys, _values, min_size=1, max_size=3), st.data())
def test_what_the_fast_reader_accepts_means_the_same_to_the_complete_one(
    meta: dict[str, Any], data: st.DataObject
) -> None:
    """Texts that were changed by hand in one place."""
    text = _yaml(meta)
    at = data.draw(st.integers(0, len(text)))
    piece = data.draw(
        st.sampled_from(
            ["", " ", "\n", "#", ":", "- ", '"', "a", "'", "|", "&a ", "*a", "!", "  x: y\n", "\t"]
        )
    )
    cut = data.draw(st.integers(0, 2))
    changed = text[:at] + piece + text[at + cut :]
    try:
        fast = load_canonical(changed)[0]
    except NotCanonical:
        return
    assert load(changed).value == fast


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab:- \n'\"|>{}[]#1,?!&*%\t"), max_size=30))
def test_what_the_complete_reader_accepts_another_yaml_reader_accepts_too(text: str) -> None:
    """The structure is the library's; scalars differ only where YAML 1.2's core schema has no type."""
    try:
        value = load(text).value
    except Broken:
        return
    other = YAML(typ="safe", pure=True).load(text)
    assert [str(key) for key in other] == list(value) or len(other) == len(value)
