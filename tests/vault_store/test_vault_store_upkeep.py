"""What operators do with whole stores: look through them, decide, take folders back from a backup."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from store_world import (
    OTHER,
    SESSION,
    World,
    changes,
    group,
    made_id,
    page,
    put,
    save,
    saving,
    titles,
    together,
    world,
)

from lorebank.access.audience import PRIVATE, Partition
from lorebank.errors import NotCreated, NotFound, StoreUnavailable
from lorebank.storage.knowledge_ports import PartitionRow
from lorebank.storage.tree import git_trees
from lorebank.vaults import reasons
from lorebank.vaults.evidence.descriptors import content_path, descriptor_path, encode
from lorebank.vaults.publish.points import Point, installed
from lorebank.vaults.store.handle import PartitionHandle
from lorebank.vaults.store.values import Descriptor

SOURCE = b"what was said " * 100
SHA = hashlib.sha256(SOURCE).hexdigest()


class Killed(BaseException):
    """The process ends here."""


def _kill(point: Point) -> None:
    if point is Point.ACCEPTED:
        raise Killed


def _kill_in_between(point: Point) -> None:
    if point is Point.FILE_WRITTEN:
        raise Killed


def found(stores: World, handle: PartitionHandle, *, read_all: bool = False) -> list[str]:
    return stores.vaults.check_store(handle.vault, read_all=read_all)


def with_source(stores: World, handle: PartitionHandle) -> Path:
    """A retained source with its descriptor, put there by hand."""
    one = Descriptor(made_id(9), content_path(SHA), SHA, len(SOURCE), "import")
    put(stores.private(), descriptor_path(SHA, one.id), encode(one, PRIVATE))
    return put(stores.private(), content_path(SHA), SOURCE)


def test_a_sound_store_has_nothing_to_tell(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    save(stores.open(group()), 2, "Bob")
    with_source(stores, handle)
    with handle.reading() as view:
        assert view.descriptor(made_id(9)) is not None
    before = stores.tree()
    assert found(stores, handle) == [] and found(stores, handle, read_all=True) == []
    assert stores.tree() == before


def test_an_edit_that_nobody_has_asked_about_is_no_fault(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    (stores.private() / "people/p1.md").write_bytes(page(1, "Eva"))
    put(stores.private(), "people/p2.md", page(2, "Bob"))
    assert found(stores, handle, read_all=True) == []
    assert len(changes(handle, 1)) == 2


@pytest.mark.parametrize("what", ["gone", "shorter", "other"])
def test_a_retained_source_that_is_not_whole_is_told(stores: World, what: str) -> None:
    handle = stores.open()
    source = with_source(stores, handle)
    titles(handle)
    match what:
        case "gone":
            source.unlink()
        case "shorter":
            source.write_bytes(SOURCE[:-1])
        case _:
            source.write_bytes(SOURCE[::-1])
    assert bool(found(stores, handle)) is (what != "other")
    assert "artifacts/" in found(stores, handle, read_all=True)[0]


def test_contents_that_changed_under_the_same_stamp_are_found_by_reading_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lorebank.vaults.store import checking

    with world(tmp_path) as stores:
        handle = stores.open()
        save(handle, 1, "Ada")
        assert found(stores, handle, read_all=True) == []
        # The disk turned a bit: no program wrote, so no stamp changed.
        (stores.private() / "people/p1.md").write_bytes(page(1, "Adb"))
        monkeypatch.setattr(checking, "_stamped", lambda row, state: row.kind == "record")
        assert "people/p1.md" in found(stores, handle, read_all=True)[0]
        assert found(stores, handle) == []


def test_links_and_foreign_folders_are_told(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    save(stores.open(group()), 2, "Bob")
    os.symlink("/etc/passwd", stores.private() / "people/link.md")
    folder = stores.store() / "vault/conversations" / SESSION
    folder.rename(stores.root / "away")
    shutil.copytree(stores.root / "away", folder)
    said = found(stores, handle)
    assert len(said) == 2 and "link.md" in said[0] and SESSION in said[1]


def test_unfinished_publications_are_told_and_left(stores: World) -> None:
    handle = stores.open()
    with pytest.raises(Killed), installed(_kill):
        save(handle, 1, "Ada")
    assert any("accepted" in one for one in found(stores, handle))
    assert titles(handle) == ["Ada"]
    assert found(stores, handle) == []


def test_a_store_that_lost_a_part_says_which(stores: World) -> None:
    handle = stores.open()
    (stores.store() / "vault/vault.json").unlink()
    assert "vault.json" in found(stores, handle)[0]
    with pytest.raises(StoreUnavailable):
        found(stores, handle)
    with pytest.raises(NotCreated):
        stores.vaults.check_store(OTHER, read_all=False)


@pytest.mark.statement("1.7.66")
@pytest.mark.parametrize("keep, left", [("mine", ["Ada 2", "Bob"]), ("theirs", ["Theirs"])])
def test_an_operator_settles_a_conflicted_publication(stores: World, keep: str, left: list[str]) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    with pytest.raises(Killed), installed(_kill_in_between):
        handle.publish("one", "one", together(saving(2, "Bob"), saving(1, "Ada 2")))
    (stores.private() / "people/p1.md").write_bytes(page(1, "Theirs"))
    with pytest.raises(StoreUnavailable):
        titles(handle)
    with pytest.raises(NotFound):
        stores.vaults.settle(handle.vault, "private", "other", "mine")
    stores.vaults.settle(handle.vault, "private", "one", "mine" if keep == "mine" else "theirs")
    assert titles(handle) == left
    assert found(stores, handle, read_all=True) == []


@pytest.mark.statement("1.4.42", "1.4.44")
def test_folders_from_a_backup_are_taken_when_an_operator_says_so(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        handle = stores.open()
        save(handle, 1, "Ada")
        save(stores.open(group()), 2, "Bob")
        store = stores.store()
    shutil.copytree(store, tmp_path / "backup")
    shutil.rmtree(store)
    shutil.copytree(tmp_path / "backup", store)
    with world(tmp_path) as stores:
        with pytest.raises(StoreUnavailable) as said:
            titles(stores.open())
        assert said.value.reason == reasons.PARTITION_CHANGED
        vault = store.name
        assert stores.vaults.accept_folders(vault) == [f"conversations/{SESSION}", "private"]
        assert titles(stores.open()) == ["Ada"] and titles(stores.open(group())) == ["Bob"]
        assert stores.vaults.accept_folders(vault) == []


def test_the_partitions_of_a_store_are_listed_and_none_is_made(stores: World) -> None:
    handle = stores.open()
    assert stores.vaults.partitions(handle.vault) == [PRIVATE]
    save(stores.open(group()), 1, "Ada")
    (stores.store() / "vault/conversations" / OTHER).mkdir()
    (stores.store() / "vault/conversations/no-uuid").mkdir()
    before = [row.folder for row in _rows(stores, handle)]
    assert found(stores, handle) == []
    assert [row.folder for row in _rows(stores, handle)] == before
    assert stores.vaults.partitions(handle.vault) == [PRIVATE, Partition(SESSION), Partition(OTHER)]
    with pytest.raises(NotCreated):
        stores.vaults.partitions(OTHER)


def _rows(stores: World, handle: PartitionHandle) -> list[PartitionRow]:
    with stores.vaults.pool.using(handle.vault) as runtime:
        return list(runtime.state.partitions())


def test_a_new_history_takes_each_file_once(stores: World, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = stores.open()
    written: list[object] = []
    store_blob = git_trees.store_blob

    def counted(repository: Any, content: Any) -> Any:
        written.append(content)
        return store_blob(repository, content)

    monkeypatch.setattr(git_trees, "store_blob", counted)
    for number in range(5):
        put(stores.private(), f"people/p{number}.md", page(number, f"Person {number}"))
    assert len(titles(handle)) == 5 and len(written) == 5
    shutil.rmtree(stores.store() / "vault/.git")
    save(handle, 7, "Ada")
    assert len(written) == 11, "the whole folder again, and the new one once"
