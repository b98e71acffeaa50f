"""The vault's git history, looked at with the real git beside ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.errors import InvalidInput, StoreUnavailable
from lorebank.storage.tree import git_setup
from lorebank.storage.tree.git import GitHistory, person

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="the git program is not installed")


class Vault:
    """A folder, its history, and the real git in it, with a person's own settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "vault"
        self.folder.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / ".gitconfig").write_text(
            "[user]\nname = Ann\nemail = ann@example.org\n[core]\nautocrlf = true\n"
        )
        self.history = GitHistory(self.folder, create=True)

    def git(self, *arguments: str, check: bool = True) -> str:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=env, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def save(self, changes: dict[str, bytes | None], author: str = "main", message: str = "save") -> str:
        """As a publication does: files first, then the commit."""
        for path, content in changes.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink() if content is None else file.write_bytes(content)
        commit = self.history.commit(changes, author=author, message=message)
        self.history.refresh_index()
        return commit


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path)


def reason(act: Callable[[], object]) -> str:
    with pytest.raises(StoreUnavailable) as refused:
        act()
    return refused.value.reason


@needs_git
def test_git_sees_a_clean_status_and_the_commits(vault: Vault) -> None:
    (vault.folder / "vault.json").write_text("{}")
    vault.save(
        {"private/people/ann.md": b"a\r\nb\n", "private/claims/0001/x.md": b"x"}, "main <x>\n", "first"
    )
    vault.save({"private/people/ann.md": b"two\n", "private/claims/0001/x.md": None}, "research", "second")
    assert vault.git("status", "--porcelain") == ""
    assert vault.git("log", "--format=%an|%ae|%cn|%ce|%s").splitlines() == [
        "research|lorebank@localhost|lorebank|lorebank@localhost|second",
        "main x|lorebank@localhost|lorebank|lorebank@localhost|first",
    ]
    assert vault.git("ls-tree", "-r", "--name-only", "HEAD").split() == ["private/people/ann.md"]
    assert vault.git("branch", "--show-current").strip() == "main"
    assert vault.git("fsck", "--strict") == "" and vault.history.check() == []
    (vault.folder / "private/people/ann.md").write_bytes(b"hers\n")
    assert vault.git("status", "--porcelain") == " M private/people/ann.md\n"


def test_contents_of_every_revision_are_found_again(vault: Vault, tmp_path: Path) -> None:
    path = "private/people/ann.md"
    first, second = vault.save({path: b"one\r\n"}), vault.save({path: b"two"})
    source = tmp_path / "source"
    source.write_bytes(b"x" * 100_000)
    third = vault.history.commit({"private/artifacts/a/content": source}, author="main", message="source")
    history = vault.history
    blobs = [history.blob_at(commit, path) for commit in (first, second, third)]
    assert [history.blob(blob) for blob in blobs if blob] == [b"one\r\n", b"two", b"two"]
    kept = history.blob_at(third, "private/artifacts/a/content")
    assert kept is not None and history.blob(kept) == b"x" * 100_000
    assert history.head() == third
    assert history.blob_at(third, "private/no.md") is None and history.blob_at("0" * 40, path) is None
    assert history.blob("0" * 40) is None and history.blob("nonsense") is None and history.blob(third) is None


def test_the_log_of_a_path_has_only_what_changed_it(vault: Vault) -> None:
    one = vault.save({"private/a.md": b"1", "private/b.md": b"1"})
    two = vault.save({"private/b.md": b"2"})
    three = vault.save({"private/a.md": None})
    history = vault.history
    assert [commit.id for commit in history.log()] == [three, two, one]
    assert [commit.id for commit in history.log("private/a.md")] == [three, one]
    assert [commit.id for commit in history.log(limit=1)] == [three]
    assert list(GitHistory(vault.folder, create=True).log("private/none.md")) == []


def test_nothing_new_makes_no_commit(vault: Vault) -> None:
    first = vault.save({"private/a.md": b"1"})
    assert vault.history.commit({"private/a.md": b"1"}, author="main", message="again") == first
    assert vault.history.commit({"private/no/b.md": None}, author="main", message="again") == first


def test_emptied_folders_leave_the_tree(vault: Vault) -> None:
    vault.save({"private/x/y/a.md": b"1"})
    last = vault.save({"private/x/y/a.md": None})
    assert vault.history.blob_at(last, "private") is None
    assert vault.history.check() == []


@pytest.mark.parametrize("path", ["../outside", ".git/config", "/etc/x", "private/../x", ""])
def test_paths_are_checked_before_anything_is_written(vault: Vault, path: str) -> None:
    with pytest.raises(InvalidInput):
        vault.history.commit({path: b""}, author="main", message="")
    assert not (vault.folder / ".git").exists()


@given(st.text())
def test_every_name_becomes_one_that_git_takes(name: str) -> None:
    assert pygit2.Signature(person(name), "a@b", 1, 0).name == person(name) != ""


@needs_git
def test_many_files_at_once(vault: Vault) -> None:
    changes: dict[str, bytes | None] = {f"private/claims/{n % 3}/{n}.md": b"%d" % n for n in range(150)}
    vault.save(changes)
    assert vault.git("status", "--porcelain") == "" and vault.git("fsck") == ""


@needs_git
def test_a_persons_commits_are_built_upon(vault: Vault) -> None:
    vault.save({"private/a.md": b"1\n"})
    (vault.folder / "private/hers.md").write_text("hers\n")
    vault.git("add", ".")
    vault.git("commit", "-m", "by hand")
    last = vault.save({"private/a.md": b"2\n"})
    assert vault.git("status", "--porcelain") == ""
    assert vault.git("log", "--format=%an").split() == ["main", "Ann", "main"]
    assert vault.history.blob_at(last, "private/hers.md") is not None


@needs_git
def test_commits_go_to_the_branch_that_is_checked_out(vault: Vault) -> None:
    first = vault.save({"private/a.md": b"1\n"})
    vault.git("switch", "-c", "other")
    last = vault.save({"private/a.md": b"2\n"})
    assert vault.git("rev-parse", "other", "main").split() == [last, first]
    vault.git("checkout", "--orphan", "fresh")
    assert vault.history.head() is None
    vault.save({"private/a.md": b"3\n"})
    assert vault.git("log", "--format=%s", "fresh").split() == ["save"]


@needs_git
def test_with_an_old_commit_checked_out_commits_go_to_main(vault: Vault) -> None:
    first = vault.save({"private/a.md": b"1\n"})
    vault.save({"private/a.md": b"2\n"})
    vault.git("checkout", "--detach", first)
    before = (vault.folder / ".git/index").read_bytes()
    last = vault.save({"private/b.md": b"3\n"})
    assert vault.git("rev-parse", "HEAD", "main").split() == [first, last]
    assert (vault.folder / ".git/index").read_bytes() == before
    assert any("git switch" in line for line in vault.history.check())


@needs_git
def test_a_merge_under_way_keeps_its_index(vault: Vault) -> None:
    vault.save({"private/a.md": b"1\n"})
    vault.git("switch", "-c", "other")
    vault.save({"private/a.md": b"2\n"})
    vault.git("switch", "main")
    vault.save({"private/a.md": b"3\n"})
    vault.git("merge", "other", check=False)
    last = vault.history.commit({"private/b.md": b"b\n"}, author="main", message="m")
    vault.history.refresh_index()
    assert "UU private/a.md" in vault.git("status", "--porcelain")
    assert vault.git("rev-parse", "main").strip() == last
    assert any("under way" in line for line in vault.history.check())


@needs_git
def test_a_persons_settings_and_hooks_have_no_say(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(vault.home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    commit = vault.save({"private/a.md": b"1\r\n"})
    hook = vault.folder / ".git/hooks/post-commit"
    hook.parent.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction"):
        hook.with_name(name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        hook.with_name(name).chmod(0o755)
    (vault.folder / ".gitattributes").write_text("* text eol=lf\n")
    commit = vault.history.commit({"private/a.md": b"2\r\n"}, author="main", message="m")
    assert vault.history.blob(vault.history.blob_at(commit, "private/a.md") or "") == b"2\r\n"
    assert not (tmp_path / "ran").exists() and not (tmp_path / "elsewhere").exists()


def age(path: Path, seconds: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize("again", [False, True])
def test_locks_and_halves_that_a_kill_left_are_in_nobodys_way(vault: Vault, again: bool) -> None:
    vault.save({"private/a.md": b"1"})
    git = vault.folder / ".git"
    for lock in ("refs/heads/main.lock", "HEAD.lock", "packed-refs.lock", "logs/HEAD.lock"):
        age(git / lock, 60)
    (git / "index.lock").write_bytes(git_setup.OWN_LOCK)
    (git / "lorebank-index").write_bytes(b"half")
    (git / "lorebank-index.lock").write_bytes(b"half")
    (git / "objects/ab").mkdir(exist_ok=True)
    (git / "objects/ab/tmp_object_git2_x").write_bytes(b"half")
    if again:
        vault.history = GitHistory(vault.folder, create=True)
        vault.history.head()
        assert not (git / "index.lock").exists()
    last = vault.save({"private/a.md": b"2"})
    assert vault.history.head() == last and next(vault.history.log()).id == last


def test_a_lock_that_git_holds_now_makes_us_wait(vault: Vault) -> None:
    first = vault.save({"private/a.md": b"1"})
    (vault.folder / ".git/refs/heads/main.lock").touch()
    assert reason(lambda: vault.history.commit({"private/a.md": b"2"}, author="m", message="m")) == "busy"
    assert vault.history.head() == first
    assert any("main.lock" in line for line in vault.history.check())


def test_a_persons_lock_of_the_index_is_left_alone(vault: Vault) -> None:
    vault.save({"private/a.md": b"1"})
    lock = vault.folder / ".git/index.lock"
    age(lock, 3600)
    last = vault.save({"private/a.md": b"2"})
    assert vault.history.head() == last and lock.exists()
    assert any("index.lock" in line for line in vault.history.check())


def test_a_damaged_index_is_written_anew(vault: Vault) -> None:
    vault.save({"private/a.md": b"1"})
    (vault.folder / ".git/index").write_bytes(b"nonsense")
    vault.save({"private/a.md": b"2"})
    assert (vault.folder / ".git/index").read_bytes().startswith(b"DIRC")


@pytest.mark.statement("1.4.45")
def test_1_4_45_only_a_writable_history_makes_a_repository(tmp_path: Path) -> None:
    reading = GitHistory(tmp_path, create=False)
    assert reason(reading.head) == "damaged"
    assert reason(lambda: reading.commit({"a": b""}, author="m", message="m")) == "damaged"
    assert list(tmp_path.iterdir()) == [] and len(reading.check()) == 1
    (tmp_path / ".lb-git-0000").mkdir()
    assert GitHistory(tmp_path, create=True).head() is None
    assert reading.head() is None and [path.name for path in tmp_path.iterdir()] == [".git"]


def test_a_repository_that_is_a_link_is_not_used(vault: Vault, tmp_path: Path) -> None:
    vault.save({"private/a.md": b"1"})
    (vault.folder / ".git").rename(tmp_path / "moved")
    (vault.folder / ".git").symlink_to(tmp_path / "moved")
    assert reason(vault.history.head) == "damaged"
    (vault.folder / ".git").unlink()
    (vault.folder / ".git").write_text(f"gitdir: {tmp_path}/moved\n")
    assert reason(vault.history.head) == "damaged"


def test_a_repository_that_was_taken_away_starts_anew(vault: Vault) -> None:
    vault.save({"private/a.md": b"1"})
    shutil.rmtree(vault.folder / ".git")
    assert vault.history.head() is None
    assert vault.history.log() is not None and list(vault.history.log()) == []
    assert vault.history.head() is None
    vault.save({"private/a.md": b"1"})
    assert vault.history.check() == []


@pytest.mark.parametrize("what", ["HEAD", "tip", "tree", "blob"])
def test_damage_is_said_and_nothing_is_made_up(vault: Vault, what: str) -> None:
    commit = vault.save({"private/a.md": b"1"})
    repository = pygit2.Repository(str(vault.folder))
    tree = repository[commit].peel(pygit2.Tree).id
    blob = vault.history.blob_at(commit, "private/a.md")
    vault.history.close()
    git = vault.folder / ".git"
    if what == "HEAD":
        (git / "HEAD").write_bytes(b"")
    else:
        broken = {"tip": commit, "tree": str(tree), "blob": str(blob)}[what]
        path = git / "objects" / broken[:2] / broken[2:]
        path.chmod(0o600)
        path.write_bytes(b"")
    problems = GitHistory(vault.folder, create=True).check()
    assert problems
    if what == "blob":
        assert reason(lambda: vault.history.blob(str(blob))) == "damaged"
    else:
        act = lambda: vault.history.commit({"private/a.md": b"2"}, author="m", message="m")  # noqa: E731
        assert reason(act) == "damaged"


def test_a_missing_object_is_said(vault: Vault) -> None:
    commit = vault.save({"private/a.md": b"1"})
    blob = vault.history.blob_at(commit, "private/a.md") or ""
    vault.history.close()
    (vault.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert vault.history.check() == ["The contents of private/a.md in the newest commit are missing."]
    assert vault.history.blob(blob) is None
