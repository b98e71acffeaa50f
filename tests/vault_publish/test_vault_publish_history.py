"""The text of every revision, git's index after a moment, and what git gets when it begins anew."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from dataclasses import replace

import pytest
from vault_publish_store import Store, row_of, sha, text

from lorebank import clock
from lorebank.errors import NotFound
from lorebank.storage.knowledge_ports import HistoryLine, PartitionRow
from lorebank.vaults.publish.committing import catch_up
from lorebank.vaults.publish.history import content_of
from lorebank.vaults.publish.parts import Order
from lorebank.vaults.publish.publish import publish
from lorebank.vaults.publish.tidying import Tidier
from lorebank.vaults.store.values import Draft, FileChange


def texts(store: Store, record: str) -> list[bytes | None]:
    lines = store.state.history("private", record, None, 99)
    return [content_of(store.state, store.tree, store.git, line) for line in lines]


def by_hand(store: Store, path: str, raw: bytes) -> None:
    (store.root / "vault/private" / path).write_bytes(raw)
    store.desk.refresh()


@pytest.mark.parametrize("broken", [False, True])
def test_the_text_of_each_revision_is_there_also_while_git_is_behind(store: Store, broken: bool) -> None:
    wanted = [text("a", number, f"text {number}") for number in range(1, 5)]
    store.save({"a.md": wanted[0]})
    git = store.root / "vault/.git"
    if broken:
        os.rename(git / "HEAD", git / "HEAD.away")
    store.save({"a.md": wanted[1]})
    by_hand(store, "a.md", wanted[2])
    store.save({"a.md": wanted[3]})
    (store.root / "vault/private/a.md").unlink()
    store.desk.refresh()
    if broken:
        assert store.state.uncommitted()
        os.rename(git / "HEAD.away", git / "HEAD")
    assert texts(store, "a") == [None, *reversed(wanted)]
    assert catch_up(store.parts).problem is None
    assert texts(store, "a") == [None, *reversed(wanted)] and store.committed("a.md") is None


def test_a_text_that_is_nowhere_any_more_is_told(store: Store) -> None:
    store.save({"a.md": text("a", 1, "one")})
    store.save({"a.md": text("a", 2, "two")})
    shutil.rmtree(store.root / "vault/.git")
    first = store.state.history("private", "a", None, 9)[-1]
    with pytest.raises(NotFound):
        content_of(store.state, store.tree, store.git, first)


def test_a_git_history_that_was_removed_begins_anew_with_all_files(store: Store) -> None:
    found = store.tree.identity("private")
    assert found is not None
    store.state.add_partition(PartitionRow("private", found.device, found.inode))
    store.save({"a.md": text("a", 1, "one"), "b.md": text("b", 1, "b")})
    shutil.rmtree(store.root / "vault/.git")
    store.save({"a.md": text("a", 2, "two")})
    assert store.committed("b.md") == text("b", 1, "b") and store.committed("a.md") == text("a", 2, "two")


def moved(store: Store, moves: dict[str, str], contents: dict[str, bytes]) -> None:
    """Write down that files were renamed, as the runtime does; old path -> new path."""
    at = clock.now()
    rows = [row_of("private", path, raw, sha(raw)) for path, raw in contents.items()]
    lines = [
        HistoryLine(
            0,
            "private",
            row.record,
            1,
            row.path,
            row.path,
            "external_rename",
            None,
            at,
            row.sha256,
            None,
            None,
            None,
            "",
            old,
        )
        for old, new in moves.items()
        for row in rows
        if row.path == new
    ]
    keys = {row.path: row.key for row in store.state.catalogue("private")}
    upserts = [replace(row, key=keys[old]) for old, new in moves.items() for row in rows if row.path == new]
    store.state.apply_catalogue("private", upserts, [], lines, {sha(raw): raw for raw in contents.values()})
    assert catch_up(store.parts).problem is None


def test_renamed_and_exchanged_files_are_renamed_in_git(store: Store) -> None:
    a, b = text("a", 1, "a"), text("b", 1, "b")
    store.save({"a.md": a, "b.md": b})
    private = store.root / "vault/private"
    os.rename(private / "a.md", private / "c.md")
    moved(store, {"a.md": "c.md"}, {"c.md": a})
    assert (store.committed("a.md"), store.committed("c.md")) == (None, a)
    os.rename(private / "b.md", private / "x.md")
    os.rename(private / "c.md", private / "b.md")
    os.rename(private / "x.md", private / "c.md")
    moved(store, {"b.md": "c.md", "c.md": "b.md"}, {"c.md": b, "b.md": a})
    assert (store.committed("b.md"), store.committed("c.md")) == (a, b)


def test_the_index_is_written_a_moment_after_the_last_commit(store: Store) -> None:
    vault = store.root / "vault"
    lane = threading.RLock()
    tidier = Tidier(lambda: store.git, lambda: lane, lambda: catch_up(store.parts), quiet=0.01)
    store.parts = replace(store.parts, after_commits=tidier.soon)
    with lane:
        for number in range(1, 4):
            store.save({"a.md": text("a", number, "x"), f"n{number}.md": text(f"n{number}", 1, "x")})
    tidier.close()
    status = ["git", "-C", str(vault), "-c", f"safe.directory={vault}", "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""
    tidier.soon(True)
    assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer)]


def test_git_is_tried_again_after_a_while(store: Store) -> None:
    lane = threading.RLock()
    tidier = Tidier(lambda: store.git, lambda: lane, lambda: catch_up(store.parts), retry=0.01)
    store.parts = replace(store.parts, after_commits=tidier.soon)
    git = store.root / "vault/.git"
    store.save({"a.md": text("a", 1, "x")})
    os.rename(git / "HEAD", git / "HEAD.away")
    with lane:
        assert store.save({"a.md": text("a", 2, "x")}).receipt.commit is None
        os.rename(git / "HEAD.away", git / "HEAD")
    until = time.monotonic() + 20
    while store.state.backlog():
        assert time.monotonic() < until
        time.sleep(0.005)
    tidier.close()
    assert store.committed("a.md") == text("a", 2, "x")


def test_a_retained_file_that_somebody_removed_does_not_keep_git_behind(store: Store) -> None:
    source = b"a source"
    change = FileChange("artifacts/x", staged=store.stage(source), sha256=sha(source), action="retain")
    order = Order("r1", "d", store.desk.partition, "main")
    parts = replace(store.parts, git=None)
    publish(parts, store.desk, order, lambda view: Draft((change,), ()))
    (store.root / "vault/private/artifacts/x").unlink()
    assert catch_up(store.parts).problem is None and not store.state.backlog()
