"""Settings of knowledge stores: where they are, and which secrets vouch for audiences."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorebank.config import load
from lorebank.errors import InvalidInput


def test_knowledge_is_kept_in_the_data_directory(tmp_path: Path) -> None:
    made = load({"data_dir": str(tmp_path)}, {})
    assert made.knowledge_folder == tmp_path / "knowledge"
    assert made.knowledge_file == tmp_path / "knowledge.json5"
    assert made.watch_vaults and made.audience_lifetime == 900 and made.audience_secrets == ()


def test_1_4_36_knowledge_is_kept_in_a_gateways_state_directory_where_one_is_named(tmp_path: Path) -> None:
    state = {"OPENCLAW_STATE_DIR": str(tmp_path / "state")}
    made = load({"data_dir": str(tmp_path)}, state)
    assert made.knowledge_folder == tmp_path / "state" / "knowledge"
    assert made.knowledge_file == tmp_path / "knowledge.json5"
    ours = load({}, state | {"LOREBANK_KNOWLEDGE_DIR": str(tmp_path / "own")})
    assert ours.knowledge_folder == tmp_path / "own"
    assert load({}, {"OPENCLAW_STATE_DIR": ""}).knowledge_folder == load({}, {}).data_dir / "knowledge"


def test_paths_do_not_depend_on_where_a_command_runs_later() -> None:
    made = load({}, {"LOREBANK_KNOWLEDGE_DIR": "here", "LOREBANK_KNOWLEDGE_CONFIG": "~/openclaw.json"})
    assert made.knowledge_folder.is_absolute() and made.knowledge_file.is_absolute()
    assert made.knowledge_file == Path.home() / "openclaw.json"


def test_the_secrets_of_audiences_are_never_shown() -> None:
    made = load({}, {"LOREBANK_AUDIENCE_SECRETS": "one-secret, another"})
    assert made.audience_secrets == ("one-secret", "another")
    assert "one-secret" not in repr(made) and made.token_secrets == ()


@pytest.mark.parametrize("wrong", ["0", "86401", "soon"])
def test_the_lifetime_of_an_audience_has_bounds(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="audience_lifetime"):
        load({}, {"LOREBANK_AUDIENCE_LIFETIME": wrong})
