"""Profiles as files."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.cli import profiles
from lorebank.errors import Conflict, InvalidInput


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def test_the_folder_follows_xdg_and_ignores_a_relative_one() -> None:
    assert profiles.folder({"XDG_CONFIG_HOME": "/x"}) == Path("/x/lorebank/profiles")
    assert profiles.folder({"XDG_CONFIG_HOME": "x", "HOME": "/h"}) == Path("/h/.config/lorebank/profiles")


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a" * 65, "ä", "-x", "a\n"])
def test_a_name_that_could_leave_the_folder_is_refused(name: str, environ: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="letters, digits"):
        profiles.path_of(name, environ)


@given(st.dictionaries(st.sampled_from(["port", "data_dir", "llm_model", "debug"]),
                       st.one_of(st.text(), st.integers(-(2**31), 2**31), st.booleans())))  # fmt: skip
def test_what_is_written_is_what_toml_reads(values: dict[str, object]) -> None:
    assert tomllib.loads(profiles.to_toml(values, "two\nlines")) == values


def test_a_profile_is_only_for_its_owner_and_is_not_overwritten(environ: dict[str, str]) -> None:
    path = profiles.path_of("work", environ)
    profiles.write(path, "port = 1\n", force=False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(Conflict, match="--force"):
        profiles.write(path, "port = 2\n", force=False)
    profiles.write(path, "port = 3\n", force=True)
    assert path.read_text() == "port = 3\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["work.toml"]


def test_default_is_used_only_when_it_is_there(environ: dict[str, str]) -> None:
    assert profiles.chosen(None, environ) is None
    path = profiles.path_of("default", environ)
    profiles.write(path, "", force=False)
    assert profiles.chosen(None, environ) == path


def test_a_missing_profile_is_named_with_those_there_are(environ: dict[str, str]) -> None:
    profiles.write(profiles.path_of("home", environ), "", force=False)
    with pytest.raises(InvalidInput, match=r"no profile 'work' \(there are: home\)"):
        profiles.chosen("work", environ)
    assert profiles.chosen(None, environ | {"LOREBANK_PROFILE": "home"}) == profiles.path_of("home", environ)
