"""A pipe where a file is expected is refused, and never waited in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lorebank.errors import LorebankError, StoreUnavailable, Unavailable
from lorebank.storage.sqlite.audience_key import AUDIENCE_KEY_FILE, read_audience_key
from lorebank.storage.sqlite.files import NotPlain, open_plain
from lorebank.storage.sqlite.foreign import check_ours, content_of
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.storage.tree.git import GitHistory
from lorebank.vaults.assignments.config_file import load_config


def pipe(path: Path) -> Path:
    """A pipe that nobody writes into: opening it would wait for ever."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    return path


def test_a_plain_file_is_opened_and_nothing_else(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"text")
    with open_plain(plain) as file:
        assert file.read() == b"text"
    for other in (pipe(tmp_path / "pipe"), tmp_path):
        with pytest.raises(NotPlain, match="is no plain file"):
            open_plain(other)
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "missing")


def test_a_configuration_that_is_a_pipe_closes_the_stores_and_does_not_hang(tmp_path: Path) -> None:
    loaded = load_config(pipe(tmp_path / "knowledge.json5"))
    assert loaded.parsed is None and loaded.problem is not None


@pytest.mark.parametrize("kind", ["knowledge", "vault"])
def test_a_database_that_is_a_pipe_is_damaged(tmp_path: Path, kind: str) -> None:
    file = pipe(tmp_path / "file.sqlite")
    assert content_of(file, kind) == "damaged"  # type: ignore[arg-type]
    with pytest.raises(StoreUnavailable):
        check_ours(file, kind)  # type: ignore[arg-type]


def test_keys_and_sentinels_that_are_pipes_are_refused(tmp_path: Path) -> None:
    pipe(tmp_path / AUDIENCE_KEY_FILE)
    with pytest.raises(Unavailable):
        read_audience_key(tmp_path)
    pipe(tmp_path / "registry.id")
    with pytest.raises(LorebankError):
        problem = SqliteKnowledgeRegistry(tmp_path).problem
        if problem is not None:
            raise problem


@pytest.mark.parametrize("name", ["HEAD", "config", "packed-refs", "refs/heads/main"])
def test_git_never_waits_in_a_pipe(tmp_path: Path, name: str) -> None:
    git = GitHistory(tmp_path, create=True)
    git.commit({"private/a.md": b"a"}, author="main", message="one")
    pipe(tmp_path / ".git" / name)
    with pytest.raises(StoreUnavailable, match="is no plain file"):
        git.commit({"private/a.md": b"b"}, author="main", message="two")
    assert git.check()
    git.close()
