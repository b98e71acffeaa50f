"""registry.sqlite and registry.id: whose they are, what is missing, and that nothing is begun anew."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lorebank.access.knowledge import ConversationGrant
from lorebank.access.reasons import DAMAGED, FOREIGN, MISSING_DATABASE, NEEDS_RECOVERY, NEWER
from lorebank.access.resolve import Epoch
from lorebank.errors import StoreUnavailable
from lorebank.storage.knowledge_ports import StoreRow
from lorebank.storage.sqlite.foreign import check_ours, content_of, create_database
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.vaults.assignments.facts import VaultFacts

GRANT = ConversationGrant("main", "agent:main:chat", "read", "owner", 5)


def picture_of(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, and every folder."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def made(folder: Path) -> SqliteKnowledgeRegistry:
    registry = SqliteKnowledgeRegistry(folder)
    registry.set_grant(GRANT)
    registry.close()
    return registry


def another_program_made(folder: Path, *, journal: str = "DELETE") -> None:
    folder.mkdir()
    (folder / "registry.id").write_text("gateway\n")
    db = sqlite3.connect(folder / "registry.sqlite")
    db.execute(f"PRAGMA journal_mode = {journal}")
    db.execute("CREATE TABLE stores (id TEXT)")
    db.execute("INSERT INTO stores VALUES ('theirs')")
    db.commit()
    db.close()


def test_nothing_is_made_until_something_must_be_kept(tmp_path: Path) -> None:
    folder = tmp_path / "knowledge"
    registry = SqliteKnowledgeRegistry(folder)
    assert registry.problem is None and registry.stores() == [] and registry.bindings() == {}
    assert registry.host_agents() == (None, frozenset()) and registry.picture().grants == ()
    session = registry.session_uuid("telegram:1", record=False)
    assert not folder.exists()
    assert registry.session_uuid("telegram:1", record=True) == session
    assert sorted(path.name for path in folder.iterdir() if "-" not in path.name) == [
        "registry.id",
        "registry.sqlite",
    ]
    registry.close()
    again = SqliteKnowledgeRegistry(folder)
    assert again.session_uuid("telegram:1", record=False) == session
    again.close()


def test_1_4_37_what_a_registry_holds_is_there_after_a_restart(tmp_path: Path) -> None:
    made(tmp_path / "k")
    registry = SqliteKnowledgeRegistry(tmp_path / "k")
    assert registry.grants() == [GRANT]
    registry.close()


@pytest.mark.parametrize("loss", ["missing", "empty", "no tables", "no identity", "other id"])
def test_1_4_37_a_lost_registry_needs_recovery_and_is_not_begun_anew(loss: str, tmp_path: Path) -> None:
    folder = tmp_path / "k"
    made(folder)
    path = folder / "registry.sqlite"
    if loss == "missing":
        path.unlink()
    elif loss == "empty":
        path.write_bytes(b"")
    elif loss == "other id":
        (folder / "registry.id").write_text("11111111-1111-4111-8111-111111111111\n")
    else:
        db = sqlite3.connect(path)
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            db.execute(f"DROP TABLE {table}" if loss == "no tables" else f"DELETE FROM {table}")
            db.commit()
        db.execute("VACUUM")
        db.close()
    before = picture_of(folder)
    registry = SqliteKnowledgeRegistry(folder)
    assert registry.problem is not None and registry.problem.reason == NEEDS_RECOVERY
    uses = (
        registry.stores,
        registry.picture,
        lambda: registry.set_grant(GRANT),
        lambda: registry.begin_store("v", "stores/v", "own:main", 1),
        lambda: registry.session_uuid("x", record=True),
    )
    for use in uses:
        with pytest.raises(StoreUnavailable, match="needs recovery") as caught:
            use()
        assert caught.value.reason == NEEDS_RECOVERY
    facts = VaultFacts(registry, tmp_path / "none.json5", Epoch())
    assert facts.data.reason == NEEDS_RECOVERY and "needs recovery" in str(facts.data.problem)
    registry.close()
    assert picture_of(folder) == before


def test_1_4_37_a_registry_taken_away_while_open_is_not_written_into_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "k"
    registry = SqliteKnowledgeRegistry(folder)
    registry.set_grant(GRANT)
    facts = VaultFacts(registry, tmp_path / "none.json5", Epoch())
    assert facts.data.problem is None
    (folder / "registry.sqlite").rename(folder / "away")
    assert facts.data.reason == NEEDS_RECOVERY and facts.data.problem
    with pytest.raises(StoreUnavailable):
        registry.drop_grant("main", GRANT.session_key)
    registry.close()


def test_1_4_37_a_missing_sentinel_is_written_again_from_the_registry(tmp_path: Path) -> None:
    folder = tmp_path / "k"
    made(folder)
    before = (folder / "registry.id").read_bytes()
    (folder / "registry.id").unlink()
    SqliteKnowledgeRegistry(folder).close()
    assert (folder / "registry.id").read_bytes() == before


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_another_programs_registry_is_refused_and_stays_byte_for_byte(journal: str, tmp_path: Path) -> None:
    folder = tmp_path / "k"
    another_program_made(folder, journal=journal)
    before = picture_of(folder)
    registry = SqliteKnowledgeRegistry(folder)
    assert registry.problem is not None and registry.problem.reason == FOREIGN
    assert "lorebank vault import" in registry.problem.message
    with pytest.raises(StoreUnavailable):
        registry.set_grant(GRANT)
    facts = VaultFacts(registry, tmp_path / "none.json5", Epoch())
    assert facts.data.reason == FOREIGN
    registry.close()
    assert picture_of(folder) == before


def test_another_programs_tables_that_are_still_in_its_log_are_not_taken_for_none(tmp_path: Path) -> None:
    source, folder = tmp_path / "s", tmp_path / "k"
    source.mkdir()
    db = sqlite3.connect(source / "registry.sqlite")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE theirs (a)")
    db.commit()
    shutil.copytree(source, folder)
    db.close()
    before = picture_of(folder)
    registry = SqliteKnowledgeRegistry(folder)
    assert registry.problem is not None and registry.problem.reason == FOREIGN
    assert picture_of(folder) == before


def test_what_is_no_database_is_damaged_and_stays(tmp_path: Path) -> None:
    (tmp_path / "registry.sqlite").write_bytes(b"hello" * 100)
    registry = SqliteKnowledgeRegistry(tmp_path)
    assert registry.problem is not None and registry.problem.reason == DAMAGED
    assert [path.name for path in tmp_path.iterdir()] == ["registry.sqlite"]


def test_a_folder_that_cannot_be_used_is_a_problem_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "k").write_text("a file")
    registry = SqliteKnowledgeRegistry(tmp_path / "k")
    assert registry.problem is not None and registry.problem.reason == DAMAGED
    assert str(tmp_path) not in registry.problem.message
    with pytest.raises(StoreUnavailable):
        registry.stores()


def test_a_registry_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "k")
    with sqlite3.connect(tmp_path / "k" / "registry.sqlite") as db:
        db.execute("INSERT INTO migrations VALUES (99, '0099_future.sql', 0)")
    db.close()
    registry = SqliteKnowledgeRegistry(tmp_path / "k")
    assert registry.problem is not None and registry.problem.reason == NEWER
    registry.close()


KILLED = """
import os, sys
from pathlib import Path
from lorebank.storage.sqlite import knowledge_file as making
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
name, when = sys.argv[2:]
inner = getattr(making, name)
def killed(*args, **kwargs):
    if when == "after":
        inner(*args, **kwargs)
    os._exit(9)
setattr(making, name, killed)
SqliteKnowledgeRegistry(Path(sys.argv[1])).set_value("a", 1)
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["make_folder", "draft_database", "write_private", "_name", "migrate"])
def test_a_kill_while_the_registry_is_made_leaves_none_or_a_whole_one(
    step: str, when: str, tmp_path: Path
) -> None:
    folder = tmp_path / "k"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(folder), step, when], timeout=60)
    assert killed.returncode == 9
    named = (folder / "registry.sqlite").exists()
    assert not named or (folder / "registry.id").exists()
    registry = SqliteKnowledgeRegistry(folder)
    assert registry.problem is None and registry.value("a") is None
    registry.set_value("a", 2)
    registry.close()
    assert not list(folder.glob("*.new*"))
    again = SqliteKnowledgeRegistry(folder)
    assert again.value("a") == 2
    again.close()


@pytest.mark.parametrize("sentinel", [True, False])
def test_1_4_37_a_log_without_its_registry_is_not_played_into_a_new_one(
    sentinel: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "k"
    registry = SqliteKnowledgeRegistry(folder)
    registry.set_grant(GRANT)
    (folder / "registry.sqlite").unlink()
    if not sentinel:
        (folder / "registry.id").unlink()
    before = picture_of(folder)
    again = SqliteKnowledgeRegistry(folder)
    assert again.problem is not None and again.problem.reason == NEEDS_RECOVERY
    assert picture_of(folder) == before
    registry.close()


def test_a_draft_of_another_registry_is_no_recovery(tmp_path: Path) -> None:
    made(tmp_path / "a")
    made(tmp_path / "b")
    (tmp_path / "a" / "registry.sqlite").unlink()
    shutil.copy(tmp_path / "b" / "registry.sqlite", tmp_path / "a" / "registry.sqlite.new")
    registry = SqliteKnowledgeRegistry(tmp_path / "a")
    assert registry.problem is not None and registry.problem.reason == NEEDS_RECOVERY


def test_a_database_is_known_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with pytest.raises(StoreUnavailable) as missing:
        check_ours(path, "knowledge")
    assert missing.value.reason == MISSING_DATABASE
    create_database(path, "knowledge", lambda db: None)
    check_ours(path, "knowledge")
    assert content_of(path, "knowledge") == "ours" and content_of(path, "vault") == "foreign"
    assert not list(tmp_path.glob("x.sqlite-*")) and os.stat(path).st_mode & 0o777 == 0o600
    with pytest.raises(StoreUnavailable) as other:
        check_ours(path, "vault")
    assert other.value.reason == FOREIGN


def test_1_4_40_a_store_elsewhere_is_recorded_where_it_is(tmp_path: Path) -> None:
    registry = SqliteKnowledgeRegistry(tmp_path / "k")
    row = StoreRow("v", "../old-vault", "ready", "personal", 3)
    registry.add_store(row, "named:personal")
    registry.close()
    again = SqliteKnowledgeRegistry(tmp_path / "k")
    assert again.stores() == [row] and again.bindings() == {"named:personal": "v"}
    again.close()
