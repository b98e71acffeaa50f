"""A store's database: what it keeps, in which order it gives it back, and what it refuses."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from lorebank.errors import Conflict, StoreUnavailable
from lorebank.storage.knowledge_ports import (
    CatalogueRow,
    Checkpoint,
    HistoryLine,
    JournalRow,
    PartitionRow,
    VaultState,
)
from lorebank.storage.sqlite.vault_state import SqliteVaultState, create_vault_state

FIRST = Checkpoint("11111111-1111-4111-8111-111111111111", 0, "22222222-2222-4222-8222-222222222222")
FOLDER = "private"


@pytest.fixture
def state(tmp_path: Path) -> SqliteVaultState:
    create_vault_state(tmp_path / "state.sqlite", FIRST)
    return SqliteVaultState(tmp_path / "state.sqlite")


def file(path: str, key: int = 0, sha: str = "aa", record: str | None = "{}") -> CatalogueRow:
    return CatalogueRow(key, FOLDER, path, "record", 1, 2, 3, 4, sha, 1, record, "[]")


def line(record: str | None, path: str, revision: int | None = 1, sha: str | None = "aa") -> HistoryLine:
    return HistoryLine(
        0, FOLDER, record, revision, path, record or "", "save", "main", 7, sha, None, None, None, ""
    )


def journal(request: str, folder: str = FOLDER, generation: int = 1) -> JournalRow:
    return JournalRow(
        request_id=request,
        digest="d",
        folder=folder,
        agent="main",
        change="save",
        files=b"contents",
        records="[]",
        answer="{}",
        message="",
        generation=generation,
        publication_id=f"p{generation}",
        state="accepted",
        accepted_at=5,
        published_at=None,
        commit=None,
    )


def test_a_new_store_has_the_checkpoint_it_was_made_with(state: VaultState) -> None:
    assert state.checkpoint() == FIRST
    assert not state.partitions() and not list(state.catalogue(FOLDER)) and not state.open_journal()


def test_a_partition_is_noted_once(state: VaultState) -> None:
    row = PartitionRow(FOLDER, 1, 2)
    state.add_partition(row)
    with pytest.raises(Conflict):
        state.add_partition(PartitionRow(FOLDER, 1, 3))
    assert state.partition(FOLDER) == row and state.partition("conversations/x") is None
    assert state.partitions() == [row]


def test_catalogue_keys_stay_with_their_file_and_are_never_used_again(state: VaultState) -> None:
    keys = state.apply_catalogue(FOLDER, [file("a.md"), file("b.md")], [], [])
    again = state.apply_catalogue(FOLDER, [file("a.md", sha="bb")], [], [])
    assert again["a.md"] == keys["a.md"]
    state.apply_catalogue(FOLDER, [], [keys["b.md"]], [])
    new = state.apply_catalogue(FOLDER, [file("b.md")], [], [])["b.md"]
    assert new > max(keys.values())
    assert [(row.path, row.sha256) for row in state.catalogue(FOLDER)] == [("a.md", "bb"), ("b.md", "aa")]


def test_two_files_that_exchange_their_names_keep_their_keys(state: VaultState) -> None:
    keys = state.apply_catalogue(FOLDER, [file("a.md"), file("b.md")], [], [])
    state.apply_catalogue(FOLDER, [file("b.md", keys["a.md"]), file("a.md", keys["b.md"])], [], [])
    assert {row.path: row.key for row in state.catalogue(FOLDER)} == {
        "a.md": keys["b.md"],
        "b.md": keys["a.md"],
    }


def test_keys_of_another_partition_cannot_be_removed(state: VaultState) -> None:
    keys = state.apply_catalogue(FOLDER, [file("a.md")], [], [])
    state.apply_catalogue("conversations/x", [], list(keys.values()), [])
    assert [row.path for row in state.catalogue(FOLDER)] == ["a.md"]


def test_one_publication_is_open_at_a_time_and_moves_the_checkpoint_when_it_counts(state: VaultState) -> None:
    state.accept(journal("r1"))
    with pytest.raises(Conflict):
        state.accept(journal("r2"))
    assert [row.request_id for row in state.open_journal()] == ["r1"]
    assert state.checkpoint() == FIRST
    keys = state.publish(FOLDER, "r1", 9, [file("a.md")], [replace(line("r", "a.md"), request_id="r1")])
    assert state.checkpoint() == Checkpoint(FIRST.vault, 1, "p1")
    assert not state.open_journal() and keys["a.md"] == next(state.catalogue(FOLDER)).key
    found = state.journaled(FOLDER, "r1")
    assert found is not None and (found.state, found.published_at, found.files) == (
        "published",
        9,
        b"contents",
    )
    with pytest.raises(Conflict):
        state.publish(FOLDER, "r1", 10, [], [])
    with pytest.raises(Conflict):
        state.accept(journal("r1", generation=2))


def test_a_request_id_means_nothing_in_another_partition(state: VaultState) -> None:
    state.accept(journal("r1"))
    state.publish(FOLDER, "r1", 9, [], [])
    assert state.journaled("conversations/x", "r1") is None
    state.accept(journal("r1", "conversations/x", 2))
    state.publish("conversations/x", "r1", 10, [], [])
    assert state.checkpoint().generation == 2


def test_only_what_does_not_count_can_be_forgotten(state: VaultState) -> None:
    state.accept(journal("r1"))
    state.conflict(FOLDER, "r1")
    assert [row.state for row in state.open_journal()] == ["conflicted"]
    state.forget(FOLDER, "r1")
    assert state.journaled(FOLDER, "r1") is None
    state.accept(journal("r1"))
    state.publish(FOLDER, "r1", 9, [], [])
    state.forget(FOLDER, "r1")
    assert state.journaled(FOLDER, "r1") is not None


def test_contents_leave_the_database_when_git_has_them(state: VaultState) -> None:
    state.accept(journal("r1"))
    state.publish(FOLDER, "r1", 9, [], [replace(line("r", "a.md"), request_id="r1")])
    state.apply_catalogue(FOLDER, [], [], [line("s", "b.md", sha="bb")], {"bb": b"by hand"})
    assert [row.path for row in state.uncommitted()] == ["a.md", "b.md"]
    assert [row.request_id for row in state.unfinished()] == ["r1"] and state.kept("bb") == b"by hand"
    assert state.backlog() == 3
    first, second = state.uncommitted()
    state.committed({first.seq: "blob1"}, "c1", [(FOLDER, "r1")])
    assert state.kept("bb") == b"by hand" and not state.unfinished()
    state.committed({second.seq: "blob2"}, "c2")
    assert state.kept("bb") is None and not state.uncommitted() and not state.backlog()
    row = state.journaled(FOLDER, "r1")
    assert row is not None and (row.files, row.commit) == (b"", "c1")
    assert state.history(FOLDER, "r", None, 5)[0].blob == "blob1"


def test_history_is_newest_first_and_paged_and_of_one_partition(state: VaultState) -> None:
    lines = [line("r", "a.md", n) for n in range(1, 6)]
    other = replace(line("r", "a.md", 9), folder="conversations/x")
    state.apply_catalogue(FOLDER, [], [], [*lines, other])
    page = state.history(FOLDER, "r", None, 2)
    assert [row.revision for row in page] == [5, 4]
    assert [row.revision for row in state.history(FOLDER, "r", page[-1].seq, 10)] == [3, 2, 1]
    assert state.last_revisions(FOLDER) == {"r": 5}
    assert state.line("conversations/x", page[0].seq) is None
    assert state.line(FOLDER, page[0].seq) == page[0]


def test_recent_holds_the_newest_line_of_each_record(state: VaultState) -> None:
    state.apply_catalogue(
        FOLDER,
        [],
        [],
        [line("r", "a.md", 1), line("s", "b.md", 1), line("r", "a.md", 2), line(None, "x.yaml")],
    )
    assert [(row.record_id, row.revision) for row in state.recent(FOLDER, 5)] == [("r", 2), ("s", 1)]


def test_verdicts_and_vectors_are_replaced_and_vectors_go_with_their_file(state: VaultState) -> None:
    state.set_verdict("k", "s1", "good")
    state.set_verdict("k", "s2", "bad")
    assert state.verdict("k") == ("s2", "bad") and state.verdict("other") is None
    key = state.apply_catalogue(FOLDER, [file("a.md")], [], [])["a.md"]
    sha = next(iter(state.catalogue(FOLDER))).sha256
    state.set_vectors("m", [(key, sha, b"1"), (key, sha, b"2"), (key + 100, sha, b"3"), (key, "other", b"4")])
    assert list(state.vectors(FOLDER)) == [(key, "m", sha, b"2")]
    assert not list(state.vectors("conversations/x"))
    state.apply_catalogue(FOLDER, [], [key], [])
    assert not list(state.vectors(FOLDER))


def test_a_vector_stays_with_its_text_and_goes_when_that_becomes_another(state: VaultState) -> None:
    rows = [file("a.md"), file("b.md"), file("c.md"), file("d.md")]
    keys = state.apply_catalogue(FOLDER, rows, [], [])
    state.set_vectors("m", [(key, "aa", path.encode()) for path, key in keys.items()])
    changed = [file("b.md", sha="bb"), file("c.md", keys["c.md"], sha="bb"), file("e.md", keys["d.md"])]
    state.apply_catalogue(FOLDER, [file("a.md"), *changed], [], [])
    assert {row[3] for row in state.vectors(FOLDER)} == {b"a.md", b"d.md"}


def test_everything_is_there_after_closing_and_opening(state: SqliteVaultState, tmp_path: Path) -> None:
    state.accept(journal("r1"))
    state.close()
    again = SqliteVaultState(tmp_path / "state.sqlite")
    assert again.open_journal() == [journal("r1")]
    again.close()


def test_a_database_of_another_program_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE journal (x)")
    db.commit()
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable) as caught:
        SqliteVaultState(path)
    assert caught.value.reason == "foreign_store" and path.read_bytes() == before


def test_a_missing_database_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        SqliteVaultState(tmp_path / "state.sqlite")
    assert caught.value.reason == "missing_database" and not list(tmp_path.iterdir())
