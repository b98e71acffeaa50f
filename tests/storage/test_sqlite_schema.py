"""Schema files, migrations and the SQL loader of the SQLite engine."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pytest
from storage_kit import open_engine

from lorebank.errors import Bug, Conflict, Corrupt
from lorebank.storage.sqlite import migrate as migrations
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.connect import connect, create_file, transaction
from lorebank.storage.sqlite.migrate import StoreKind, apply, create_schema, known, migrate, statements
from lorebank.storage.sqlite.queries import load, read_sections, resource
from lorebank.storage.sqlite.store import STATE_FILE

KINDS: tuple[StoreKind, ...] = ("bank", "registry", "audit")


def fresh(path: Path) -> sqlite3.Connection:
    create_file(path)
    return connect(path)


def catalogue(db: sqlite3.Connection) -> list[tuple[str, ...]]:
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    return [(*row[:3], " ".join(str(row[3]).split())) for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fresh_schema_equals_the_sum_of_the_migrations(kind: StoreKind, tmp_path: Path) -> None:
    direct, stepwise = fresh(tmp_path / "a"), fresh(tmp_path / "b")
    with transaction(direct):
        create_schema(direct, kind)
    for number, name in known(kind):
        apply(stepwise, kind, number, name)
    assert catalogue(direct) == catalogue(stepwise)
    records = [db.execute("SELECT number, name FROM migrations").fetchall() for db in (direct, stepwise)]
    assert records[0] == records[1] == list(known(kind))
    assert migrate(direct, kind) == 0
    direct.close()
    stepwise.close()


def test_a_migration_that_fails_leaves_the_store_at_the_step_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = fresh(tmp_path / "a")
    with transaction(db):
        create_schema(db, "bank")
    before = catalogue(db)
    steps = (*known("bank"), (2, "0002_more.sql"))
    texts = {"migrations/bank/0002_more.sql": "CREATE TABLE more (a);\nCREATE TABLE memories (b);\n"}
    monkeypatch.setattr(migrations, "known", lambda kind: steps)
    monkeypatch.setattr(migrations, "resource", texts.__getitem__)
    with pytest.raises(Bug):
        migrate(db, "bank")
    assert catalogue(db) == before
    texts["migrations/bank/0002_more.sql"] = "CREATE TABLE more (a);\n"
    assert migrate(db, "bank") == 1 and migrate(db, "bank") == 0
    db.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_of_a_newer_version_is_refused_with_a_sentence(kind: StoreKind, tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "data")
    store = engine.bank().store_id
    engine.directory.close()
    names = {
        "bank": f"banks/{store}/{STATE_FILE}",
        "registry": "registry.sqlite",
        "audit": "audit.sqlite",
    }
    with sqlite3.connect(tmp_path / "data" / names[kind]) as db:
        db.execute("INSERT INTO migrations VALUES (99, '0099_future.sql', 0)")
    db.close()
    with pytest.raises(Conflict, match="newer version of lorebank"):
        engine = open_engine(tmp_path / "data")
        try:
            engine.bank().seq()
        finally:
            engine.directory.close()


def test_a_file_that_is_no_store_is_corrupt(tmp_path: Path) -> None:
    db = fresh(tmp_path / "a")
    with pytest.raises(Corrupt):
        migrate(db, "bank")
    db.close()


def test_scripts_are_cut_at_statements_and_not_inside_them() -> None:
    script = "-- a; comment\nCREATE TABLE a (b TEXT DEFAULT ';');\n\nCREATE TABLE c (d);\n-- end\n"
    assert len(list(statements(script))) == 2
    with pytest.raises(Bug):
        list(statements("CREATE TABLE a ("))


def test_sections_and_fields_must_agree() -> None:
    @dataclass(frozen=True)
    class Wrong:
        page: str
        tpyo: str

    with pytest.raises(Bug, match="tpyo"):
        load(Wrong, "memories")
    assert read_sections("-- a --\n-- What it returns.\nSELECT 1\n") == {"a": "SELECT 1"}
    with pytest.raises(Bug, match="twice"):
        read_sections("-- a --\nSELECT 1\n-- a --\nSELECT 2\n")


# Statements that look for given rows: reading a whole table or all valid memories for them would
# make every write and every recall as slow as the bank is large.
LOOK_UPS = {
    "memories": ["by_key", "by_id", "same_facts", "entity_names", "source_ids", "next_position"],
    "documents": ["by_id", "fact_types", "chunks", "chunks_by_id"],
    "entities": ["by_id", "memories", "of_memories"],
    "derived": ["index_rows", "deleted_keys", "new_vectors", "missing_vectors", "links", "links_between"],
    "operations": ["by_id", "children", "take", "renew", "progress", "finish", "child_statuses"],
    "write": [
        *("sources_of", "add_proof", "entity_keys", "mentions_of", "full_row", "next_in_thread"),
        *("drop_memory_vectors", "drop_semantic_links", "delete_memories", "chunk_sources"),
        *("document_sources", "settle_sources", "delete_document", "observations_on"),
    ],
}


@pytest.mark.parametrize(("file", "names"), LOOK_UPS.items())
def test_look_ups_never_walk_the_whole_store(file: str, names: list[str], tmp_path: Path) -> None:
    db = fresh(tmp_path / "a")
    with transaction(db):
        create_schema(db, "bank")
    sections = read_sections(resource(f"sql/{file}.sql"))
    columns = {"documents": values.CHUNK, "operations": values.OPERATION}.get(file, values.MEMORY)
    for name in names:
        statement = sections[name].replace("{columns}", columns)
        for part in ("seen", "other", "docs", "asked", "mine"):
            statement = statement.replace(f"{{{part}}}", "1")
        parameters = dict.fromkeys(re.findall(r":(\w+)", statement))
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]
        assert plan and not [
            step for step in plan if re.match(r"SCAN (?!json_each|\()|.*\(state=\?\)", step)
        ], name
    db.close()
