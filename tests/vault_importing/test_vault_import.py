"""Reading other programs' vaults into new stores: what comes along, what is left out, what a kill leaves."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lorebank.access.reasons import NEEDS_RECOVERY, SCAN_LIMIT
from lorebank.errors import Conflict, InvalidInput, StoreUnavailable, WritesDisabled
from lorebank.service.knowledge_upkeep import KnowledgeUpkeep
from lorebank.storage.tree.git import GitHistory
from lorebank.vaults.evidence.descriptors import content_path, descriptor_path
from lorebank.vaults.importing.report import ImportReport, StoreReport, unwatched
from lorebank.vaults.importing.run import STEPS, import_store
from lorebank.vaults.store.making import sweep
from vault_importing.import_kit import (
    SESSION,
    SOURCE_ID,
    commit_all,
    foreign_knowledge,
    foreign_vault,
    picture,
    sha,
)
from vault_store.store_world import World, changes, group, made_id, owner, page, put, save, titles, world

SHARED = '{stores: {old: {agents: ["main"]}}}'


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path / "here", config=SHARED) as made:
        yield made


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return foreign_vault(tmp_path / "theirs")


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()


def one(report: ImportReport) -> StoreReport:
    assert len(report.stores) == 1 and report.failed == {}
    return report.stores[0]


def taken_in(stores: World, source: Path, **more: str) -> StoreReport:
    return one(import_store(source, stores.folder, stores.registry, **(more or {"name": "old"})))


def test_records_are_read_and_the_source_stays_byte_for_byte(stores: World, source: Path) -> None:
    before = picture(source)
    report = taken_in(stores, source)
    assert picture(source) == before
    assert titles(stores.open(owner())) == ["Bert", "Ada"]
    assert titles(stores.open(group())) == ["Gus"]
    private, talk = report.partitions
    assert (private.folder, private.records, private.withheld, private.ontology) == ("private", 2, 2, True)
    assert (private.sources, private.descriptors, private.others) == (1, 1, 1)
    assert (talk.folder, talk.records, talk.withheld) == (f"conversations/{SESSION}", 1, 0)
    assert report.problems == () and report.binding == "named:old"
    copied = stores.private() / "people" / "ada.md"
    assert copied.read_bytes() == (source / "private/people/ada.md").read_bytes()
    assert stores.vaults.check_store(report.vault, read_all=True) == []


@pytest.mark.statement("1.5.50")
def test_records_of_another_scope_are_copied_and_stay_withheld(stores: World, source: Path) -> None:
    taken_in(stores, source)
    kept = stores.private() / "strange.md"
    assert kept.read_bytes() == (source / "private/strange.md").read_bytes()
    with stores.open(owner()).reading() as view:
        assert view.entries["strange.md"].record is None
        assert "scope.mismatch" in {one.rule for one in view.findings if one.path == "strange.md"}
        assert view.ontology.types.keys() >= {"boat"}


def test_history_says_import_and_git_shows_what_was_before(stores: World, source: Path) -> None:
    report = taken_in(stores, source)
    handle = stores.open(owner())
    assert changes(handle, 1) == [("import", 2, None)]
    row = handle.history(made_id(1), before=None, limit=9)[0]
    assert handle.content_of(row) == page(1, "Ada", revision=2) and row.blob and row.commit
    vault = stores.store() / "vault"
    told = subprocess.run(
        ["git", "-C", vault, "log", "--format=%s"], capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["Imported", "after", "before"] and report.commits == 2
    state = subprocess.run(
        ["git", "-C", vault, "status", "--short"], capture_output=True, text=True, check=True
    )
    assert state.stdout == ""
    save(handle, 9, "New")
    assert changes(handle, 1) == [("import", 2, None)]
    git = GitHistory(vault, create=False)
    assert git.check() == [] and next(iter(git.log(limit=1))).author == "main"
    git.close()


def test_evidence_of_others_is_understood_and_cited_by_its_id(stores: World, source: Path) -> None:
    taken_in(stores, source)
    with stores.open(owner()).reading() as view:
        found = view.descriptor(SOURCE_ID)
        assert found is not None and found.path == content_path(sha(b"Dear Ada\n"))
        assert (found.origin, found.attribution) == ("import", "Bert")
        assert (found.filename, found.media_type, found.size) == ("letter.txt", "text/plain", 9)
        with view.open_source(found) as file:
            assert file.read() == b"Dear Ada\n"
    assert not (stores.private() / "artifacts" / "letter.json").exists()


def test_evidence_that_is_not_understood_is_copied_and_told(stores: World, source: Path) -> None:
    here = "private/artifacts"
    put(source, f"{here}/lost.json", json.dumps({"sha256": "0" * 64}).encode())
    put(source, f"{here}/alone.bin", b"\0\1")
    put(source, f"{here}/other/other.txt", b"other")
    put(source, f"{here}/other/d.json", json.dumps({"id": "ev-1", "sha256": sha(b"other").upper()}).encode())
    put(source, f"{here}/x/a.txt", b"scoped")
    scoped = {"sha256": sha(b"scoped"), "scope": {"visibility": "conversation", "sessionId": SESSION}}
    put(source, f"{here}/x/a.json", json.dumps(scoped).encode())
    report = taken_in(stores, source)
    told = {problem.path: problem.message for problem in report.problems}
    assert set(told) == {f"{here}/{name}" for name in ("alone.bin", "lost.json", "other/d.json", "x/a.json")}
    assert "no UUID" in told[f"{here}/other/d.json"] and "another scope" in told[f"{here}/x/a.json"]
    for name in ("lost.json", "alone.bin", "x/a.json"):
        kept = stores.private() / "artifacts" / name
        assert kept.read_bytes() == (source / here / name).read_bytes()
    with stores.open(owner()).reading() as view:
        assert {one.filename for one in view.descriptors.values()} == {"letter.txt", None}
        assert sha(b"scoped") not in {one.sha256 for one in view.descriptors.values()}


def test_our_own_evidence_stays_as_it_is(stores: World, tmp_path: Path, source: Path) -> None:
    taken_in(stores, source)
    ours = descriptor_path(sha(b"Dear Ada\n"), SOURCE_ID)
    before = (stores.private() / ours).read_bytes()
    again = shutil.copytree(stores.store(), tmp_path / "aside")
    report = taken_in(stores, again, name="second")
    made = stores.folder / "stores" / report.vault / "vault" / "private"
    assert (made / ours).read_bytes() == before and report.problems == ()
    assert (report.partitions[0].sources, report.partitions[0].descriptors) == (1, 1)


@pytest.mark.statement("1.8.76")
def test_1_8_76_links_and_bad_names_are_refused_one_by_one(
    stores: World, source: Path, tmp_path: Path
) -> None:
    secret = put(tmp_path, "secret.md", page(7, "Secret"))
    private = source / "private"
    (private / "link.md").symlink_to(secret)
    (private / "folder").symlink_to(tmp_path)
    os.link(secret, private / "hard.md")
    os.mkfifo(private / "pipe.md")
    put(private, "UP.md", page(8, "Up"))
    put(private, "up.md", page(8, "Up"))
    (private / "e\u0301.md").write_bytes(page(9, "Decomposed"))
    put(source, "conversations/chat-1/a.md", page(5, "A"))
    put(source, "elsewhere/a.md", page(6, "B"))
    before = picture(source)
    report = taken_in(stores, source)
    assert picture(source) == before
    names = ("UP.md", "e\u0301.md", "folder", "hard.md", "link.md", "pipe.md", "up.md")
    expected = {"conversations/chat-1", "elsewhere", *(f"private/{name}" for name in names)}
    assert {problem.path for problem in report.problems} == expected
    assert titles(stores.open(owner())) == ["Bert", "Ada"]
    assert not list(stores.store().rglob("link*")) and not (stores.store() / "vault/elsewhere").exists()


@pytest.mark.statement("1.8.70")
def test_1_8_70_a_source_beyond_the_limits_makes_nothing(stores: World, source: Path) -> None:
    put(source, "private/1/2/3/4/5/6/7/8/9/deep.md", page(7, "Deep"))
    with pytest.raises(StoreUnavailable) as caught:
        taken_in(stores, source)
    assert caught.value.reason == SCAN_LIMIT
    assert stores.tree() == [] and stores.registry.stores() == []


def test_a_folder_of_markdown_becomes_a_private_partition(stores: World, tmp_path: Path) -> None:
    put(tmp_path / "notes", "people/ada.md", page(1, "Ada"))
    put(tmp_path / "notes", ".obsidian/app.json", b"{}")
    commit_all(tmp_path / "notes", "mine")
    report = taken_in(stores, tmp_path / "notes")
    assert titles(stores.open(owner())) == ["Ada"]
    assert [part.folder for part in report.partitions] == ["private"] and report.commits == 1
    vault = stores.store() / "vault"
    files = subprocess.run(["git", "-C", vault, "ls-files"], capture_output=True, text=True, check=True)
    assert files.stdout.split() == ["private/people/ada.md"]


def test_history_that_cannot_be_trusted_is_left_out(stores: World, source: Path, tmp_path: Path) -> None:
    (source / ".git/hooks").mkdir(exist_ok=True)
    (source / ".git/hooks/pre-commit").symlink_to(tmp_path)
    assert taken_in(stores, source, name="first").commits == 2
    (source / ".git/objects/info").mkdir(exist_ok=True)
    (source / ".git/objects/info/alternates").write_text(str(tmp_path))
    report = taken_in(stores, source)
    assert report.commits == 0 and [problem.path for problem in report.problems] == [".git"]
    (source / ".git/objects/info/alternates").unlink()
    for path in (source / ".git/objects").glob("??/*"):
        path.chmod(0o600)
        path.write_bytes(b"damage")
    report = taken_in(stores, source, name="second")
    assert report.commits == 0 and [problem.path for problem in report.problems] == [".git"]
    assert titles(stores.open(owner())) == ["Bert", "Ada"]


def test_a_whole_knowledge_folder_becomes_stores_named_by_their_folders(
    stores: World, tmp_path: Path
) -> None:
    theirs = foreign_knowledge(tmp_path / "state" / "knowledge")
    put(theirs, "stores/gamma/vault/private/1/2/3/4/5/6/7/8/9/deep.md", b"x")
    before = picture(theirs)
    stores.configure('{stores: {beta: {agents: ["main"]}}}')
    done = import_store(tmp_path / "state", stores.folder, stores.registry, reserved={"beta"})
    assert picture(theirs) == before
    assert [report.binding for report in done.stores] == ["named:alpha", "named:beta-2"]
    assert list(done.failed) == ["gamma"] and "levels deep" in done.failed["gamma"]
    assert set(stores.registry.bindings()) == {"named:alpha", "named:beta-2"}
    stores.configure('{stores: {alpha: {agents: ["main"]}}}')
    assert titles(stores.open(owner())) == ["alpha"]
    assert done.answer()["stores"][0]["name"] == "alpha"
    with pytest.raises(InvalidInput, match="3 vaults"):
        import_store(theirs, stores.folder, stores.registry, name="one")


def test_an_agent_gets_a_store_of_its_own_once(stores: World, source: Path) -> None:
    stores.configure("{}")
    report = taken_in(stores, source, agent="main")
    assert report.binding == "own:main" and titles(stores.open(owner())) == ["Bert", "Ada"]
    with pytest.raises(Conflict, match="store of its own"):
        taken_in(stores, source, agent="main")
    taken_in(stores, source, name="old")
    with pytest.raises(Conflict, match="this name"):
        taken_in(stores, source, name="old")
    assert len(stores.registry.stores()) == 2


def test_an_empty_vault_becomes_an_empty_store(stores: World, tmp_path: Path) -> None:
    (tmp_path / "theirs" / "vault" / "private").mkdir(parents=True)
    report = taken_in(stores, tmp_path / "theirs")
    assert report.problems == () and report.source == "theirs"
    assert titles(stores.open(owner())) == [] and titles(stores.open(group())) == []
    assert stores.vaults.check_store(report.vault, read_all=True) == []


def test_what_is_no_source_is_refused(stores: World, source: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(source)
    for path, match in (("empty", "neither"), ("link", "no link"), ("absent", "no folder")):
        with pytest.raises(InvalidInput, match=match):
            taken_in(stores, tmp_path / path)
    taken_in(stores, source)
    for path in (stores.folder, stores.store(), tmp_path):
        with pytest.raises(InvalidInput, match="aside"):
            taken_in(stores, path, name="again")


@pytest.mark.statement("1.4.37")
def test_1_4_37_old_stores_come_back_by_import_when_the_registry_is_lost(tmp_path: Path) -> None:
    root = tmp_path / "here"
    with world(root) as first:
        save(first.open(owner()), 1, "Ada")
        save(first.open(owner()), 1, "Ada again")
        save(first.open(group()), 2, "Gus")
    (root / "knowledge" / "registry.sqlite").unlink()
    with world(root) as lost:
        with pytest.raises(StoreUnavailable) as caught:
            lost.open(owner())
        assert caught.value.reason == NEEDS_RECOVERY
        with pytest.raises(StoreUnavailable):
            import_store(tmp_path, lost.folder, lost.registry)
    (root / "knowledge").rename(tmp_path / "aside")
    with world(root) as anew:
        report = one(import_store(tmp_path / "aside", anew.folder, anew.registry, agent="main"))
        assert report.commits == 3 and report.problems == ()
        assert titles(anew.open(owner())) == ["Ada again"] and titles(anew.open(group())) == ["Gus"]
        assert changes(anew.open(owner()), 1) == [("import", 2, None)]
        save(anew.open(owner()), 1, "Ada once more")
        assert changes(anew.open(owner()), 1)[0] == ("save", 3, "main")


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_leaves_no_store_or_a_whole_one(tmp_path: Path, source: Path, step: str) -> None:
    root = tmp_path / "here"
    (root / "knowledge.json5").write_text('{stores: {taken: {agents: ["main"]}}}')
    child = Path(__file__).with_name("import_child.py")
    paths = os.pathsep.join([str(child.parent.parent), *sys.path])
    ended = subprocess.run(
        [sys.executable, str(child), str(root), str(source), step], env={**os.environ, "PYTHONPATH": paths}
    )
    assert ended.returncode == -signal.SIGKILL
    with world(root) as after:
        sweep(after.folder, after.registry)
        left = [path.name for path in (after.folder / "stores").iterdir()]
        rows = after.registry.stores()
        assert left == [row.vault for row in rows] and all(row.state == "ready" for row in rows)
        assert len(rows) == (step in ("registered", "ready"))
        if not rows:
            taken_in(after, source, name="taken")
        assert titles(after.open(owner())) == ["Bert", "Ada"]
        assert changes(after.open(owner()), 1) == [("import", 2, None)]


def test_an_import_that_is_ended_leaves_nothing(stores: World, source: Path) -> None:
    def ending(stage: str, done: int, total: int) -> None:
        if stage == "catalogue":
            raise Conflict("the server ends")

    with pytest.raises(Conflict):
        import_store(source, stores.folder, stores.registry, name="old", progress=ending)
    assert stores.tree() == [] and stores.registry.bindings() == {}


def test_the_server_imports_beside_the_names_of_the_map_and_only_while_writes_are_on(
    stores: World, source: Path
) -> None:
    stores.configure("{stores: {theirs: {agents: []}}}")
    upkeep = KnowledgeUpkeep(stores.folder, stores.registry, stores.vaults, stores.resolver)
    done = upkeep.read_in(source, None, None, unwatched)
    assert done["failed"] == {} and json.loads(json.dumps(done))["stores"][0]["name"] == "theirs-2"
    before = stores.tree()
    stores.configure("{writesEnabled: false}")
    with pytest.raises(WritesDisabled):
        upkeep.read_in(source, None, None, unwatched)
    assert stores.tree() == before
