"""Somebody changes the vault in the middle of an access: nothing leads outside, nobody's save is lost."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lorebank.errors import Conflict, LorebankError, StoreUnavailable
from lorebank.storage.tree import renames
from lorebank.storage.tree.tree import FileTree

ACTIONS = [
    lambda tree: tree.read("private/people/a.md", max_bytes=100),
    lambda tree: tree.put("private/people/a.md", b"ours", expected=sha(b"one")),
    lambda tree: tree.put("private/people/new.md", b"ours", expected=None),
    lambda tree: tree.remove("private/people/a.md", expected=sha(b"one")),
    lambda tree: tree.scan("private"),
]


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    people = tmp_path / "vault" / "private" / "people"
    people.mkdir(parents=True)
    (people / "a.md").write_bytes(b"one")
    return tmp_path / "vault"


def between(vault: Path, step: str, act: Callable[[], object], times: int = 1) -> FileTree:
    """A tree where `act` runs at a step, so many times."""
    left = [times]

    def pause(now: str, path: str) -> None:
        if now == step and left[0]:
            left[0] -= 1
            act()

    return FileTree(vault, pause=pause)


def save(path: Path, content: bytes) -> None:
    """As an editor does that writes beside and renames."""
    beside = path.with_name(path.name + "~")
    beside.write_bytes(content)
    beside.replace(path)


def files(vault: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in vault.rglob("*") if path.is_file()}


@pytest.mark.statement("1.5.47", "1.8.76")
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    "step", ["folder_opened", "folder_listed", "file_opened", "written", "checked", "exchanged"]
)
def test_1_5_47_a_folder_exchanged_for_a_link_never_leads_outside(
    vault: Path, tmp_path: Path, action: Callable[[FileTree], object], step: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_bytes(b"secret")
    people = vault / "private/people"

    def exchange() -> None:
        if not people.is_symlink():
            people.rename(vault / "private/kept")
            people.symlink_to(outside)

    tree = between(vault, step, exchange)
    try:
        found = action(tree)
    except LorebankError:
        found = None
    assert b"secret" not in repr(found).encode()
    assert files(outside) == {"a.md": b"secret"}


@pytest.mark.parametrize("step", ["written", "exchanged"])
def test_an_editor_that_saves_in_the_last_moment_wins(vault: Path, step: str) -> None:
    path = vault / "private/people/a.md"
    if step == "exchanged":
        # After the exchange ours is there: she saves over it, then what she expected to be gone is checked.
        tree = between(vault, step, lambda: save(path, b"hers"))
        tree.put("private/people/a.md", b"ours", expected=sha(b"one"))
    else:
        tree = between(vault, step, lambda: save(path, b"hers"))
        with pytest.raises(Conflict):
            tree.put("private/people/a.md", b"ours", expected=sha(b"one"))
    assert files(vault) == {"a.md": b"hers"}


def test_an_editor_that_writes_into_the_file_wins(vault: Path) -> None:
    path = vault / "private/people/a.md"
    with pytest.raises(Conflict):
        between(vault, "written", lambda: path.write_bytes(b"hers")).put(
            "private/people/a.md", b"ours", expected=sha(b"one")
        )
    assert files(vault) == {"a.md": b"hers"}


def test_an_editor_that_has_the_file_open_for_writing_keeps_it(vault: Path) -> None:
    path = vault / "private/people/a.md"
    with path.open("r+b") as editor:
        with pytest.raises(Conflict):
            FileTree(vault).put("private/people/a.md", b"ours", expected=sha(b"one"))
        with pytest.raises(Conflict):
            FileTree(vault).remove("private/people/a.md", expected=sha(b"one"))
        editor.write(b"hers")
    assert files(vault) == {"a.md": b"hers"}


def test_a_reader_is_in_nobodys_way(vault: Path) -> None:
    with (vault / "private/people/a.md").open("rb") as reader:
        FileTree(vault).put("private/people/a.md", b"ours", expected=sha(b"one"))
        assert reader.read() == b"one"
    assert files(vault) == {"a.md": b"ours"}


def test_of_two_saves_in_the_last_moment_the_later_one_stays(vault: Path) -> None:
    path = vault / "private/people/a.md"

    def pause(step: str, _: str) -> None:
        if step == "written":
            save(path, b"first")
        elif step == "giving_back" and path.read_bytes() == b"ours":
            save(path, b"second")

    with pytest.raises(Conflict):
        FileTree(vault, pause=pause).put("private/people/a.md", b"ours", expected=sha(b"one"))
    assert files(vault) == {"a.md": b"second"}


def test_a_save_into_our_file_while_it_is_taken_back_stays(vault: Path) -> None:
    path = vault / "private/people/a.md"

    def pause(step: str, _: str) -> None:
        if step == "written":
            save(path, b"first")
        elif step == "giving_back" and path.read_bytes() == b"ours":
            path.write_bytes(b"second")

    with pytest.raises(Conflict):
        FileTree(vault, pause=pause).put("private/people/a.md", b"ours", expected=sha(b"one"))
    assert files(vault) == {"a.md": b"second"}


@pytest.mark.parametrize("kind", ["symlink", "hardlink", "gone"])
def test_tricks_in_the_last_moment_are_conflicts(vault: Path, tmp_path: Path, kind: str) -> None:
    path, outside = vault / "private/people/a.md", tmp_path / "outside"
    outside.write_bytes(b"one")

    def trick() -> None:
        path.unlink()
        if kind == "symlink":
            path.symlink_to(outside)
        elif kind == "hardlink":
            os.link(outside, path)

    with pytest.raises(Conflict):
        between(vault, "written", trick).put("private/people/a.md", b"ours", expected=sha(b"one"))
    assert outside.read_bytes() == b"one" and list(vault.rglob(".lb-*")) == []
    assert path.is_symlink() == (kind == "symlink") and path.exists() == (kind != "gone")


@pytest.mark.parametrize("portable", [False, True])
def test_a_file_that_appears_in_the_last_moment_is_not_replaced(
    vault: Path, monkeypatch: pytest.MonkeyPatch, portable: bool
) -> None:
    if portable:
        monkeypatch.setattr(renames, "_renameat2", lambda: None)
    path = vault / "private/people/new.md"
    with pytest.raises(Conflict):
        between(vault, "written", lambda: path.write_bytes(b"hers")).put(
            "private/people/new.md", b"ours", expected=None
        )
    assert files(vault) == {"a.md": b"one", "new.md": b"hers"}


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("step", ["checked", "taken"])
def test_a_save_while_a_file_is_removed_stays(
    vault: Path, monkeypatch: pytest.MonkeyPatch, portable: bool, step: str
) -> None:
    if portable:
        monkeypatch.setattr(renames, "_renameat2", lambda: None)
    path = vault / "private/people/a.md"
    tree = between(vault, step, lambda: save(path, b"hers"))
    if step == "checked":
        with pytest.raises(Conflict):
            tree.remove("private/people/a.md", expected=sha(b"one"))
    else:
        tree.remove("private/people/a.md", expected=sha(b"one"))
    assert files(vault) == {"a.md": b"hers"}


def test_a_file_that_changes_while_it_is_read_is_read_again(vault: Path) -> None:
    path = vault / "private/people/a.md"
    tree = between(vault, "file_read", lambda: path.write_bytes(b"two!"))
    assert tree.read("private/people/a.md", max_bytes=100)[1] == b"two!"


@pytest.mark.statement("1.8.75")
def test_1_8_75_a_file_that_never_rests_is_not_read_in_part(vault: Path) -> None:
    path = vault / "private/people/a.md"
    tree = between(vault, "file_read", lambda: path.write_bytes(os.urandom(8)), times=1000)
    with pytest.raises(StoreUnavailable) as refused:
        tree.read("private/people/a.md", max_bytes=100)
    assert refused.value.reason == "scan_incomplete"


def test_a_file_that_wanders_during_a_scan_is_found(vault: Path) -> None:
    """From a folder that is not listed yet into one that is."""
    (vault / "private/places").mkdir()
    (vault / "private/events").mkdir()
    (vault / "private/events/b.md").write_bytes(b"")
    seen: list[str] = []

    def pause(step: str, path: str) -> None:
        if step == "folder_listed":
            seen.append(path)
            source = vault / "private/events/b.md"
            if len(seen) == 2 and "private/events" not in seen and source.exists():
                source.rename(vault / path / "b.md")

    names = {path.rpartition("/")[2] for path in FileTree(vault, pause=pause).scan("private").files}
    assert names == {"a.md", "b.md"}


@pytest.mark.statement("1.8.75")
def test_1_8_75_a_folder_that_never_rests_is_not_scanned_in_part(vault: Path) -> None:
    count = [0]

    def add() -> None:
        count[0] += 1
        (vault / f"private/people/{count[0]}.md").write_bytes(b"")

    with pytest.raises(StoreUnavailable) as refused:
        between(vault, "folder_listed", add, times=1000).scan("private")
    assert refused.value.reason == "scan_incomplete"
