"""What recovery makes of a publication that ended in the middle, besides the files of records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from vault_publish_store import Failing, Store, make_store, sha, text

from lorebank.errors import StoreUnavailable, Unavailable
from lorebank.vaults.publish.parts import Order, Published
from lorebank.vaults.publish.points import Point, installed
from lorebank.vaults.publish.publish import publish
from lorebank.vaults.publish.resolve import resolve
from lorebank.vaults.store.values import Draft, FileChange, RecordChange

SOURCE, CLAIM = b"a long source\n", text("c", 1, "claim")


class Killed(BaseException):
    """Nothing may catch it, as nothing catches SIGKILL."""


def retain(store: Store, request: str = "r1") -> Published:
    """Publish a source and a claim that rests on it."""
    staged = store.stage(SOURCE, request)
    files = (
        FileChange("artifacts/x/content", staged=staged, sha256=sha(SOURCE), action="retain"),
        FileChange("artifacts/x/d.json", content=b"{}", action="retain"),
        FileChange("claims/c.md", content=CLAIM),
    )
    records = (RecordChange("c", 1, "claims/c.md", "a claim"),)
    order = Order(request, "d", store.desk.partition, "main")
    return publish(store.parts, store.desk, order, lambda view: Draft(files, records))


def killed_at(store: Store, point: Point, save: Any, nth: int = 1) -> None:
    left = [nth]

    def hook(reached: Point) -> None:
        left[0] -= reached is point
        if reached is point and not left[0]:
            raise Killed

    with installed(hook), pytest.raises(Killed):
        save()


def retained(store: Store) -> bool:
    found = [store.read(path) for path in ("artifacts/x/content", "artifacts/x/d.json", "claims/c.md")]
    assert found in ([SOURCE, b"{}", CLAIM], [None, None, None])
    assert not list((store.root / "staging").iterdir())
    return found[0] is not None


@pytest.mark.parametrize(
    ("point", "nth"),
    [
        (Point.PLANNED, 1),
        (Point.ACCEPTED, 1),
        (Point.FILE_WRITTEN, 1),
        (Point.FILE_WRITTEN, 2),
        (Point.PUBLISHED, 1),
    ],
)
def test_a_retained_file_comes_with_its_records_or_not_at_all(store: Store, point: Point, nth: int) -> None:
    killed_at(store, point, lambda: retain(store), nth)
    store.recover()
    assert retained(store) == (point is not Point.PLANNED)
    assert retain(store).receipt.replayed == (point is not Point.PLANNED)
    assert store.committed("artifacts/x/content") == SOURCE


@pytest.mark.parametrize("step", range(4))
def test_a_retained_file_is_taken_back_with_its_records(tmp_path: Path, step: int) -> None:
    make_store(tmp_path)
    store = Store(tmp_path, wrap=lambda tree: Failing(tree, step))
    with pytest.raises(Unavailable):
        retain(store)
    store.recover()
    assert not retained(store)
    retain(store)
    assert retained(store)
    store.close()


def test_a_save_whose_staged_file_is_gone_is_dropped_as_a_whole(store: Store) -> None:
    killed_at(store, Point.ACCEPTED, lambda: retain(store))
    (store.root / "staging/r1").unlink()
    assert store.recover().dropped == ("r1",)
    assert not retained(store)
    assert not retain(store).receipt.replayed and retained(store)


def test_a_staged_file_that_is_gone_leaves_the_decision_where_another_is_in_place(store: Store) -> None:
    killed_at(store, Point.ACCEPTED, lambda: retain(store))
    (store.root / "staging/r1").unlink()
    (store.root / "vault/private/claims").mkdir()
    (store.root / "vault/private/claims/c.md").write_bytes(CLAIM)
    with pytest.raises(StoreUnavailable) as caught:
        store.recover()
    assert caught.value.reason == "conflicted_publication"
    resolve(store.parts, "private", "r1", "theirs")
    store.recover()
    assert not retained(store)


def test_what_is_staged_for_an_open_publication_is_not_swept(store: Store) -> None:
    killed_at(store, Point.ACCEPTED, lambda: retain(store))
    (store.root / "vault/private/artifacts/x").mkdir(parents=True)
    (store.root / "vault/private/artifacts/x/d.json").write_bytes(b"{}")
    (store.root / "vault/private/claims").mkdir()
    (store.root / "vault/private/claims/c.md").write_bytes(b"by hand")
    store.stage(b"nobody's")
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            store.recover()
    assert (store.root / "staging/r1").read_bytes() == SOURCE
    resolve(store.parts, "private", "r1", "mine")
    store.recover()
    assert retained(store)


def test_an_edit_after_vault_json_is_an_edit_of_what_was_published(store: Store) -> None:
    store.save({"a.md": text("a", 1, "old")})
    killed_at(store, Point.MANIFEST_WRITTEN, lambda: store.save({"a.md": text("a", 2, "new")}, request="r1"))
    (store.root / "vault/private/a.md").write_bytes(text("a", 2, "by hand"))
    assert store.recover().finished == ("r1",)
    store.desk.refresh()
    lines = store.state.history("private", "a", None, 9)
    assert [(one.change, one.revision) for one in lines] == [("external_edit", 3), ("save", 2), ("save", 1)]
    assert store.read("a.md") == text("a", 2, "by hand") == store.committed("a.md")
    assert store.git.blob(lines[1].blob or "") == text("a", 2, "new")


def test_the_next_save_finishes_what_was_accepted_before_it(store: Store) -> None:
    killed_at(store, Point.FILE_WRITTEN, lambda: store.save({"a.md": text("a", 1, "x")}, request="r1"))
    assert store.save({"b.md": text("b", 1, "y")}).receipt.generation == 2
    assert store.save({}, request="r1").receipt.replayed


def test_a_database_that_cannot_accept_leaves_nothing(store: Store, monkeypatch: Any) -> None:
    def full(*_: object) -> None:
        raise Unavailable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(store.state, "accept", full)
        with pytest.raises(Unavailable):
            retain(store)
    store.recover()
    assert not retained(store) and store.git.head() is None
