"""SIGKILL at each named write point and at random moments: all or nothing after recovery, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from vault_publish_child import FILES
from vault_publish_kills import child, random_kills
from vault_publish_store import Store, make_store, text

from lorebank.errors import StoreUnavailable
from lorebank.vaults.publish.points import Point
from lorebank.vaults.publish.resolve import resolve
from lorebank.vaults.store import manifest

OLD = text("a", 1, "old")
TAKING_BACK = (Point.UNDOING, Point.UNDONE, Point.FORGOTTEN)
PASSINGS = [(point, 1) for point in Point] + [(Point.FILE_WRITTEN, 2), (Point.UNDOING, 2)]


def killed(root: Path, point: Point, nth: int) -> Store:
    """The store after the kill, opened and not recovered yet."""
    make_store(root)
    store = Store(root)
    store.save({"a.md": OLD}, request="r0")
    store.close()
    process = child(str(root), "point", point.value, str(nth))
    out, _ = process.communicate(timeout=60)
    assert out == b"killed\n", out
    return Store(root)


@pytest.mark.parametrize(("point", "nth"), [one for one in PASSINGS if one[0] not in TAKING_BACK])
def test_a_kill_at_a_named_point_ends_in_all_or_nothing(tmp_path: Path, point: Point, nth: int) -> None:
    store = killed(tmp_path, point, nth)
    recovered = store.recover()
    done = point is not Point.PLANNED
    assert bool(recovered.finished) == (done and point not in (Point.PUBLISHED, Point.COMMITTED, Point.NOTED))
    for path, raw in FILES.items():
        wanted = raw if done else {"a.md": OLD}.get(path)
        assert store.read(path) == wanted == store.committed(path)
    again = store.save(FILES, request="r1", agent="killed").receipt
    assert again.replayed == done and again.generation == 2 and again.commit == store.git.head()
    assert store.save(FILES, request="r1").receipt.publication_id == again.publication_id
    assert [one.author for one in store.git.log()] == ["killed", "main"]
    lines = store.state.history("private", "a", None, 9)
    assert [(one.revision, one.agent) for one in lines] == [(2, "killed"), (1, "main")]
    assert manifest.read(store.tree).checkpoint == store.state.checkpoint()
    assert not store.state.open_journal() and not store.state.unfinished() and not store.state.uncommitted()
    store.close()


@pytest.mark.parametrize(("point", "nth"), [one for one in PASSINGS if one[0] in TAKING_BACK])
def test_a_kill_while_a_save_is_taken_back_loses_nothing_of_the_editor(
    tmp_path: Path, point: Point, nth: int
) -> None:
    store = killed(tmp_path, point, nth)
    if point in (Point.UNDONE, Point.FORGOTTEN):
        assert store.recover().dropped == (("r1",) if point is Point.UNDONE else ())
    else:
        with pytest.raises(StoreUnavailable) as caught:
            store.recover()
        assert caught.value.reason == "conflicted_publication"
        resolve(store.parts, "private", "r1", "theirs")
    assert store.read("b.md") == b"by hand" and store.read("a.md") == OLD
    store.desk.refresh()
    assert store.committed("b.md") == b"by hand" and store.state.journaled("private", "r1") is None
    store.close()


def test_twenty_kills_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    found = random_kills(tmp_path, kills=20, seed=4, edits=0.2)
    assert found.kills == 20 and found.acknowledged and found.edits
