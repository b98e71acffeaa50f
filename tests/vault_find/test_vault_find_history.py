"""Revisions of a record: listed, read, compared, restored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lorebank.errors import Conflict, Forbidden, InvalidInput, NotFound, RevisionConflict
from lorebank.vaults.tools import get, history
from lorebank.vaults.tools.get import GetAsk
from lorebank.vaults.tools.history import HistoryAsk, RestoreAsk
from made_vault import MadeHandle, MadeVault

Clock = Callable[[], int]


def clock() -> int:
    return 1_796_000_000_000_000


@pytest.fixture(name="vault")
def made(tmp_path: Path) -> MadeVault:
    return MadeVault(tmp_path)


@pytest.fixture(name="handle")
def opened(vault: MadeVault) -> MadeHandle:
    return MadeHandle(vault)


def written(vault: MadeVault, handle: MadeHandle, *texts: str) -> str:
    """A page with one revision for each text; the second one from an editor."""
    for revision, text in enumerate(texts, start=1):
        vault.record("people/ann.md", text, id="ann", title="Ann", type="person", revision=revision)
        content = (vault.root / "people/ann.md").read_bytes()
        handle.note("ann", revision, "people/ann.md", content, "external_edit" if revision == 2 else "save")
    return "ann"


@pytest.mark.statement("1.5.51")
def test_each_revision_has_its_author(vault: MadeVault, handle: MadeHandle) -> None:
    page = written(vault, handle, "One.", "Two.", "Three.")
    found = history.run(handle, HistoryAsk(page))
    assert [(one["revision"], one["change"], one.get("agent")) for one in found["revisions"]] == [
        (3, "save", "main"),
        (2, "external_edit", None),
        (1, "save", "main"),
    ]
    assert (found["title"], found["revision"], found["nextCursor"]) == ("Ann", 3, None)


def test_pages_end_and_repeat_nothing_even_when_times_are_equal(vault: MadeVault, handle: MadeHandle) -> None:
    page = written(vault, handle, *("text" for _ in range(7)))
    handle.rows = [replace(row, at=row.at - row.at % 3) for row in handle.rows]
    seen, cursor = [], None
    while True:
        found = history.run(handle, HistoryAsk(page, limit=2, cursor=cursor))
        seen += [one["revision"] for one in found["revisions"]]
        cursor = found["nextCursor"]
        if cursor is None:
            break
        if len(seen) == 2:  # a new revision in front does not shift the pages
            handle.note(page, 8, "people/ann.md", b"new")
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    for broken in ("x", "1", "1.x", "-1.0"):
        with pytest.raises(InvalidInput):
            history.run(handle, HistoryAsk(page, cursor=broken))


def test_content_and_difference(vault: MadeVault, handle: MadeHandle) -> None:
    page = written(vault, handle, "One line.", "Another line.")
    assert "One line." in history.run(handle, HistoryAsk(page, revision=1))["content"]
    diff = history.run(handle, HistoryAsk(page, diff=(1, 2)))["diff"].splitlines()
    assert "-One line." in diff and "+Another line." in diff
    with pytest.raises(NotFound, match="revision 9"):
        history.run(handle, HistoryAsk(page, revision=9))


def test_1_5_47_an_unknown_id_has_no_history(handle: MadeHandle) -> None:
    for ask in (HistoryAsk("never"), HistoryAsk("never", revision=1), HistoryAsk("never", diff=(1, 2))):
        with pytest.raises(NotFound, match="no record with this id"):
            history.run(handle, ask)


def test_restoring_makes_the_next_revision(vault: MadeVault, handle: MadeHandle) -> None:
    page = written(vault, handle, "One.", "Two.", "Three.")
    answer = history.restore(handle, RestoreAsk(page, 1, 3, "r1"), clock)
    assert answer["revision"] == 4
    record = get.run(handle, GetAsk((page,)))["records"][0]
    assert (record["text"], record["revision"], record["updatedAt"]) == ("One.", 4, "2026-11-30T00:53:20Z")
    newest = history.run(handle, HistoryAsk(page))["revisions"][0]
    assert (newest["revision"], newest["change"], newest["agent"]) == (4, "restore", "main")
    again = history.restore(handle, RestoreAsk(page, 1, 3, "r1"), clock)
    assert again["replayed"] and again["revision"] == 4


def test_restoring_over_a_newer_revision_shows_both_sides(vault: MadeVault, handle: MadeHandle) -> None:
    page = written(vault, handle, "One.", "Two.")
    with pytest.raises(RevisionConflict) as caught:
        history.restore(handle, RestoreAsk(page, 1, 1), clock)
    assert caught.value.sides.keys() == {"current", "yours"}


def test_a_deleted_record_comes_back(vault: MadeVault, handle: MadeHandle) -> None:
    page = written(vault, handle, "One.", "Two.")
    (vault.root / "people/ann.md").unlink()
    handle.note(page, 3, "people/ann.md", None, "external_delete")
    with pytest.raises(RevisionConflict):
        history.restore(handle, RestoreAsk(page, 2, 2), clock)
    assert history.restore(handle, RestoreAsk(page, 2, 3), clock)["revision"] == 4
    assert get.run(handle, GetAsk((page,)))["records"][0]["text"] == "Two."


def test_a_deleted_record_does_not_push_another_aside(vault: MadeVault, handle: MadeHandle) -> None:
    page = written(vault, handle, "One.")
    vault.record("people/ann.md", "Somebody else.", id="bob", type="person")
    with pytest.raises(Conflict):
        history.restore(handle, RestoreAsk(page, 1, 1), clock)


def test_1_3_23_a_reader_restores_nothing(vault: MadeVault) -> None:
    reader = MadeHandle(vault, may_save=False)
    page = written(vault, reader, "One.", "Two.")
    with pytest.raises(Forbidden):
        history.restore(reader, RestoreAsk(page, 1, 2), clock)
    assert history.run(reader, HistoryAsk(page, revision=1))["revision"] == 1
