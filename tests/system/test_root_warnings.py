"""What the operator is told about the root user when the server starts."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from lorebank.bootstrap.build import open_directory
from lorebank.config import Settings


def _told(caplog: pytest.LogCaptureFixture, settings: Settings) -> str:
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="lorebank"):
        directory, _ = open_directory(settings, "")
        directory.close()
    return caplog.text


def test_a_root_key_that_can_be_guessed_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert "may be guessed" in _told(caplog, Settings(data_dir=tmp_path / "a", root_api_key="short"))
    assert "guessed" not in _told(caplog, Settings(data_dir=tmp_path / "b", root_api_key="hc_u_" + "a1" * 16))
    assert "guessed" not in _told(caplog, Settings(data_dir=tmp_path / "c"))


def test_a_disabled_root_user_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(data_dir=tmp_path / "a")
    directory, _ = open_directory(settings, "")
    with directory:
        user = directory.access.data.users["root"]
        with directory.access.change(lambda before, after: None) as writer:
            writer.put_user(type(user)(user.id, user.display_name, user.email, is_active=False), 5)
    told = _told(caplog, settings)
    assert "'root' is disabled" in told and "lorebank access user enable" in told
