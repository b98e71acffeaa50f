"""What a reading sees, however the files came to be what they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from store_world import (
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
    world,
)

from lorebank.access.audience import Partition
from lorebank.errors import NotFound, RevisionConflict, Unavailable
from lorebank.vaults.store.values import Draft, LooksAgain, View

TALK = Partition(SESSION)


def test_a_saved_record_is_read_back(stores: World) -> None:
    handle = stores.open()
    receipt = save(handle, 1, "Ada")
    assert receipt.commit is not None
    with handle.reading() as view:
        entry = view.by_id(receipt.answer["id"])
        assert entry is not None and entry.record is not None
        assert view.read(entry).decode().endswith("About Ada.\n")
        assert view.by_key(entry.key) is entry
        assert view.snapshot.slot_of(entry.key) is not None
        assert isinstance(view, LooksAgain) and view.fresh(entry)
    assert changes(handle, 1) == [("save", 1, "main")]


def test_1_9_78_an_empty_partition_is_an_answer(stores: World) -> None:
    assert titles(stores.recall()) == []


@pytest.mark.statement("1.7.65")
def test_edits_from_outside_are_recorded_on_the_next_query(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    file = stores.private() / "people/p1.md"
    # The editor leaves the number as it is: it counts as the next revision all the same.
    file.write_bytes(page(1, "Ada Lovelace"))
    assert titles(handle) == ["Ada Lovelace"]
    assert changes(handle, 1) == [("external_edit", 2, None), ("save", 1, "main")]
    with handle.reading() as view:
        found = view.by_id(made_id(1))
        assert found is not None and found.revision == 2


@pytest.mark.statement("1.7.65")
def test_renames_keep_the_record_and_its_key(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    with handle.reading() as view:
        before = view.by_id(made_id(1))
    old, new = stores.private() / "people/p1.md", stores.private() / "people/ada.md"
    old.rename(new)
    with handle.reading() as view:
        after = view.by_id(made_id(1))
    assert before is not None and after is not None
    assert (after.path, after.key, after.revision) == ("people/ada.md", before.key, 1)
    assert changes(handle, 1)[0] == ("external_rename", 1, None)


@pytest.mark.statement("1.7.65")
def test_a_folder_that_is_renamed_takes_its_records_with_it(stores: World) -> None:
    handle = stores.open()
    for number in range(3):
        save(handle, number, f"Page {number}")
    (stores.private() / "people").rename(stores.private() / "folk")
    assert len(titles(handle)) == 3
    assert {changes(handle, number)[0][0] for number in range(3)} == {"external_rename"}
    put(stores.private(), "folk/p1.md", page(1, "Changed there"))
    assert "Changed there" in titles(handle)


@pytest.mark.statement("1.7.65")
def test_deletions_are_recorded_and_a_file_that_comes_back_counts_on(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    file = stores.private() / "people/p1.md"
    content = file.read_bytes()
    file.unlink()
    assert titles(handle) == []
    file.write_bytes(content)
    assert titles(handle) == ["Ada"]
    assert [row[:2] for row in changes(handle, 1)] == [
        ("external_add", 2),
        ("external_delete", 1),
        ("save", 1),
    ]


def test_files_added_by_hand_are_indexed_and_committed(stores: World) -> None:
    handle = stores.open()
    put(stores.private(), "people/new/deep/b.md", page(2, "Bob"))
    assert titles(handle) == ["Bob"]
    row = handle.history(made_id(2), before=None, limit=1)[0]
    assert row.commit is not None and handle.content_of(row) == page(2, "Bob")


def test_an_edit_within_the_same_tick_is_noticed(tmp_path: Path) -> None:
    with world(tmp_path, watch=False) as stores:
        handle = stores.open()
        file = put(stores.private(), "people/p1.md", page(1, "Ada"))
        assert titles(handle) == ["Ada"]
        before = file.stat()
        with file.open("r+b") as same:
            same.write(page(1, "Eva"))
        # As a file system with coarse times would have it: the stamp is what it was, except for the time of
        # the inode's change, which no program can set.
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert titles(handle) == ["Eva"]


def test_a_second_start_reads_no_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with world(tmp_path) as stores:
        handle = stores.open()
        file = put(stores.private(), "people/p1.md", page(1, "Ada"))
        long_ago = file.stat().st_mtime_ns - 10**12
        os.utime(file, ns=(long_ago, long_ago))
        assert titles(handle) == ["Ada"]
    from lorebank.vaults.store import files, turn

    # Ten minutes later, by this clock.
    real = files._NOW_NS
    monkeypatch.setattr(files, "_NOW_NS", lambda: real() + 600 * 10**9)
    with world(tmp_path, watch=False) as stores:
        assert titles(stores.open()) == ["Ada"]  # unsettled at the first time: read once more
    monkeypatch.setattr(turn, "read_file", lambda *more: pytest.fail("a file was read again"))
    with world(tmp_path, watch=False) as stores:
        handle = stores.open()
        assert titles(handle) == ["Ada"]
        assert titles(handle) == ["Ada"]


def test_a_view_stays_as_it_was_and_says_when_a_file_is_not(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    with handle.reading() as view:
        entry = view.by_id(made_id(1))
        assert entry is not None
        (stores.private() / "people/p1.md").write_bytes(page(1, "Eva"))
        assert isinstance(view, LooksAgain) and not view.fresh(entry)
        with pytest.raises(Unavailable, match="ask again"):
            view.read(entry)
        assert [one.record.title for one in view.entries.values() if one.record] == ["Ada"]


@pytest.mark.statement("1.8.75", "1.8.76")
def test_a_link_is_withheld_and_told_and_is_no_deletion(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    file, away = stores.private() / "people/p1.md", stores.root / "away.md"
    os.link(file, away)
    file.touch()
    with handle.reading() as view:
        assert view.by_id(made_id(1)) is None
        assert any(one.rule.startswith("tree.") and one.path == "people/p1.md" for one in view.findings)
        assert view.snapshot.passages == 0
    away.unlink()
    file.touch()
    assert titles(handle) == ["Ada"]
    assert [row[0] for row in changes(handle, 1)] == ["save"]


def test_duplicate_ids_stay_listed_and_name_nothing(stores: World) -> None:
    handle = stores.open()
    for name in ("a", "b"):
        put(stores.private(), f"people/{name}.md", page(1, name.upper()))
    with handle.reading() as view:
        assert view.by_id(made_id(1)) is None and len(view.entries) == 2
        assert [one.rule for one in view.findings] == ["id.duplicate", "id.duplicate"]
    (stores.private() / "people/b.md").unlink()
    assert titles(handle) == ["A"]
    with handle.reading() as view:
        assert view.by_id(made_id(1)) is not None and not view.findings


@pytest.mark.statement("1.5.50")
def test_a_record_with_a_wrong_scope_is_withheld_and_left_as_it_is(stores: World) -> None:
    handle = stores.open()
    wrong = page(1, "Secret", partition=TALK)
    file = put(stores.private(), "people/p1.md", wrong)
    with handle.reading() as view:
        assert view.by_id(made_id(1)) is None and len(view.entries) == 1
        assert view.snapshot.passages == 0 and len(view.findings) == 1
    assert file.read_bytes() == wrong


def test_a_broken_file_counts_as_a_revision_and_so_does_its_repair(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    file = stores.private() / "people/p1.md"
    file.write_bytes(b"---\nbroken: [\n---\n")
    assert titles(handle) == []
    file.write_bytes(page(1, "Ada again"))
    assert titles(handle) == ["Ada again"]
    assert [row[:2] for row in changes(handle, 1)] == [
        ("external_edit", 3),
        ("external_edit", 2),
        ("save", 1),
    ]


def test_another_record_in_the_same_file_ends_the_first_one(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    (stores.private() / "people/p1.md").write_bytes(page(2, "Bob"))
    assert titles(handle) == ["Bob"]
    assert [row[0] for row in changes(handle, 1)] == ["external_delete", "save"]
    assert [row[:2] for row in changes(handle, 2)] == [("external_edit", 1)]


@pytest.mark.statement("1.5.48")
def test_the_private_ontology_counts_in_private_only(stores: World) -> None:
    extension = b"types:\n  recipe:\n    label: Recipe\n    description: How to cook.\n"
    handle, talk = stores.open(), stores.open(group())
    save(handle, 1, "Soup")
    save(talk, 2, "Soup")
    put(stores.private(), "people/p1.md", page(1, "Soup", type="recipe"))
    other = stores.private().parent / TALK.folder
    put(other, "people/p2.md", page(2, "Soup", type="recipe", partition=TALK))
    for folder in (stores.private(), other):
        (folder / "ontology.yaml").write_bytes(extension)
    with handle.reading() as view:
        found = view.by_id(made_id(1))
        assert "recipe" in view.ontology.types and found is not None and found.record is not None
        assert found.record.valid
    with talk.reading() as view:
        found = view.by_id(made_id(2))
        assert "recipe" not in view.ontology.types and found is not None and found.record is not None
        assert not found.record.valid
    (stores.private() / "ontology.yaml").unlink()
    with handle.reading() as view:
        found = view.by_id(made_id(1))
        assert "recipe" not in view.ontology.types and found is not None and found.record is not None
        assert not found.record.valid


@pytest.mark.statement("1.8.72")
def test_an_ontology_file_has_at_most_64_kib(stores: World) -> None:
    handle = stores.open()
    extension = b"types:\n  recipe:\n    label: Recipe\n    description: How to cook.\n"
    file = put(stores.private(), "ontology.yaml", extension + b"#" * (65_536 - len(extension)))
    with handle.reading() as view:
        assert "recipe" in view.ontology.types and not view.findings
    file.write_bytes(extension + b"#" * (65_537 - len(extension)))
    with handle.reading() as view:
        assert "recipe" not in view.ontology.types
        assert [one.path for one in view.findings] == ["ontology.yaml"]


@pytest.mark.statement("1.5.46", "1.5.47")
def test_nothing_of_another_partition_is_seen(stores: World) -> None:
    handle, talk = stores.open(), stores.open(group())
    save(handle, 1, "Ada", "private canary")
    save(talk, 1, "Ada", "talk canary")
    save(talk, 2, "Bob")
    assert titles(handle) == ["Ada"] and titles(talk) == ["Ada", "Bob"]
    with talk.reading() as view:
        found = view.by_id(made_id(1))
        assert found is not None and b"talk canary" in view.read(found)
        assert view.snapshot.passages == 2 and not view.findings
    assert [row.path for row in talk.recent(10)] == ["people/p2.md", "people/p1.md"]
    row = handle.history(made_id(1), before=None, limit=1)[0]
    with pytest.raises(NotFound, match="no such row"):
        talk.content_of(row)


@pytest.mark.statement("1.7.64")
def test_conversations_are_looked_at_without_a_watcher(stores: World) -> None:
    talk = stores.open(group())
    save(talk, 1, "Ada")
    file = stores.private().parent / TALK.folder / "people/p1.md"
    for name in ("Eva", "Ina"):
        file.write_bytes(page(1, name, partition=TALK))
        assert titles(talk) == [name]


def test_with_writes_off_edits_are_seen_and_nothing_is_written(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        handle = stores.open()
        save(handle, 1, "Ada")
        stores.configure("{ writesEnabled: false }")
        reader = stores.recall()
        database = stores.store() / "state.sqlite"
        put(stores.private(), "people/b.md", page(2, "Bob"))
        (stores.private() / "people/p1.md").write_bytes(page(1, "Eva"))
        before = database.read_bytes()
        assert titles(reader) == ["Bob", "Eva"]
        (stores.private() / "people/b.md").write_bytes(page(2, "Bert"))
        assert titles(reader) == ["Bert", "Eva"]
        assert database.read_bytes() == before
        assert [row[0] for row in changes(reader, 1)] == ["save"]
        stores.configure("{ writesEnabled: true }")
        handle = stores.open()
        assert titles(handle) == ["Bert", "Eva"]
        assert [row[0] for row in changes(handle, 1)] == ["external_edit", "save"]
        assert [row[:2] for row in changes(handle, 2)] == [("external_add", 1)]


def test_a_save_over_an_edit_that_nobody_saw_shows_both_sides(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    plan = saving(1, "Ada 2")

    def late(view: View) -> Draft:
        draft = plan(view)
        (stores.private() / "people/p1.md").write_bytes(page(1, "Theirs"))
        return draft

    with pytest.raises(RevisionConflict):
        handle.publish("late", "late", late)
    assert titles(handle) == ["Theirs"]
