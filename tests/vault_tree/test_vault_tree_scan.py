"""Scans: complete, within their limits, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lorebank.errors import StoreUnavailable
from lorebank.storage.tree import scan
from lorebank.storage.tree.tree import FileTree


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault/private").mkdir(parents=True)
    return tmp_path / "vault"


def make(vault: Path, *paths: str) -> None:
    for path in paths:
        file = vault / "private" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(path.encode())


def reason(vault: Path, **limits: int) -> str | None:
    try:
        FileTree(vault).scan("private", **limits)
    except StoreUnavailable as error:
        return error.reason
    return None


def rules(vault: Path) -> dict[str, str]:
    return {problem.path: problem.rule for problem in FileTree(vault).scan("private").problems}


def test_a_scan_names_every_file_in_order_with_its_state(vault: Path) -> None:
    make(vault, "people/b.md", "people/a.md", "claims/0001/x.md", "ontology.yaml")
    tree = FileTree(vault)
    found = tree.scan("private")
    assert list(found.files) == [
        "private/claims/0001/x.md",
        "private/ontology.yaml",
        "private/people/a.md",
        "private/people/b.md",
    ]
    assert found.files["private/people/a.md"] == tree.state("private/people/a.md")
    assert (found.problems, found.entries) == ((), 7)
    assert list(tree.scan("private/people").files) == ["private/people/a.md", "private/people/b.md"]


def test_files_of_other_programs_count_but_are_passed_over(vault: Path) -> None:
    make(vault, "a.md", ".DS_Store", ".obsidian/app.json", "a.md~", "#a.md#", ".a.md.swp")
    (vault / "private/.#a.md").symlink_to("someone@machine")
    found = FileTree(vault).scan("private")
    assert (list(found.files), found.problems, found.entries) == (["private/a.md"], (), 7)


@pytest.mark.statement("1.8.69")
def test_1_8_69_a_hundred_thousand_entries_are_scanned_and_one_more_fails(vault: Path) -> None:
    """Empty folders count like files; a hundred thousand of the cheapest entries."""
    people = vault / "private/people"
    people.mkdir()
    (people / "a.md").write_bytes(b"")
    folder = os.open(people, os.O_RDONLY)
    for number in range(99_998):
        os.symlink("x", f".{number}", dir_fd=folder)
    os.close(folder)
    found = FileTree(vault).scan("private")
    assert (found.entries, list(found.files)) == (100_000, ["private/people/a.md"])
    (vault / "private/one more.md").write_bytes(b"")
    assert reason(vault) == "scan_limit"


@pytest.mark.statement("1.8.69")
def test_1_8_69_every_kind_of_entry_counts(vault: Path) -> None:
    make(vault, "a.md", "folder/b.md", ".hidden", "A.md")
    (vault / "private/link").symlink_to("a.md")
    assert reason(vault, max_entries=6) is None
    assert reason(vault, max_entries=5) == "scan_limit"


@pytest.mark.statement("1.8.70")
def test_1_8_70_eight_folders_deep_is_scanned_and_nine_fail(vault: Path) -> None:
    make(vault, "1/2/3/4/5/6/7/8/deep.md")
    assert list(FileTree(vault).scan("private").files) == ["private/1/2/3/4/5/6/7/8/deep.md"]
    (vault / "private/1/2/3/4/5/6/7/8/9").mkdir()
    assert reason(vault) == "scan_limit"


@pytest.mark.statement("1.8.75")
def test_1_8_75_a_folder_that_cannot_be_read_fails_the_scan(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(vault, "people/a.md", "claims/b.md")
    real = os.scandir
    calls: list[int] = []

    def scandir(folder: int) -> object:
        calls.append(folder)
        if len(calls) == 3:
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(scan.os, "scandir", scandir)
    assert reason(vault) == "scan_incomplete"


@pytest.mark.statement("1.8.75")
def test_1_8_75_a_missing_partition_is_no_empty_one(vault: Path) -> None:
    (vault / "private").rmdir()
    assert reason(vault) == "missing_partition"


@pytest.mark.statement("1.8.76")
def test_1_8_76_links_and_special_files_are_withheld_and_said(vault: Path, tmp_path: Path) -> None:
    make(vault, "a.md", "twice.md")
    private = vault / "private"
    os.link(private / "twice.md", tmp_path / "elsewhere")
    os.link(private / "a.md", private / "again.md")
    (private / "link.md").symlink_to("a.md")
    (private / "people").symlink_to(tmp_path)
    os.mkfifo(private / "pipe")
    make(vault, "good.md")
    assert list(FileTree(vault).scan("private").files) == ["private/good.md"]
    assert rules(vault) == {
        "private/a.md": "hardlink",
        "private/again.md": "hardlink",
        "private/link.md": "symlink",
        "private/people": "symlink",
        "private/pipe": "special_file",
        "private/twice.md": "hardlink",
    }


def test_names_that_fold_to_the_same_are_withheld_both(vault: Path) -> None:
    make(vault, "Ann.md", "ann.md", "bob.md", "People/x.md", "people/y.md", "straße.md", "STRASSE.md")
    found = FileTree(vault).scan("private")
    assert list(found.files) == ["private/bob.md"]
    assert set(rules(vault).values()) == {"name_collision"} and len(found.problems) == 6
    assert found.refuses("private/people/y.md") and found.refuses("private/ann.md")
    assert not found.refuses("private/bob.md") and not found.refuses("private/deleted.md")


def test_names_that_are_no_composed_utf8_are_withheld(vault: Path) -> None:
    private = os.fsencode(vault / "private")
    for name in (b"bad\xff.md", "u\u0308.md".encode(), b"line\nbreak.md"):
        with open(private + b"/" + name, "wb"):
            pass
    found = FileTree(vault).scan("private")
    assert found.files == {} and set(rules(vault).values()) == {"file_name"}
    assert all(problem.path.encode() and problem.message for problem in found.problems)


def test_no_descriptor_is_left_open(vault: Path) -> None:
    make(vault, "1/2/3/a.md", "b/c.md", "d/e.md")
    (vault / "private/1/2/3/4/5/6/7/8/9").mkdir(parents=True)
    tree = FileTree(vault)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            tree.scan("private")
        tree.scan("private", max_depth=9)
        tree.sweep()
        tree.put("private/b/c.md", b"b/c.md", expected=None)
    assert len(os.listdir("/proc/self/fd")) == before
    tree.close()
    assert len(os.listdir("/proc/self/fd")) == before - 1
