"""A full disk, an editor in the last moment, a broken git: whole or not at all, and nobody loses anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from vault_publish_store import Failing, Store, make_store, sha, text

from lorebank.errors import NotFound, RevisionConflict, StoreUnavailable, Unavailable
from lorebank.vaults.publish.committing import catch_up
from lorebank.vaults.publish.points import Point, installed
from lorebank.vaults.publish.resolve import resolve
from lorebank.vaults.store import manifest

OLD, NEW = text("a", 1, "old"), text("a", 2, "new")
FILES = {"a.md": NEW, "b.md": text("b", 1, "b"), "c.md": text("c", 1, "c")}


def whole(store: Store, wanted: bool) -> None:
    """All files are new, or all are old; nothing is open, and every manifest agrees."""
    for path, raw in FILES.items():
        assert store.read(path) == (raw if wanted else {"a.md": OLD}.get(path))
    assert manifest.read(store.tree).checkpoint == store.state.checkpoint()
    assert not store.state.open_journal() and not store.state.unfinished() and not store.state.uncommitted()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_store(tmp_path)
    store = Store(tmp_path)
    store.save({"a.md": OLD}, request="r0")
    store.close()
    return tmp_path


@pytest.mark.parametrize("step", range(4))
def test_a_disk_that_is_full_once_leaves_nothing_of_the_save(root: Path, step: int) -> None:
    store = Store(root, wrap=lambda tree: Failing(tree, step))
    with pytest.raises(Unavailable):
        store.save(FILES, request="r1")
    assert store.state.journaled("private", "r1") is None
    whole(store, False)
    assert not store.save(FILES, request="r1").receipt.replayed
    whole(store, True)
    store.close()


@pytest.mark.parametrize("step", range(4))
def test_a_disk_that_stays_full_blocks_reads_until_the_save_is_finished(root: Path, step: int) -> None:
    store = Store(root, wrap=lambda tree: Failing(tree, step, times=99))
    with pytest.raises(Unavailable):
        store.save(FILES, request="r1")
    if step:
        assert [row.state for row in store.state.open_journal()] == ["accepted"]
        with pytest.raises(StoreUnavailable) as caught:
            store.recover()
        assert caught.value.reason == "pending_publication"
        store.close()
        store = Store(root)
        assert store.recover().finished == ("r1",)
        assert store.save(FILES, request="r1").receipt.replayed
    whole(store, bool(step))
    store.close()


def test_a_database_that_cannot_say_that_it_counts_is_caught_up(root: Path, monkeypatch: Any) -> None:
    store = Store(root)

    def full(*_: object) -> None:
        raise Unavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store.state, "publish", full)
        with pytest.raises(Unavailable):
            store.save(FILES, request="r1")
        with pytest.raises(Unavailable):
            store.recover()
    again = store.save(FILES, request="r1").receipt
    assert again.replayed and again.generation == 2
    whole(store, True)
    store.close()


def editor(store: Store, path: str, raw: bytes) -> None:
    """As an editor saves: a temporary file, then a rename."""
    target = store.root / "vault/private" / path
    temporary = target.with_name(f".{path}.swp")
    temporary.write_bytes(raw)
    os.replace(temporary, target)


def test_an_edit_in_the_last_moment_refuses_a_save_of_which_nothing_is_written(store: Store) -> None:
    store.save({"a.md": OLD})
    hand = text("a", 1, "by hand")

    def hook(point: Point) -> None:
        if point is Point.ACCEPTED:
            editor(store, "a.md", hand)

    with installed(hook), pytest.raises(RevisionConflict) as caught:
        store.save({"a.md": NEW}, request="r1")
    assert "by hand" in str(caught.value.sides["theirs"]) and "new" in str(caught.value.sides["yours"])
    assert store.read("a.md") == hand and not store.state.open_journal()
    store.desk.refresh()
    assert store.committed("a.md") == hand and store.state.journaled("private", "r1") is None


def test_an_edit_of_a_later_file_takes_the_earlier_ones_back(store: Store) -> None:
    store.save({"a.md": OLD, "z.md": text("z", 1, "z")})
    hand = text("z", 1, "by hand")
    count: list[Point] = []

    def hook(point: Point) -> None:
        if point is Point.FILE_WRITTEN and not count:
            count.append(point)
            editor(store, "z.md", hand)

    with installed(hook), pytest.raises(RevisionConflict):
        store.save({**FILES, "z.md": text("z", 2, "mine")}, request="r1")
    assert (store.read("a.md"), store.read("b.md"), store.read("z.md")) == (OLD, None, hand)
    assert not store.state.open_journal() and store.state.checkpoint().generation == 1


def conflict(store: Store) -> bytes:
    """A person edits what was written already and what is to be written: a save that cannot be taken back."""
    store.save({"a.md": OLD, "z.md": text("z", 1, "z")})
    hand = text("a", 2, "on top")

    def hook(point: Point) -> None:
        if point is Point.FILE_WRITTEN and store.read("a.md") == NEW:
            editor(store, "a.md", hand)
            editor(store, "z.md", text("z", 1, "by hand"))

    with installed(hook), pytest.raises(RevisionConflict):
        store.save({**FILES, "z.md": text("z", 2, "mine")}, request="r1")
    return hand


@pytest.mark.statement("1.7.66")
def test_a_conflicted_save_blocks_reads_and_saves_until_it_is_resolved(store: Store) -> None:
    hand = conflict(store)
    assert [row.state for row in store.state.open_journal()] == ["conflicted"]
    for attempt in (
        store.recover,
        lambda: store.save({"q.md": OLD}),
        lambda: store.save(FILES, request="r1"),
    ):
        with pytest.raises(StoreUnavailable) as caught:
            attempt()
        assert caught.value.reason == "conflicted_publication"
    assert store.read("a.md") == hand


def test_resolving_for_the_editor_drops_the_save_and_keeps_what_he_wrote(store: Store) -> None:
    hand = conflict(store)
    resolve(store.parts, "private", "r1", "theirs")
    assert (store.read("a.md"), store.read("b.md")) == (hand, None)
    assert store.read("z.md") == text("z", 1, "by hand")
    store.desk.refresh()
    assert store.committed("a.md") == hand and not store.state.open_journal()
    with pytest.raises(NotFound):
        resolve(store.parts, "private", "r1", "theirs")


def test_resolving_for_the_save_keeps_what_the_editor_wrote_in_git(store: Store) -> None:
    hand = conflict(store)
    resolve(store.parts, "private", "r1", "mine")
    assert (store.read("a.md"), store.read("z.md")) == (NEW, text("z", 2, "mine"))
    kept = [one for one in store.state.history("private", "a", None, 9) if one.change == "external_edit"]
    assert [store.git.blob(one.blob or "") for one in kept] == [hand]
    assert store.save(FILES, request="r1").receipt.replayed
    assert manifest.read(store.tree).checkpoint == store.state.checkpoint()


def test_a_broken_git_loses_no_save_and_is_caught_up_in_order(store: Store) -> None:
    store.save({"a.md": OLD}, request="r0")
    git = store.root / "vault/.git"
    os.rename(git / "HEAD", git / "HEAD.away")
    receipt = store.save({"a.md": NEW}, request="r1", agent="one").receipt
    store.save({"a.md": text("a", 3, "third")}, request="r2", agent="two")
    editor(store, "a.md", text("a", 3, "by hand"))
    store.desk.refresh()
    store.save({"a.md": text("a", 5, "fifth")}, request="r3", agent="one")
    assert receipt.commit is None and catch_up(store.parts).problem
    assert [row.request_id for row in store.state.unfinished()] == ["r1", "r2", "r3"]
    os.rename(git / "HEAD.away", git / "HEAD")
    assert catch_up(store.parts).commits == 4 and not store.state.unfinished()
    assert [one.author for one in store.git.log()] == ["one", "external", "two", "one", "main"]
    lines = store.state.history("private", "a", None, 9)
    assert [sha(store.git.blob(one.blob or "") or b"") for one in lines] == [one.sha256 for one in lines]
    assert store.save({}, request="r1").receipt.commit is not None


@pytest.mark.statement("1.4.44")
def test_an_older_vault_or_a_conflicting_checkpoint_is_never_overwritten(store: Store) -> None:
    store.save({"a.md": OLD})
    path = store.root / "vault/vault.json"
    older = path.read_bytes()
    store.save({"a.md": NEW})
    now = manifest.read(store.tree)
    other = manifest.Manifest(now.vault, now.generation, "99999999-9999-4999-8999-999999999999")
    for raw, reason in ((older, "older_vault"), (manifest.encode(other), "checkpoint_conflict")):
        path.write_bytes(raw)
        with pytest.raises(StoreUnavailable) as caught:
            store.recover()
        assert caught.value.reason == reason
        with pytest.raises(StoreUnavailable):
            store.save({"b.md": OLD})
        assert path.read_bytes() == raw and store.read("b.md") is None and not store.state.open_journal()
