"""The reading tools over real stores: files, git, registry, grants."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lorebank import clock
from lorebank.access.audience import Partition
from lorebank.errors import Conflict, Forbidden, LorebankError, NotFound, WritesDisabled
from lorebank.vaults.evidence.citations import check_citations
from lorebank.vaults.evidence.scan import Scan
from lorebank.vaults.find.candidates import Candidates
from lorebank.vaults.find.question import Question
from lorebank.vaults.record.values import Citation
from lorebank.vaults.tools import attach_file, get, history, ontology, recall, recent, search
from lorebank.vaults.tools.attach_file import AttachAsk
from lorebank.vaults.tools.get import GetAsk
from lorebank.vaults.tools.history import HistoryAsk, RestoreAsk
from lorebank.vaults.tools.ontology import OntologyAsk
from lorebank.vaults.tools.recall import RecallAsk
from lorebank.vaults.tools.recent import ContextAsk
from lorebank.vaults.tools.search import SearchAsk
from vault_store.store_world import SESSION, World, group, made_id, page, put, save, world

CONTENT = b"first line\nthe ferry sails at dawn\n"
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(name="stores")
def real(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def titles(handle: Any, query: str) -> list[str]:
    return [hit["title"] for hit in search.run(handle, SearchAsk(Question(query)))["hits"]]


def attach(handle: Any, request: str = "r1", **more: Any) -> dict[str, Any]:
    ask = AttachAsk(request, SHA, len(CONTENT), **more)
    return attach_file.run(handle, ask, io.BytesIO(CONTENT), clock.now)


@pytest.mark.statement("1.7.65")
def test_saves_and_edits_are_found_at_once(stores: World) -> None:
    handle = stores.open()
    assert titles(handle, "ferry") == []
    save(handle, 1, "Ann", "Runs the ferry.")
    assert titles(handle, "ferry") == ["Ann"]
    put(stores.private(), "people/bob.md", page(2, "Bob", "Paints the ferry."))
    assert sorted(titles(handle, "ferry")) == ["Ann", "Bob"]
    put(stores.private(), "people/p1.md", page(1, "Ann", "Sold it."))
    assert titles(handle, "ferry") == ["Bob"]
    assert get.run(handle, GetAsk((made_id(1),)))["records"][0]["text"] == "Sold it."
    (stores.private() / "people/bob.md").unlink()
    assert titles(handle, "ferry") == []
    with pytest.raises(NotFound):
        get.run(handle, GetAsk((made_id(2),)))


@pytest.mark.statement("1.5.46", "1.5.47")
def test_a_conversation_sees_nothing_of_the_private_partition(stores: World) -> None:
    private, talk = stores.open(), stores.open(group())
    save(talk, 5, "Shared page", "The ferry.")
    tools = (
        lambda: search.run(talk, SearchAsk(Question("ferry"))),
        lambda: search.run(talk, SearchAsk(Question(made_id(1)))),
        lambda: get.run(talk, GetAsk((made_id(1), made_id(5)))),
        lambda: recall_of(talk),
        lambda: ontology.run(talk, OntologyAsk()),
        lambda: recent.run(talk, ContextAsk()),
        lambda: outcome(lambda: history.run(talk, HistoryAsk(made_id(1)))),
        lambda: history.run(talk, HistoryAsk(made_id(5))),
    )
    before = [tool() for tool in tools]
    save(private, 1, "Ann", "Runs the ferry.")
    save(private, 2, "Shared page", "The ferry again.")
    attach(private)
    assert [tool() for tool in tools] == before
    assert len(titles(private, "ferry")) == 2


def recall_of(handle: Any) -> Any:
    return recall.run(handle, RecallAsk("ferry"), Candidates())["candidates"]


def outcome(work: Any) -> tuple[type, str]:
    with pytest.raises(LorebankError) as caught:
        work()
    return type(caught.value), caught.value.message


@pytest.mark.statement("1.3.23", "1.3.29", "1.3.24")
def test_a_read_grant_reads_the_private_partition_and_changes_nothing(stores: World) -> None:
    save(stores.open(), 1, "Ann", "Runs the ferry.")
    stores.let("read")
    reader = stores.recall(group())
    candidates = Candidates()
    assert titles(reader, "ferry") == ["Ann"]
    told = recent.run(reader, ContextAsk())
    assert "- Ann [" in told["text"] and "knowledge_remember" not in told["text"]
    offered = recall.run(reader, RecallAsk("ferry"), candidates)
    assert recall.run(reader, RecallAsk(recall=offered["recallId"], open=(1,)), candidates)["records"]
    with pytest.raises(Forbidden):
        recall.run(reader, RecallAsk(recall=offered["recallId"], approve=(1,)), candidates)
    stores.let("read-and-save")
    saver = stores.recall(group())
    approved = recall.run(saver, RecallAsk(recall=offered["recallId"], approve=(1,)), candidates)
    assert "Runs the ferry." in approved["text"]


@pytest.mark.statement("1.3.32")
def test_a_grant_taken_away_ends_its_recalls(stores: World) -> None:
    save(stores.open(), 1, "Ann", "Runs the ferry.")
    stores.let("read")
    reader, candidates = stores.recall(group()), Candidates()
    offered = recall.run(reader, RecallAsk("ferry"), candidates)
    stores.registry.drop_grant("main", "agent:main:group:7")
    with pytest.raises(LorebankError):
        recall.run(reader, RecallAsk(recall=offered["recallId"], open=(1,)), candidates)
    again = stores.recall(group())
    assert again.grant.partition == Partition(SESSION)
    with pytest.raises(NotFound):
        recall.run(again, RecallAsk(recall=offered["recallId"], open=(1,)), candidates)


@pytest.mark.statement("3.2", "1.8.77")
def test_an_attached_file_is_kept_cited_and_in_git(stores: World) -> None:
    handle = stores.open()
    first = attach(handle, attribution="Ann", filename="plan.txt")
    assert attach(handle, attribution="Ann", filename="plan.txt") == first | {"replayed": True}
    second = attach(handle, "r2", attribution="Bob")
    assert list((stores.store() / "staging").iterdir()) == []
    with pytest.raises(Conflict):
        attach(handle, "r2", attribution="Eve")
    files = [path for path in (stores.private() / "artifacts").rglob("*") if path.is_file()]
    assert len(files) == 3
    with handle.reading() as view:
        cited = [
            Citation(first["source"], (2, 2), "ferry sails"),
            Citation(second["source"], (1, 1), "ferry"),
            Citation(first["source"], (9, 9)),
        ]
        checked = check_citations(view, cited, excerpts=True)
    assert [one.verdict.rule for one in checked] == [None, "citation_quote", "citation_lines"]
    assert [one.attribution for one in checked] == ["Ann", "Bob", "Ann"]
    assert checked[0].lines == ((2, "the ferry sails at dawn"),)


def test_1_7_68_verdicts_survive_a_restart_and_end_with_the_stamp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[bool] = []
    real = Scan.run

    def counted(self: Scan, file: Any) -> None:
        runs.append(self._whole)
        real(self, file)

    monkeypatch.setattr(Scan, "run", counted)
    cited: list[Citation] = []
    for _ in range(2):
        with world(tmp_path) as stores:
            handle = stores.open()
            cited = cited or [Citation(attach(handle)["source"], (2, 2), "ferry")]
            with handle.reading() as view:
                assert check_citations(view, cited, excerpts=False)[0].verdict.rule is None
    assert runs == [True]
    with world(tmp_path) as stores:
        handle = stores.open()
        content = next((stores.private() / "artifacts").rglob("content"))
        content.chmod(0o600)
        content.write_bytes(CONTENT.replace(b"dawn", b"noon"))
        with handle.reading() as view:
            assert check_citations(view, cited, excerpts=False)[0].verdict.rule == "evidence_changed"
    assert runs == [True, True]


@pytest.mark.statement("1.8.76")
def test_a_linked_source_is_not_read(stores: World) -> None:
    handle = stores.open()
    source = attach(handle)["source"]
    content = next((stores.private() / "artifacts").rglob("content"))
    outside = stores.root / "outside"
    outside.write_bytes(CONTENT)
    for link in (content.symlink_to, content.hardlink_to):
        content.unlink()
        link(outside)
        with handle.reading() as view:
            checked = check_citations(view, [Citation(source, (2, 2), "ferry")], excerpts=True)[0]
        assert checked.verdict.rule == "evidence_unsafe" and checked.lines == ()


@pytest.mark.statement("1.5.51")
def test_revisions_are_told_and_restored(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ann", "One.")
    put(stores.private(), "people/p1.md", page(1, "Ann", "Two, by hand.", revision=1))
    ident = made_id(1)
    rows = history.run(handle, HistoryAsk(ident))["revisions"]
    assert [(row["revision"], row["change"], row.get("agent")) for row in rows] == [
        (2, "external_edit", None),
        (1, "save", "main"),
    ]
    assert "+Two, by hand." in history.run(handle, HistoryAsk(ident, diff=(1, 2)))["diff"]
    restored = history.restore(handle, RestoreAsk(ident, 1, 2, "again"), clock.now)
    assert restored["revision"] == 3
    assert history.restore(handle, RestoreAsk(ident, 1, 2, "again"), clock.now)["replayed"]
    assert get.run(handle, GetAsk((ident,)))["records"][0]["text"] == "One."
    assert history.run(handle, HistoryAsk(ident))["revisions"][0]["change"] == "restore"
    (stores.private() / "people/p1.md").unlink()
    with pytest.raises(NotFound):
        get.run(handle, GetAsk((ident,)))
    newest = history.run(handle, HistoryAsk(ident))["revisions"][0]
    assert newest["change"] == "external_delete"
    back = history.restore(handle, RestoreAsk(ident, 3, newest.get("revision", 3)), clock.now)
    assert get.run(handle, GetAsk((ident,)))["records"][0]["revision"] == back["revision"]


def test_with_writes_off_nothing_is_attached_or_restored(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ann", "One.")
        before = stores.tree()
        stores.configure('{"writesEnabled": false}')
        handle = stores.recall()
        for change in (
            lambda: attach(handle),
            lambda: history.restore(handle, RestoreAsk("x", 1, 1), clock.now),
        ):
            with pytest.raises((WritesDisabled, Forbidden)):
                change()
        assert [name for name in stores.tree() if "vault/" in name] == [
            name for name in before if "vault/" in name
        ]
