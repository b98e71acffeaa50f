"""Names in a vault: what is taken, what is refused, what is the same."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.errors import InvalidInput
from lorebank.storage.tree import names

GOOD = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="/"), min_size=1
).map(lambda text: unicodedata.normalize("NFC", text))


def taken(path: str) -> bool:
    try:
        names.checked_parts(path)
    except InvalidInput:
        return False
    return True


@pytest.mark.parametrize(
    "path", ["a", "private/people/ann.md", "x/#tag.md", "a b/c", "ü/Straße.md", "日本/東京.md", "a\\b"]
)
def test_ordinary_paths_are_taken(path: str) -> None:
    assert names.checked_parts(path) == tuple(path.split("/"))


@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "../a",
            "a/../b",
            "a/./b",
            ".git/config",
            "a/.hidden",
            ".lb-w-1",
        ),
        *("a\nb", "a\x00b", "a\x7f", "a\x85", "\ud800", "u\u0308", "a\u2028b", "x" * 256, "ü" * 128, "note~"),
        *("#note#", "/".join("abcdefghijkl")),
    ],
)
def test_paths_that_could_lead_elsewhere_or_be_misread_are_refused(path: str) -> None:
    assert not taken(path)


@given(st.text())
def test_what_is_taken_is_safe(text: str) -> None:
    if taken(text):
        parts = text.split("/")
        assert all(part and part[0] != "." and len(part.encode()) <= 255 for part in parts)
        assert unicodedata.is_normalized("NFC", text)
        assert "\x00" not in text and not text.startswith("/")


@given(GOOD)
def test_names_that_are_the_same_to_another_file_system_fold_to_the_same(name: str) -> None:
    folded = names.fold(name)
    assert names.fold(unicodedata.normalize("NFD", name)) == folded
    assert names.fold(folded) == folded
    if name.isascii():
        assert names.fold(name.upper()) == folded


@given(st.lists(GOOD, unique=True, max_size=8))
def test_every_name_that_has_a_double_is_named_and_no_other(listed: list[str]) -> None:
    doubles = {a for a in listed for b in listed if a != b and names.fold(a) == names.fold(b)}
    assert names.colliding(listed) == doubles


@given(GOOD.filter(lambda name: len(name.encode()) <= 200))
def test_a_temporary_name_tells_what_it_is_for(target: str) -> None:
    said = names.parse_temporary(names.swapped_name(target, "a" * 64, "b" * 64))
    assert said == names.Temporary("swapped", "a" * 16, "b" * 16, target)


def test_a_long_target_is_left_out_of_a_temporary_name() -> None:
    name = names.swapped_name("x" * 250, "a" * 64, "")
    assert len(name) <= 255
    assert names.parse_temporary(name) == names.Temporary("swapped", "a" * 16, "0" * 16, "")
    assert names.parse_temporary(".lb-git-1234") is None
