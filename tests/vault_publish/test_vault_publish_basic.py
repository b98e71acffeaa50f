"""Publishing: all or nothing, once for a request, and who wrote what in git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from vault_publish_store import Desk, Store, make_store, sha, text

from lorebank.access.audience import Partition
from lorebank.errors import Conflict, Forbidden, RevisionConflict
from lorebank.vaults.publish.parts import Order
from lorebank.vaults.publish.points import Point, installed
from lorebank.vaults.publish.publish import publish
from lorebank.vaults.store import manifest
from lorebank.vaults.store.values import Draft, FileChange

ADA = text("ada", 1, "born 1815")


def same_everywhere(store: Store) -> None:
    """vault.json, checkpoint and catalogue agree with each other and with the files."""
    assert manifest.read(store.tree).checkpoint == store.state.checkpoint()
    assert not store.state.open_journal()
    for row in store.state.catalogue("private"):
        raw = store.read(row.path)
        assert raw is not None and sha(raw) == row.sha256


def test_a_save_is_in_the_file_the_database_and_git_when_the_receipt_comes(store: Store) -> None:
    published = store.save({"people/ada.md": ADA}, request="r1")
    receipt = published.receipt
    assert store.read("people/ada.md") == ADA == store.committed("people/ada.md")
    assert (receipt.request_id, receipt.generation, receipt.replayed) == ("r1", 1, False)
    assert receipt.commit == store.git.head()
    (row,) = store.state.catalogue("private")
    assert (row.key, row.path) == (published.rows[0].key, "people/ada.md")
    assert manifest.read(store.tree).publication_id == receipt.publication_id
    same_everywhere(store)


def test_the_same_request_gives_the_same_receipt_and_does_nothing(store: Store) -> None:
    first = store.save({"a.md": ADA}, request="r1").receipt
    head = store.git.head()
    again = store.save({"b.md": ADA}, request="r1").receipt
    assert again.replayed and not first.replayed
    assert (again.generation, again.publication_id, again.answer, again.commit) == (
        first.generation,
        first.publication_id,
        first.answer,
        first.commit,
    )
    assert store.read("b.md") is None and store.git.head() == head
    with pytest.raises(Conflict):
        store.save({"a.md": ADA}, request="r1", digest="other")


def test_a_request_id_of_another_partition_is_unknown(store: Store) -> None:
    store.save({"a.md": ADA}, request="r1")
    session = Partition("33333333-3333-4333-8333-333333333333")
    (store.root / "vault" / session.folder).mkdir(parents=True)
    receipt = store.save({"a.md": ADA}, request="r1", digest="other", desk=Desk(store.parts, session)).receipt
    assert not receipt.replayed and receipt.generation == 2


@pytest.mark.statement("1.5.51", "1.3.30")
def test_history_and_git_name_the_agent_that_wrote_each_revision(store: Store) -> None:
    store.save({"a.md": text("ada", 1, "x")}, agent="main", request="r1")
    store.save({"a.md": text("ada", 2, "y")}, agent="research", request="r2")
    (store.root / "vault/private/a.md").write_bytes(text("ada", 2, "by hand"))
    store.desk.refresh()
    lines = store.state.history("private", "ada", None, 9)
    assert [(one.revision, one.agent, one.change) for one in lines] == [
        (3, None, "external_edit"),
        (2, "research", "save"),
        (1, "main", "save"),
    ]
    log = list(store.git.log())
    assert [one.author for one in log] == ["external", "research", "main"]
    assert "request: r2" in log[1].message and log[1].message.startswith("save: Title of a.md")
    assert [one.commit for one in lines] == [one.id for one in log]
    assert all(one.blob and store.git.blob(one.blob) for one in lines)


@pytest.mark.statement("1.3.32")
@pytest.mark.parametrize("at", [Point.PLANNED, Point.ACCEPTED])
def test_a_right_that_is_lost_under_way_writes_nothing(store: Store, at: Point) -> None:
    lost: list[Point] = []

    def check() -> None:
        if lost:
            raise Forbidden("revoked")

    store.desk.checks.append(check)
    store.save({"a.md": ADA}, request="r0")
    before = (store.git.head(), store.state.checkpoint(), store.read("a.md"))
    with installed(lambda point: lost.append(point) if point is at else None), pytest.raises(Forbidden):
        store.save({"a.md": text("ada", 2, "new"), "b.md": ADA}, request="r1")
    assert (store.git.head(), store.state.checkpoint(), store.read("a.md")) == before
    assert store.read("b.md") is None and store.state.journaled("private", "r1") is None
    same_everywhere(store)


def test_what_the_plan_raises_leaves_everything_as_it_was(store: Store) -> None:
    def plan(view: object) -> Draft:
        raise RevisionConflict("changed", {})

    with pytest.raises(RevisionConflict):
        publish(store.parts, store.desk, Order("r1", "d", store.desk.partition, "main"), plan)
    assert store.state.checkpoint().generation == 0 and store.git.head() is None


def test_a_file_that_is_not_what_was_seen_is_refused_with_both_sides(store: Store) -> None:
    store.save({"a.md": ADA})
    with pytest.raises(RevisionConflict) as caught:
        store.save(
            {"b.md": ADA, "a.md": text("ada", 2, "mine")}, expected={"a.md": sha(b"old")}, request="r1"
        )
    assert "mine" in str(caught.value.sides["yours"]) and "1815" in str(caught.value.sides["theirs"])
    assert store.read("b.md") is None and store.read("a.md") == ADA
    with pytest.raises(RevisionConflict):
        store.save({"a.md": ADA}, expected={})
    same_everywhere(store)


def test_a_staged_file_moves_in_and_the_same_contents_are_retained_once(store: Store) -> None:
    source = b"a long source\n"

    def plan(name: str) -> Draft:
        path = store.stage(source, name)
        change = FileChange("artifacts/aa/content", staged=path, sha256=sha(source), action="retain")
        return Draft((change,), ())

    for name in ("one", "two"):
        order = Order(name, "d", store.desk.partition, "main")
        publish(store.parts, store.desk, order, lambda view, name=name: plan(name))
    assert store.read("artifacts/aa/content") == source == store.committed("artifacts/aa/content")
    store.recover()
    assert not list((store.root / "staging").iterdir())
    same_everywhere(store)


def test_git_status_is_clean_and_vault_json_is_not_in_git(tmp_path: Path) -> None:
    make_store(tmp_path)
    store = Store(tmp_path)
    store.save({"a.md": ADA, "people/b.md": text("b", 1, "x")})
    store.git.refresh_index()
    store.close()
    vault = tmp_path / "vault"
    run = subprocess.run(
        ["git", "-C", str(vault), "-c", f"safe.directory={vault}", "status", "--porcelain"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == ""
