"""What a kill leaves in the folders is cleared away, and a person's save comes back."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lorebank.storage.tree.tree import FileTree


class Killed(BaseException):
    """Stands for the end of the process: no handler runs that would run in a real one's place."""


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault/private/people").mkdir(parents=True)
    (tmp_path / "vault/private/people/a.md").write_bytes(b"one")
    return tmp_path / "vault"


def files(vault: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in vault.rglob("*") if path.is_file()}


def killed_at(vault: Path, step: str, save: bytes | None) -> None:
    """A put that is stopped at a step, with a person's save right before the exchange."""

    def pause(now: str, _: str) -> None:
        if now == "written" and save is not None:
            path = vault / "private/people/a.md"
            path.with_name("a.md~").write_bytes(save)
            path.with_name("a.md~").replace(path)
        if now == step:
            raise Killed

    with pytest.raises(Killed):
        FileTree(vault, pause=pause).put("private/people/a.md", b"ours", expected=sha(b"one"))


@pytest.mark.parametrize(("step", "left"), [("written", b"one"), ("exchanged", b"ours")])
def test_a_put_that_was_stopped_leaves_old_or_new(vault: Path, step: str, left: bytes) -> None:
    killed_at(vault, step, None)
    assert FileTree(vault).sweep() == 1
    assert files(vault) == {"a.md": left}


@pytest.mark.parametrize("step", ["written", "exchanged", "giving_back"])
def test_a_save_that_was_caught_by_a_kill_comes_back(vault: Path, step: str) -> None:
    killed_at(vault, step, b"hers")
    FileTree(vault).sweep()
    assert files(vault) == {"a.md": b"hers"}


def test_a_caught_save_whose_place_was_taken_is_kept_in_sight(vault: Path) -> None:
    killed_at(vault, "exchanged", b"hers")
    (vault / "private/people/a.md").write_bytes(b"later")
    FileTree(vault).sweep()
    assert sorted(files(vault).values()) == [b"hers", b"later"]
    assert all(not name.startswith(".") for name in files(vault))


def test_a_removal_that_was_stopped_gives_back_what_is_not_expected(vault: Path) -> None:
    for content, left in ((b"one", {}), (b"hers", {"a.md": b"hers"})):
        path = vault / "private/people/a.md"
        path.write_bytes(b"one")

        def pause(now: str, _: str, content: bytes = content, path: Path = path) -> None:
            if now == "checked":
                path.write_bytes(content)
            if now == "taken":
                raise Killed

        with pytest.raises(Killed):
            FileTree(vault, pause=pause).remove("private/people/a.md", expected=sha(b"one"))
        FileTree(vault).sweep()
        assert files(vault) == left


def test_only_our_own_files_are_cleared_away(vault: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for place in (outside, vault / "private/.obsidian", vault / "private/people"):
        place.mkdir(exist_ok=True)
        (place / ".lb-w-0123").write_bytes(b"half")
    (vault / "private/linked").symlink_to(outside)
    (vault / "private/.lbx").write_bytes(b"hers")
    assert FileTree(vault).sweep() == 1
    assert set(files(vault)) == {".lb-w-0123", ".lbx", "a.md"}
    assert FileTree(vault).sweep("nowhere") == 0
