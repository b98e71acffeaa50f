"""Knowledge in backups: whole, of one moment, while agents save; restored, and never mended in secret."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lorebank.access.reasons import (
    CONFLICTED_PUBLICATION,
    FOREIGN,
    MISSING_MANIFEST,
    NEEDS_RECOVERY,
    PARTITION_CHANGED,
)
from lorebank.errors import StoreUnavailable
from lorebank.storage.sqlite.backup import MANIFEST, restore_directory
from lorebank.storage.sqlite.knowledge_file import REGISTRY_FILE
from lorebank.storage.sqlite.vault_state import SqliteVaultState
from lorebank.storage.tree.git import GitHistory
from lorebank.vaults.publish.points import Point, installed
from lorebank.vaults.store import manifest
from lorebank.vaults.store.care import KnowledgeCare
from storage.storage_kit import open_engine
from vault_store.store_world import (
    SESSION,
    World,
    changes,
    group,
    made_id,
    owner,
    page,
    put,
    save,
    saving,
    titles,
    together,
    world,
)

SHARED = '{stores: {home: {agents: ["main", "second"]}}}'


class Killed(BaseException):
    """The process ends here."""


def unwatched(stage: str, done: int, total: int) -> None:
    pass


@dataclass
class Data:
    """A data directory with banks and knowledge, and where its copies go."""

    path: Path
    stores: World

    def care(self) -> KnowledgeCare:
        stores = self.stores
        parts = (stores.folder, stores.registry, stores.vaults, stores.config, self.path, stores.facts)
        return KnowledgeCare(*parts)

    def backup(self) -> tuple[Path, list[str]]:
        copy = self.path.parent / "copy"
        told: list[str] = []

        def first(target: Path) -> None:
            told.extend(self.care().backup(target, unwatched)[1])

        engine = open_engine(self.path)
        try:
            engine.directory.backup(copy, root_key=True, first=first)
        finally:
            engine.directory.close()
        return copy, told

    def restored(self, copy: Path) -> Path:
        target = self.path.parent / "new" / "data"
        restore_directory(copy, target)
        return target


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Data]:
    path = tmp_path / "data"
    path.mkdir()
    with world(path, config=SHARED) as stores:
        yield Data(path, stores)


def check(store: Path) -> None:
    """Manifest and checkpoint are of one moment, git is whole and its work tree clean."""
    state = SqliteVaultState(store / "state.sqlite")
    shown = manifest.decode((store / "vault" / "vault.json").read_bytes())
    assert shown.checkpoint == state.checkpoint() and state.open_journal() == [] and state.check() == []
    state.close()
    git = GitHistory(store / "vault", create=False)
    assert git.check() == ([] if shown.generation else ["refs/heads/main has no commit yet."])
    git.close()


def refused(work: Callable[[], object]) -> str:
    with pytest.raises(StoreUnavailable) as caught:
        work()
    return caught.value.reason


def test_everything_acknowledged_before_a_backup_is_in_it_while_agents_save(data: Data) -> None:
    stores = data.stores
    save(stores.open(group()), 500, "Gus")
    save(stores.open(owner()), 1, "Ada")
    stop, saved = threading.Event(), [0, 0]

    def keep_saving(agent: str, begin: int) -> None:
        while not stop.is_set():
            number = begin + saved[begin // 1_000]
            save(stores.open(owner(agent)), number, f"{agent} {number}", path=f"people/{agent}-{number}.md")
            saved[begin // 1_000] += 1

    writers = [threading.Thread(target=keep_saving, args=pair) for pair in (("main", 10), ("second", 1_000))]
    for writer in writers:
        writer.start()
    while min(saved) < 3:
        stop.wait(0.01)
    before = tuple(saved)
    copy, told = data.backup()
    after = tuple(saved)
    stop.set()
    for writer in writers:
        writer.join()
    assert told == []
    with world(data.restored(copy)) as anew:
        found = titles(anew.open(owner()))
        for agent, low, high in (("main", before[0], after[0]), ("second", before[1], after[1])):
            begin = 10 if agent == "main" else 1_000
            mine = [title for title in found if title.startswith(agent)]
            assert low <= len(mine) <= high + 1
            assert set(mine) == {f"{agent} {begin + n}" for n in range(len(mine))}
        assert "Ada" in found and titles(anew.open(group())) == ["Gus"]
        assert anew.vaults.check_store(anew.store().name, read_all=True) == []
        check(anew.store())
        save(anew.open(owner()), 1, "Ada again")
        assert changes(anew.open(owner()), 1) == [("save", 2, "main"), ("save", 1, "main")]
        row = anew.open(owner()).history(made_id(1), before=None, limit=9)[1]
        assert anew.open(owner()).content_of(row) == page(1, "Ada")
        vault = anew.store() / "vault"
        listed = ["git", "-C", vault, "ls-tree", "-r", "--name-only", "HEAD"]
        known = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
        assert known == sorted(path.relative_to(vault).as_posix() for path in vault.glob("[pc]*/**/*.md"))


def test_a_knowledge_folder_elsewhere_comes_back_into_the_data_directory(tmp_path: Path) -> None:
    for name in ("state", "data"):
        (tmp_path / name).mkdir()
    with world(tmp_path / "state", config=SHARED) as stores:
        stores.let("read")
        save(stores.open(owner()), 1, "Ada")
        data = Data(tmp_path / "data", stores)
        copy, told = data.backup()
    assert told == [] and not (copy / "knowledge.json5").exists()
    new = data.restored(copy)
    with world(new, config=SHARED) as anew:
        assert titles(anew.open(owner())) == ["Ada"]
        assert [grant.access for grant in anew.registry.grants()] == ["read"]


def test_store_map_and_keys_come_along_and_secrets_only_when_asked_for(data: Data, tmp_path: Path) -> None:
    (data.path / "audience.key").write_text("secret\n")
    save(data.stores.open(owner()), 1, "Ada")
    copy, _ = data.backup()
    new = data.restored(copy)
    assert (new / "audience.key").read_text() == "secret\n"
    assert (new / "knowledge.json5").read_text() == SHARED
    assert (new / "knowledge.json5").stat().st_mode & 0o777 == 0o600
    engine = open_engine(data.path)
    engine.directory.backup(tmp_path / "bare")
    engine.directory.close()
    assert not (tmp_path / "bare" / "audience.key").exists()


def test_a_store_that_was_just_made_and_one_that_is_being_made_are_restored(data: Data) -> None:
    data.stores.recall(owner())
    data.stores.registry.begin_store(made_id(9), f"stores/{made_id(9)}", "own:third", 1)
    copy, told = data.backup()
    assert told == []
    with world(data.restored(copy)) as anew:
        assert titles(anew.open(owner())) == [] and titles(anew.open(owner("third"))) == []
        check(anew.store())


def test_an_older_release_s_place_is_kept_and_one_outside_moves_in(data: Data, tmp_path: Path) -> None:
    stores = data.stores
    save(stores.open(owner()), 1, "Ada")
    outside = tmp_path / "outside"
    store = stores.store()
    stores.vaults.close()
    store.rename(outside)
    with stores.registry._changing() as db:
        db.execute("UPDATE stores SET location = ?", (str(outside),))
    stores.registry.close()
    data.stores = World(data.path)
    copy, told = data.backup()
    data.stores.close()
    shutil.rmtree(outside)
    with world(data.restored(copy)) as anew:
        assert told == [] and titles(anew.open(owner())) == ["Ada"]
        assert [row.location for row in anew.registry.stores()] == [f"stores/{store.name}"]


def test_1_4_42_a_backup_mends_nothing_in_secret(data: Data) -> None:
    stores = data.stores
    save(stores.open(owner()), 1, "Ada")
    save(stores.open(owner("third")), 2, "Bert")
    private = stores.private()
    private.rename(private.with_name("former"))
    put(private, "people/p1.md", page(1, "Mallory"))
    (stores.private("third").parent / "vault.json").unlink()
    copy, told = data.backup()
    assert len(told) == 2 and all("copied as it stands" in text for text in told)
    assert "named:home" in told[0] + told[1] and "own:third" in told[0] + told[1]
    with world(data.restored(copy)) as anew:
        assert refused(lambda: titles(anew.open(owner()))) == PARTITION_CHANGED
        assert refused(lambda: anew.open(owner("third"))) == MISSING_MANIFEST
        assert (anew.store() / "vault" / "former" / "people" / "p1.md").read_bytes() == page(1, "Ada")


def test_a_store_behind_an_operators_link_is_copied_too(data: Data, tmp_path: Path) -> None:
    save(data.stores.open(owner()), 1, "Ada")
    data.stores.vaults.close()
    data.stores.registry.close()
    store = next((data.path / "knowledge" / "stores").iterdir())
    store.rename(tmp_path / "big disk")
    store.symlink_to(tmp_path / "big disk")
    data.stores = World(data.path)
    copy, told = data.backup()
    data.stores.close()
    with world(data.restored(copy)) as anew:
        assert told == [] and titles(anew.open(owner())) == ["Ada"]
        assert not anew.store().is_symlink()


def test_links_are_left_out_and_told(data: Data, tmp_path: Path) -> None:
    save(data.stores.open(owner()), 1, "Ada")
    secret = put(tmp_path, "secret.md", b"secret")
    (data.stores.private() / "link.md").symlink_to(secret)
    put(data.stores.private(), ".obsidian/app.json", b"{}")
    (data.stores.private() / "empty").mkdir()
    copy, told = data.backup()
    assert len(told) == 1 and "private/link.md is a symbolic link" in told[0]
    with world(data.restored(copy)) as anew:
        assert titles(anew.open(owner())) == ["Ada"]
        assert (anew.private() / ".obsidian/app.json").read_bytes() == b"{}"
        assert (anew.private() / "empty").is_dir()


def test_another_program_s_knowledge_is_left_out_and_a_lost_registry_copied_as_it_stands(data: Data) -> None:
    save(data.stores.open(owner()), 1, "Ada")
    data.stores.close()
    registry = data.path / "knowledge" / REGISTRY_FILE
    ours = registry.read_bytes()
    registry.unlink()
    data.stores = World(data.path)
    copy, told = data.backup()
    assert len(told) == 1 and "needs recovery" in told[0]
    with world(data.restored(copy)) as lost:
        assert refused(lambda: lost.open(owner())) == NEEDS_RECOVERY
        assert list(lost.folder.glob("stores/*/vault/private/people/p1.md"))
    data.stores.close()
    shutil.rmtree(copy)
    registry.write_bytes(ours[:68] + b"\0\0\0\0" + ours[72:])
    data.stores = World(data.path)
    assert data.stores.registry.problem is not None and data.stores.registry.problem.reason == FOREIGN
    copy, told = data.backup()
    data.stores.close()
    assert not (copy / "knowledge").exists() and "left out" in told[0] and (copy / MANIFEST).exists()


def test_a_damaged_file_of_a_store_is_noticed_before_anything_is_restored(data: Data) -> None:
    save(data.stores.open(group()), 1, "Gus")
    copy, _ = data.backup()
    listed = json.loads((copy / MANIFEST).read_text())["files"]
    name = next(name for name in listed if name.endswith(f"conversations/{SESSION}/people/p1.md"))
    (copy / name).write_text("other")
    with pytest.raises(Exception, match=r"p1\.md is not what its manifest says"):
        data.restored(copy)
    assert not (data.path.parent / "new" / "data").exists()


def test_compact_leaves_no_deleted_byte_in_the_databases(data: Data) -> None:
    handle = data.stores.open(owner())
    save(handle, 1, "Ada")
    state = data.stores.store() / "state.sqlite"
    data.stores.registry.set_value("kept", "x" * 200_000)
    data.stores.registry.set_value("kept", None)
    with data.stores.vaults.pool.using(data.stores.store().name) as runtime:
        runtime.state.set_verdict("key", "stamp", "y" * 400_000)
        runtime.state.set_verdict("key", "stamp", "")
    before = state.stat().st_size
    assert data.care().compact(unwatched) == []
    assert state.stat().st_size < before or before < 400_000
    assert not state.with_name("state.sqlite-wal").stat().st_size
    assert titles(handle) == ["Ada"]


def test_what_people_change_while_a_backup_runs_is_in_it_as_it_was_when_agents_waited(data: Data) -> None:
    handle = data.stores.open(owner())
    for number in (1, 2, 3):
        save(handle, number, f"Page {number}")
    private = data.stores.private()
    with data.stores.vaults.pool.using(data.stores.store().name) as runtime:
        ready = runtime.ready

        def edited() -> None:
            (private / "people" / "p1.md").write_bytes(page(1, "Page 9", revision=2))
            (private / "people" / "p2.md").unlink()
            shutil.rmtree(private / "gone")
            ready()

        put(private, "gone/note.txt", b"x")
        runtime.ready = edited  # type: ignore[method-assign]
        copy, told = data.backup()
        runtime.ready = ready  # type: ignore[method-assign]
    with world(data.restored(copy)) as anew:
        assert told == [] and titles(anew.open(owner())) == ["Page 9", "Page 3"]
        assert not (anew.private() / "gone").exists()
        assert changes(anew.open(owner()), 2)[0][0] == "external_delete"


def test_doctor_names_the_stores_that_are_not_as_they_must_be(data: Data) -> None:
    save(data.stores.open(owner()), 1, "Ada")
    save(data.stores.open(owner("third")), 2, "Bert")
    assert data.care().check(unwatched) == []
    (data.stores.private("third").parent / "vault.json").unlink()
    found = data.care().check(unwatched)
    assert len(found) == 1 and found[0].startswith("knowledge store own:third (") and "vault.json" in found[0]
    (data.path / "knowledge" / REGISTRY_FILE).unlink()
    found = data.care().check(unwatched)
    assert len(found) == 1 and "needs recovery" in found[0]


def test_a_publication_that_waits_for_a_decision_waits_in_the_copy_too(data: Data) -> None:
    save(data.stores.open(owner()), 1, "Ada")

    def killed(point: Point) -> None:
        if point is Point.FILE_WRITTEN:
            raise Killed

    both = together(saving(2, "Bert"), saving(1, "Ada again"))
    with pytest.raises(Killed), installed(killed):
        data.stores.open(owner()).publish("one", "one", both)
    put(data.stores.private(), "people/p1.md", page(1, "A person's"))
    copy, told = data.backup()
    assert len(told) == 1 and "copied as it stands" not in told[0]
    with world(data.restored(copy)) as anew:
        assert refused(lambda: titles(anew.open(owner()))) == CONFLICTED_PUBLICATION
        vault = anew.store().name
        with anew.vaults.pool.using(vault) as runtime:
            (row,) = runtime.state.open_journal()
        anew.vaults.settle(vault, row.folder, row.request_id, "mine")
        assert titles(anew.open(owner())) == ["Ada again", "Bert"]
