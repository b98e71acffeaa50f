"""A save that nobody was told of, and a file that somebody changed before it was written: the save goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorebank.errors import StoreUnavailable
from lorebank.vaults.publish.points import Point, installed
from lorebank.vaults.reasons import CONFLICTED_PUBLICATION
from vault_store.store_world import World, changes, group, page, put, save, saving, titles, together, world


class Killed(BaseException):
    """The process ends here."""


def killed(stores: World, at: Point) -> None:
    """A save of two pages, one of which is there already, that ends at a point."""

    def hook(point: Point) -> None:
        if point is at:
            raise Killed

    both = together(saving(2, "Bob"), saving(1, "Ada 2"))
    with pytest.raises(Killed), installed(hook):
        stores.open().publish("one", "one", both)


@pytest.mark.parametrize("deleted", [False, True], ids=["edited", "deleted"])
def test_an_edit_before_the_first_file_drops_the_save_and_blocks_nobody(
    tmp_path: Path, deleted: bool
) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ada")
        save(stores.open(group()), 3, "Cid")
        killed(stores, Point.ACCEPTED)
        private = stores.private()
        if deleted:
            (private / "people/p1.md").unlink()
        else:
            put(private, "people/p1.md", page(1, "By hand"))
    with world(tmp_path) as stores:
        assert titles(stores.open(group())) == ["Cid"]
        assert titles(stores.open()) == ([] if deleted else ["By hand"])
        first = changes(stores.open(), 1)[0]
        assert first == ("external_delete", 1, None) if deleted else ("external_edit", 2, None)
        # The request was never heard of: it can be repeated, and is planned on what stands there now.
        receipt = stores.open().publish("one", "one", together(saving(2, "Bob"), saving(1, "Ada 2")))
        assert not receipt.replayed
        assert titles(stores.open()) == ["Ada 2", "Bob"]
        assert stores.open().publish("one", "one", saving(9, "Nobody")).replayed
        assert stores.vaults.check_store(stores.store().name, read_all=True) == []


def test_a_save_with_a_file_in_place_still_waits_for_the_operator(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ada")
        killed(stores, Point.FILE_WRITTEN)
        put(stores.private(), "people/p1.md", page(1, "By hand"))
    with world(tmp_path) as stores:
        vault = stores.store().name
        for _ in range(2):
            with pytest.raises(StoreUnavailable) as caught:
                titles(stores.open())
            assert caught.value.reason == CONFLICTED_PUBLICATION
        stores.vaults.settle(vault, "private", "one", "theirs")
        assert titles(stores.open()) == ["By hand"]


def test_a_save_that_vault_json_shows_is_never_dropped(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ada")
        killed(stores, Point.MANIFEST_WRITTEN)
        for number in (1, 2):
            put(stores.private(), f"people/p{number}.md", page(number, "By hand"))
    with world(tmp_path) as stores:
        assert titles(stores.open()) == ["By hand", "By hand"]
        assert stores.open().publish("one", "one", saving(9, "Nobody")).replayed
        assert [one[0] for one in changes(stores.open(), 1)] == ["external_edit", "save", "save"]
