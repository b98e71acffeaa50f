"""Backup while serving, and restoring all of it or nothing."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from storage_kit import ALL, NOW, Engine, add, memory, open_engine

from lorebank.access.audit import AuditEvent, AuditQuery
from lorebank.access.keys import digest
from lorebank.errors import Conflict, Corrupt, InvalidInput
from lorebank.storage.ports import MemoryQuery
from lorebank.storage.sqlite.backup import MANIFEST, restore_directory


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    opened = open_engine(tmp_path / "data")
    add(opened.bank("Team"), memory("one"), memory("two"))
    opened.bank("team")
    return opened


def test_a_restored_backup_has_everything_acknowledged_before_it(engine: Engine, tmp_path: Path) -> None:
    key = engine.directory.ensure_root("root", None)
    said = AuditEvent(NOW, "user:root", "bank:retain", "allow")
    stop = threading.Event()

    def keep_writing() -> None:
        i = 0
        while not stop.wait(0.002):
            add(engine.bank("Team"), memory(f"later {i}"))
            engine.directory.audit.record(said, durable=False)
            i += 1

    writer = threading.Thread(target=keep_writing)
    writer.start()
    engine.directory.backup(tmp_path / "copy")
    stop.set()
    writer.join()
    assert not (tmp_path / "copy" / "root.key").exists()
    engine.banks.delete(engine.grant("team"))
    engine.directory.close()
    restore_directory(tmp_path / "copy", tmp_path / "new" / "data")
    restored = open_engine(tmp_path / "new" / "data")
    with restored.bank("Team").read() as reader:
        texts = [m.text for m in reader.memories(MemoryQuery(), ALL).rows]
    later = len(texts) - 2
    assert sorted(texts) == sorted(["one", "two", *(f"later {i}" for i in range(later))])
    assert restored.banks.open(restored.grant("team")).seq() == 0
    assert restored.directory.check() == list(restored.bank("Team").check()) == []
    assert restored.directory.warnings == () and key is not None
    recorded = restored.directory.audit.rows(AuditQuery(), ALL)
    assert recorded.rows[-1].event.operation == "ensure_root" and recorded.total >= later
    assert restored.directory.access.data.keys[digest(key)].owner_id == "root"
    restored.directory.close()


def test_the_root_key_is_copied_only_when_asked_for(engine: Engine, tmp_path: Path) -> None:
    engine.directory.ensure_root("root", None)
    engine.directory.backup(tmp_path / "copy", root_key=True)
    assert (tmp_path / "copy" / "root.key").stat().st_mode & 0o777 == 0o600
    engine.directory.close()


def test_nothing_is_overwritten(engine: Engine, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "file").write_text("mine")
    with pytest.raises(Conflict, match="not empty"):
        engine.directory.backup(full)
    engine.directory.backup(tmp_path / "copy")
    engine.directory.close()
    for target in (full, tmp_path / "data"):
        with pytest.raises(Conflict, match="not empty"):
            restore_directory(tmp_path / "copy", target)
    assert sorted(path.name for path in full.iterdir()) == ["file"]


def test_a_damaged_backup_is_refused_and_leaves_nothing(engine: Engine, tmp_path: Path) -> None:
    copy, target = tmp_path / "copy", tmp_path / "new"
    engine.directory.backup(copy)
    engine.directory.close()
    manifest = copy / MANIFEST
    whole = json.loads(manifest.read_text())

    def refused(error: type[Exception], match: str) -> None:
        with pytest.raises(error, match=match):
            restore_directory(copy, target)
        assert not target.exists() and list(tmp_path.glob(".new*")) == []

    manifest.write_text(json.dumps(whole | {"files": whole["files"] | {"../evil": "x"}}))
    refused(Corrupt, "outside")
    manifest.write_text(json.dumps(whole | {"format": 2}))
    refused(Conflict, "another version")
    manifest.write_text("{")
    refused(Corrupt, "cannot be read")
    manifest.write_text(json.dumps(whole))
    with (copy / "registry.sqlite").open("r+b") as file:
        file.seek(500)
        file.write(b"damage")
    refused(Corrupt, "registry.sqlite is not what its manifest says")
    manifest.unlink()
    refused(InvalidInput, "no complete backup")


def test_a_backup_without_its_audit_log_is_not_taken_for_one_that_never_had_any(
    engine: Engine, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    engine.directory.backup(copy)
    engine.directory.close()
    manifest = copy / MANIFEST
    whole = json.loads(manifest.read_text())
    assert "audit.sqlite" in whole["files"]
    del whole["files"]["audit.sqlite"]
    manifest.write_text(json.dumps(whole))
    restore_directory(copy, tmp_path / "new")
    with pytest.raises(Corrupt, match=r"audit\.sqlite"):
        open_engine(tmp_path / "new")
