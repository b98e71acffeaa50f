"""Reading and writing files of a vault, without anybody in between."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from lorebank.errors import Conflict, InvalidInput, NotFound, StoreUnavailable, Unavailable
from lorebank.storage.tree import place, renames
from lorebank.storage.tree.tree import FileTree


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault" / "private").mkdir(parents=True)
    return tmp_path / "vault"


@pytest.fixture
def tree(vault: Path) -> FileTree:
    return FileTree(vault)


def leftovers(vault: Path) -> list[str]:
    return [path.name for path in vault.rglob(".lb-*")]


def test_what_is_put_is_read(tree: FileTree, vault: Path) -> None:
    state = tree.put("private/people/ann.md", b"one", expected=None)
    assert tree.read("private/people/ann.md", max_bytes=3) == (state, b"one")
    assert tree.state("private/people/ann.md") == state
    after = tree.put("private/people/ann.md", b"two", expected=sha(b"one"))
    assert (vault / "private/people/ann.md").read_bytes() == b"two"
    assert tree.state("private/people/ann.md") == after != state
    assert leftovers(vault) == []


def test_putting_the_same_again_is_fine(tree: FileTree) -> None:
    first = tree.put("private/a.md", b"one", expected=None)
    assert tree.put("private/a.md", b"one", expected=None) == first
    assert tree.put("private/a.md", b"one", expected=sha(b"zero")) == first
    assert tree.put("private/a.md", b"one", expected=sha(b"one")) == first


def test_other_contents_are_a_conflict_and_stay(tree: FileTree, vault: Path) -> None:
    tree.put("private/a.md", b"hers", expected=None)
    with pytest.raises(Conflict):
        tree.put("private/a.md", b"ours", expected=None)
    with pytest.raises(Conflict):
        tree.put("private/a.md", b"ours", expected=sha(b"older"))
    with pytest.raises(Conflict):
        tree.put("private/gone.md", b"ours", expected=sha(b"older"))
    assert (vault / "private/a.md").read_bytes() == b"hers"
    assert leftovers(vault) == []


def test_a_changed_file_keeps_its_rights(tree: FileTree, vault: Path) -> None:
    tree.put("private/a.md", b"one", expected=None)
    (vault / "private/a.md").chmod(0o640)
    tree.put("private/a.md", b"two", expected=sha(b"one"))
    assert (vault / "private/a.md").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("path", ["private/ANN.md", "private/Straße.md", "private/É.md"])
def test_a_name_that_folds_to_one_that_is_there_is_a_conflict(tree: FileTree, path: str) -> None:
    for name in ("private/ann.md", "private/STRASSE.md", "private/é.md"):
        tree.put(name, b"", expected=None)
    with pytest.raises(Conflict):
        tree.put(path, b"", expected=None)
    with pytest.raises(Conflict):
        tree.put(f"{path}/inside.md", b"", expected=None)


def test_folders_are_made_but_never_the_partitions_own(tree: FileTree, vault: Path) -> None:
    for path in ("conversations/1/a.md", "lost/a.md"):
        with pytest.raises(StoreUnavailable) as refused:
            tree.put(path, b"", expected=None)
        assert refused.value.reason == "missing_partition"
    tree.make_folder("conversations/1")
    tree.make_folder("conversations/1")
    tree.put("conversations/1/claims/0001/a.md", b"", expected=None)
    tree.put("vault.json", b"{}", expected=None)
    assert sorted(path.name for path in vault.iterdir()) == ["conversations", "private", "vault.json"]


def test_moving_in_and_removing(tree: FileTree, vault: Path, tmp_path: Path) -> None:
    staged = tmp_path / "staged"
    staged.write_bytes(b"source")
    tree.move_in(staged, "private/artifacts/ab/content")
    assert not staged.exists()
    with tree.open("private/artifacts/ab/content") as file:
        assert file.read() == b"source"
    with pytest.raises(NotFound):
        tree.move_in(staged, "private/artifacts/ab/other")
    staged.write_bytes(b"other")
    with pytest.raises(Conflict):
        tree.move_in(staged, "private/artifacts/ab/content")
    assert staged.read_bytes() == b"other"
    with pytest.raises(Conflict):
        tree.remove("private/artifacts/ab/content", expected=sha(b"other"))
    tree.remove("private/artifacts/ab/content", expected=sha(b"source"))
    tree.remove("private/artifacts/ab/content", expected=sha(b"source"))
    tree.remove("private/nowhere/content", expected=sha(b"source"))
    assert [path for path in vault.rglob("*") if path.is_file()] == []


def test_reading_has_a_limit_and_a_missing_file_is_said(tree: FileTree) -> None:
    tree.put("private/a.md", b"12345", expected=None)
    with pytest.raises(InvalidInput):
        tree.read("private/a.md", max_bytes=4)
    for path in ("private/b.md", "private/no/b.md"):
        assert tree.state(path) is None
        with pytest.raises(NotFound):
            tree.read(path, max_bytes=10)


@pytest.mark.statement("1.8.76")
@pytest.mark.parametrize("kind", ["symlink", "dangling", "hardlink", "pipe", "folder"])
def test_1_8_76_links_and_special_files_are_refused_by_every_access(
    tree: FileTree, vault: Path, tmp_path: Path, kind: str
) -> None:
    outside, path = tmp_path / "outside", vault / "private/x.md"
    outside.write_bytes(b"secret")
    {
        "symlink": lambda: path.symlink_to(outside),
        "dangling": lambda: path.symlink_to(tmp_path / "nothing"),
        "hardlink": lambda: os.link(outside, path),
        "pipe": lambda: os.mkfifo(path),
        "folder": lambda: path.mkdir(),
    }[kind]()
    staged = tmp_path / "staged"
    staged.write_bytes(b"x")
    for act in (
        lambda: tree.read("private/x.md", max_bytes=100),
        lambda: tree.open("private/x.md").__enter__(),
        lambda: tree.state("private/x.md"),
        lambda: tree.put("private/x.md", b"new", expected=sha(b"secret")),
        lambda: tree.remove("private/x.md", expected=sha(b"secret")),
        lambda: tree.put("private/x.md", b"new", expected=None),
    ):
        with pytest.raises(StoreUnavailable) as refused:
            act()
        assert refused.value.reason == "unsafe_file"
    with pytest.raises(Conflict):
        tree.move_in(staged, "private/x.md")
    assert outside.read_bytes() == b"secret"
    assert leftovers(vault) == []


@pytest.mark.statement("1.8.76")
def test_1_8_76_a_linked_folder_leads_nowhere(tree: FileTree, vault: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"secret")
    (vault / "private/people").symlink_to(outside)
    for act in (
        lambda: tree.read("private/people/a.md", max_bytes=100),
        lambda: tree.state("private/people/a.md"),
        lambda: tree.put("private/people/b.md", b"new", expected=None),
        lambda: tree.make_folder("private/people/0001"),
        lambda: tree.identity("private/people"),
        lambda: tree.scan("private/people"),
    ):
        with pytest.raises(StoreUnavailable) as refused:
            act()
        assert refused.value.reason == "unsafe_file"
    assert os.listdir(outside) == ["a.md"]


def test_a_staged_link_is_not_moved_in(tree: FileTree, tmp_path: Path) -> None:
    staged, secret = tmp_path / "staged", tmp_path / "secret"
    secret.write_bytes(b"secret")
    staged.symlink_to(secret)
    with pytest.raises(StoreUnavailable):
        tree.move_in(staged, "private/a.md")


def test_identity_is_of_the_folder_that_is_there_now(tree: FileTree, vault: Path) -> None:
    first = tree.identity("private")
    assert first is not None and tree.identity("conversations/1") is None
    (vault / "private").rename(vault / "kept")
    assert tree.identity("private") is None
    (vault / "private").mkdir()
    assert tree.identity("private") not in (None, first)


def test_nothing_is_written_into_a_vault_that_was_exchanged(tree: FileTree, vault: Path) -> None:
    vault.rename(vault.parent / "kept")
    with pytest.raises(StoreUnavailable) as missing:
        tree.put("private/a.md", b"", expected=None)
    (vault / "private").mkdir(parents=True)
    with pytest.raises(StoreUnavailable) as exchanged:
        tree.put("private/a.md", b"", expected=None)
    assert [missing.value.reason, exchanged.value.reason] == ["missing_store", "partition_changed"]
    assert list((vault.parent / "kept/private").iterdir()) == []


def test_a_missing_or_linked_vault_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as missing:
        FileTree(tmp_path / "no")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(StoreUnavailable) as linked:
        FileTree(tmp_path / "link")
    assert [missing.value.reason, linked.value.reason] == ["missing_store", "unsafe_file"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("expected", [None, sha(b"one")])
def test_a_disk_that_refuses_leaves_everything_as_it_was(
    tree: FileTree, vault: Path, monkeypatch: pytest.MonkeyPatch, code: int, expected: str | None
) -> None:
    name = "new.md" if expected is None else "old.md"
    tree.put("private/old.md", b"one", expected=None)

    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(place.os, "write", refuse)
    with pytest.raises(Unavailable) as refused:
        tree.put(f"private/{name}", b"two", expected=expected)
    monkeypatch.undo()
    assert errno.errorcode[code] in refused.value.message and str(vault) not in refused.value.message
    assert {path.name: path.read_bytes() for path in (vault / "private").iterdir()} == {"old.md": b"one"}


def test_without_an_exchange_files_are_put_all_the_same(
    tree: FileTree, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(renames, "_renameat2", lambda: None)
    tree.put("private/a.md", b"one", expected=None)
    tree.put("private/a.md", b"two", expected=sha(b"one"))
    with pytest.raises(Conflict):
        tree.put("private/a.md", b"three", expected=None)
    with pytest.raises(Conflict):
        tree.put("private/a.md", b"three", expected=sha(b"one"))
    tree.put("private/b.md", b"", expected=None)
    tree.remove("private/b.md", expected=sha(b""))
    assert os.listdir(vault / "private") == ["a.md"]
    assert (vault / "private/a.md").read_bytes() == b"two"
