"""The watcher: what was done before the question is in the answer, or there is none."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from pathlib import Path

import pytest

from lorebank.storage.tree import inotify, watch
from lorebank.storage.tree.mounts import is_local
from lorebank.storage.tree.tree import FileTree
from lorebank.storage.tree.watch import ALL, Dirty, Watcher

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    (vault / "private/people").mkdir(parents=True)
    (vault / "conversations/1").mkdir(parents=True)
    (vault / "vault.json").write_text("{}")
    (vault / "private/people/a.md").write_text("one")
    return vault


@pytest.fixture
def watcher(vault: Path) -> Watcher:
    made = Watcher(vault)
    assert made.dirty() is ALL
    assert made.dirty() == frozenset()
    return made


def replace(path: Path, content: str) -> None:
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(content)
    beside.replace(path)


@pytest.mark.statement("1.7.64")
def test_1_7_64_the_manifest_and_the_private_partition_are_watched(vault: Path, watcher: Watcher) -> None:
    replace(vault / "vault.json", "{ }")
    assert watcher.dirty() == {"vault.json"}
    replace(vault / "private/people/a.md", "two")
    (vault / "private/b.md").write_text("new")
    assert watcher.dirty() == {"private/people/a.md", "private/b.md"}
    (vault / "private/b.md").rename(vault / "private/c.md")
    (vault / "private/people/a.md").unlink()
    assert watcher.dirty() == {"private/b.md", "private/c.md", "private/people/a.md"}
    assert watcher.dirty() == frozenset()


@pytest.mark.statement("1.7.64")
def test_1_7_64_conversations_and_other_files_are_not(vault: Path, watcher: Watcher) -> None:
    (vault / "conversations/1/a.md").write_text("x")
    (vault / "conversations/2").mkdir()
    (vault / ".git").mkdir()
    (vault / "other").write_text("x")
    (vault / "private/.hidden").write_text("x")
    (vault / "private/people/a.md").read_text()
    list((vault / "private").iterdir())
    assert watcher.dirty() == frozenset()


def test_every_write_is_seen_at_once(vault: Path, watcher: Watcher) -> None:
    path = vault / "private/people/a.md"
    for number in range(500):
        path.write_text(str(number))
        assert watcher.dirty() == {"private/people/a.md"}


def test_our_own_puts_are_seen(vault: Path, watcher: Watcher) -> None:
    tree = FileTree(vault)
    tree.put("private/people/a.md", b"two", expected=hashlib.sha256(b"one").hexdigest())
    tree.put("private/people/b.md", b"new", expected=None)
    assert watcher.dirty() == {"private/people/a.md", "private/people/b.md"}
    tree.remove("private/people/b.md", expected=hashlib.sha256(b"new").hexdigest())
    assert watcher.dirty() == {"private/people/b.md"}


def test_new_folders_are_watched_with_all_below_them(vault: Path, watcher: Watcher) -> None:
    (vault / "private/claims/0001/deep").mkdir(parents=True)
    (vault / "private/claims/0001/deep/a.md").write_text("before the watch")
    assert watcher.dirty() == {"private/claims"}
    (vault / "private/claims/0001/deep/b.md").write_text("after")
    (vault / "private/claims/0001/c.md").write_text("after")
    assert watcher.dirty() == {"private/claims/0001/deep/b.md", "private/claims/0001/c.md"}


def test_a_folder_that_comes_from_elsewhere_is_watched(vault: Path, watcher: Watcher, tmp_path: Path) -> None:
    (tmp_path / "projects/sub").mkdir(parents=True)
    (tmp_path / "projects").rename(vault / "private/projects")
    assert watcher.dirty() == {"private/projects"}
    (vault / "private/projects/sub/a.md").write_text("x")
    assert watcher.dirty() == {"private/projects/sub/a.md"}


def test_a_removed_folder_is_named_by_its_parent(vault: Path, watcher: Watcher) -> None:
    (vault / "private/people/a.md").unlink()
    (vault / "private/people").rmdir()
    assert watcher.dirty() == {"private/people", "private/people/a.md"}
    (vault / "private/people").mkdir()
    assert watcher.dirty() == {"private/people"}
    (vault / "private/people/a.md").write_text("x")
    assert watcher.dirty() == {"private/people/a.md"}


def test_a_renamed_folder_makes_everything_unsure_and_is_watched_on(vault: Path, watcher: Watcher) -> None:
    (vault / "private/people").rename(vault / "private/persons")
    assert watcher.dirty() is ALL
    (vault / "private/persons/a.md").write_text("x")
    assert watcher.dirty() == {"private/persons/a.md"}


def test_a_partition_that_is_exchanged_makes_everything_unsure(vault: Path, watcher: Watcher) -> None:
    (vault / "private").rename(vault / "kept")
    assert watcher.dirty() is ALL
    (vault / "private").mkdir()
    assert watcher.dirty() == {"private"}
    (vault / "private/a.md").write_text("x")
    assert watcher.dirty() == {"private/a.md"}


def test_a_full_queue_makes_everything_unsure(vault: Path, watcher: Watcher) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    folder = os.open(vault / "private", os.O_RDONLY)
    for number in range(most // 2 + 1):
        os.mkfifo(f"{number}", dir_fd=folder)
        os.unlink(f"{number}", dir_fd=folder)
    os.close(folder)
    assert watcher.dirty() is ALL
    (vault / "private/a.md").write_text("x")
    assert watcher.dirty() == {"private/a.md"}


def test_without_watches_there_is_no_answer_until_it_recovers(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    attempts: list[float] = []

    def refuse(queue: int, folder: Path) -> int:
        attempts.append(clock[0])
        raise OSError(28, "No space left on device")

    answers: list[Dirty] = []
    watcher = Watcher(vault, now=lambda: clock[0])
    with monkeypatch.context() as limited:
        limited.setattr(inotify, "watch", refuse)
        for second in (0.0, 0.5, 1.0, 2.9, 3.0, 3.1):
            clock[0] = second
            answers.append(watcher.dirty())
    assert answers == [None] * 6 and attempts == [0.0, 1.0, 3.0] and not watcher.healthy
    clock[0] = 7.0
    assert watcher.dirty() is ALL and watcher.healthy


def test_a_vault_that_is_gone_has_no_answer(vault: Path, watcher: Watcher) -> None:
    vault.rename(vault.with_name("kept"))
    assert watcher.dirty() is None


def test_folders_of_other_machines_are_not_watched(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "is_local", lambda folder: False)
    assert Watcher(vault).dirty() is None


@pytest.mark.parametrize(
    ("kind", "local"), [("ext4", True), ("nfs4", False), ("fuse.sshfs", False), ("9p", False)]
)
def test_the_file_system_nearest_to_the_folder_counts(tmp_path: Path, kind: str, local: bool) -> None:
    inner = tmp_path / "a folder"
    inner.mkdir()
    table = tmp_path / "mounts"
    place = str(inner).replace(" ", "\\040")
    table.write_text(
        f"1 0 8:1 / / rw shared:1 - ext4 /dev/x rw\n2 1 0:5 / {place} rw - {kind} x rw\n"
        "3 1 0:6 / /elsewhere rw - nfs x rw\nnonsense\n"
    )
    assert is_local(inner, table) == local
    assert is_local(tmp_path, table)
    assert not is_local(tmp_path / "missing", table) and not is_local(tmp_path, tmp_path / "no table")


def test_closing_gives_everything_back(vault: Path) -> None:
    before = (len(os.listdir("/proc/self/fd")), threading.active_count())
    watcher = Watcher(vault)
    watcher.dirty()
    assert len(os.listdir("/proc/self/fd")) == before[0] + 1
    watcher.close()
    watcher.close()
    assert watcher.dirty() is None
    assert (len(os.listdir("/proc/self/fd")), threading.active_count()) == before
