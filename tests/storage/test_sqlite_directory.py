"""The data directory: one owner, one registry, one root key, files for their owner only."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from storage_kit import ALL, NOW, add, memory, open_engine

from lorebank.access.keys import digest
from lorebank.errors import Conflict, Corrupt, InvalidInput, LorebankError, Unavailable
from lorebank.storage.ports import MemoryQuery
from lorebank.storage.sqlite.connect import translate
from lorebank.storage.sqlite.directory import DataDirectory
from lorebank.storage.sqlite.files import remove_folder
from lorebank.storage.sqlite.lock import Owner, owner_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data with spaces é \U0001f600"


def opens(directory: DataDirectory, key: str) -> str | None:
    """Whose key it is."""
    found = directory.access.data.keys.get(digest(key))
    return None if found is None else found.owner_id


def test_a_second_opener_is_told_who_has_the_directory(data: Path) -> None:
    with DataDirectory.open(data, address="http://127.0.0.1:8888") as directory:
        assert owner_of(data) == Owner(os.getpid(), "http://127.0.0.1:8888")
        with pytest.raises(Conflict, match=f"process {os.getpid()}, which serves http://127.0.0.1:8888"):
            DataDirectory.open(data)
        directory.set_address("")
        with pytest.raises(Conflict, match="wait for it to end"):
            DataDirectory.open(data)
    assert owner_of(data) is None and owner_of(data / "none") is None
    DataDirectory.open(data).close()


def test_the_lock_of_a_killed_process_is_free(data: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from lorebank.storage.sqlite.directory import DataDirectory\n"
        "held = DataDirectory.open(Path(sys.argv[1])); print('held', flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(data)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("held\n", -9)
    DataDirectory.open(data).close()


def test_files_and_folders_are_for_their_owner_only(data: Path) -> None:
    engine = open_engine(data)
    engine.directory.ensure_root("root", None)
    add(engine.bank(), memory("x"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [data, *data.rglob("*")]}
    folders = {path.name for path in [data, *data.rglob("*")] if path.is_dir()}
    engine.directory.close()
    assert {name for name, mode in modes.items() if mode != (0o700 if name in folders else 0o600)} == set()
    assert "state.sqlite-wal" in modes


def test_a_folder_that_others_can_write_works_and_is_reported(data: Path) -> None:
    data.mkdir()
    data.chmod(0o777)
    engine = open_engine(data)
    add(engine.bank(), memory("x"))
    assert any("other users" in warning for warning in engine.directory.warnings)
    engine.directory.close()


def test_a_lost_registry_is_reported_and_never_made_anew(data: Path) -> None:
    engine = open_engine(data)
    engine.bank()
    engine.directory.close()
    (data / "registry.sqlite").rename(data / "elsewhere")
    (data / "banks").rename(data / "stores")
    (data / "registry.id").rename(data / "id")
    with pytest.raises(Corrupt, match="lorebank restore"):
        DataDirectory.open(data)
    (data / "stores").rename(data / "banks")
    (data / "id").rename(data / "registry.id")
    for gone in ("nothing more", "registry.id"):
        (data / gone).unlink(missing_ok=True)
        with pytest.raises(Corrupt, match="lorebank restore"):
            DataDirectory.open(data)
        assert not (data / "registry.sqlite").exists()
    (data / "elsewhere").rename(data / "registry.sqlite")
    with DataDirectory.open(data) as directory:
        assert (data / "registry.id").exists() and directory.check() == []


def test_a_sentinel_of_another_registry_is_reported(data: Path) -> None:
    DataDirectory.open(data).close()
    (data / "registry.id").write_text("other")
    with pytest.raises(Corrupt, match="do not belong together"):
        DataDirectory.open(data)


def test_a_swapped_store_is_reported(data: Path) -> None:
    engine = open_engine(data)
    one, two = engine.bank("one").store_id, engine.bank("two").store_id
    engine.directory.close()
    shutil.copy(data / "banks" / one / "state.sqlite", data / "banks" / two / "state.sqlite")
    engine = open_engine(data)
    with pytest.raises(Corrupt, match="another bank"):
        engine.bank("two").seq()
    assert engine.bank("one").seq() == 0
    engine.directory.close()


def test_a_damaged_store_is_corrupt_and_can_be_deleted(data: Path) -> None:
    engine = open_engine(data)
    state = data / "banks" / engine.bank().store_id / "state.sqlite"
    engine.directory.close()
    state.write_bytes(b"no database" * 1000)
    engine = open_engine(data)
    with pytest.raises(Corrupt, match="damaged"), engine.bank().read():
        pass
    engine.banks.delete(engine.grant("Team"))
    assert not state.parent.exists()
    engine.directory.close()


def test_a_folder_whose_files_vanish_meanwhile_is_removed_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    for n in range(600):
        (folder / str(n)).touch()
    with ThreadPoolExecutor(4) as threads:
        for removal in [threads.submit(remove_folder, folder) for _ in range(4)]:
            removal.result()
    assert not folder.exists()
    remove_folder(folder)


def test_a_missing_store_is_reported_by_check(data: Path) -> None:
    engine = open_engine(data)
    shutil.rmtree(data / "banks" / engine.bank().store_id)
    (data / "banks" / "stray").mkdir()
    with pytest.raises(Corrupt, match="missing"):
        engine.bank().seq()
    assert engine.directory.check() == [
        "the store of bank 'Team' is missing",
        "1 folders in 'banks' belong to no bank and are left alone: stray",
    ]
    engine.directory.close()
    with DataDirectory.open(data) as directory:
        assert "stray" in directory.warnings[0] and (data / "banks" / "stray").exists()


def test_the_first_start_makes_a_root_key_and_stores_its_digest_only(data: Path) -> None:
    with DataDirectory.open(data) as directory:
        epoch = directory.epoch.value
        key = directory.ensure_root("root", None)
        assert key is not None and (data / "root.key").read_text().strip() == key
        assert stat.S_IMODE((data / "root.key").stat().st_mode) == 0o600
        assert opens(directory, key) == "root"
        assert directory.epoch.value == epoch + 1
        assert directory.ensure_root("root", None) is None
        assert directory.epoch.value == epoch + 1
    assert key.encode() not in (data / "registry.sqlite").read_bytes()
    with DataDirectory.open(data) as directory:
        assert directory.ensure_root("admin", None) is None
        assert opens(directory, key) == "admin"
        assert directory.epoch.value == epoch + 2


def test_a_given_root_key_replaces_the_old_one_and_its_file(data: Path) -> None:
    with DataDirectory.open(data) as directory:
        old = directory.ensure_root("root", None)
        assert directory.ensure_root("root", old) is None and (data / "root.key").exists()
        assert directory.ensure_root("root", "given") is None
        assert opens(directory, "given") == "root"
        assert old is not None and opens(directory, old) is None
        assert not (data / "root.key").exists()
        assert directory.ensure_root("root", None) is None


def test_at_most_so_many_stores_are_open_and_only_idle_ones_are_closed(data: Path) -> None:
    engine = open_engine(data, max_open_stores=2)
    handles = [engine.bank(f"b{i}") for i in range(5)]
    for i, handle in enumerate(handles):
        add(handle, memory(f"fact {i}"))
        assert engine.directory.open_stores() <= 2
    with handles[0].read() as first, handles[1].read() as second, handles[2].read() as third:
        assert engine.directory.open_stores() == 3
        assert [r.seq() for r in (first, second, third)] == [1, 1, 1]
    assert engine.directory.open_stores() <= 2
    descriptors = len(os.listdir("/proc/self/fd"))
    for handle in handles * 4:
        with handle.read() as reader:
            assert reader.memories(MemoryQuery(), ALL).total == 1
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 4
    engine.directory.close()
    with pytest.raises(InvalidInput):
        DataDirectory.open(data, max_open_stores=0)


def test_deleted_keys_are_kept_while_a_closed_store_is_opened_again(data: Path) -> None:
    engine = open_engine(data, max_open_stores=1)
    handle = engine.bank("a")
    (key,) = add(handle, memory("x"))
    with handle.write() as writer:
        writer.delete_memories([key])
    engine.bank("b").seq()
    with handle.read() as reader:
        assert reader.deleted_keys(0) == [key]
    engine.directory.close()
    engine = open_engine(data)
    with engine.bank("a").read() as reader:
        assert reader.deleted_keys(0) == []
    engine.directory.close()


def test_after_closing_nothing_is_served(data: Path) -> None:
    engine = open_engine(data)
    handle = engine.bank()
    engine.directory.close()
    with pytest.raises(Unavailable, match="stopping"):
        handle.seq()


def test_a_full_disk_is_said_so_and_leaves_the_store_usable(data: Path) -> None:
    engine = open_engine(data)
    handle = engine.bank()
    add(handle, memory("before"))
    with pytest.raises(Unavailable, match="full"), handle.write() as writer:
        # SQLite's own page limit stands in for the end of the disk: the error is the same.
        writer._db.execute("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]
        writer.add_memories([memory("x" * 100_000)], NOW)
    with handle.write() as writer:
        writer._db.execute("PRAGMA max_page_count = 1000000")  # type: ignore[attr-defined]
    add(handle, memory("after"))
    with handle.read() as reader:
        assert [m.text for m in reader.memories(MemoryQuery(), ALL).rows] == ["after", "before"]
    engine.directory.close()


def test_text_that_is_no_unicode_is_refused_and_leaves_nothing(data: Path) -> None:
    engine = open_engine(data)
    handle = engine.bank()
    with pytest.raises(InvalidInput, match="surrogates"):
        add(handle, memory("\ud800"))
    assert handle.seq() == 0
    engine.directory.close()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SQLITE_FULL", Unavailable),
        ("SQLITE_READONLY_DBMOVED", Unavailable),
        ("SQLITE_BUSY_SNAPSHOT", Unavailable),
        ("SQLITE_IOERR_WRITE", Unavailable),
        ("SQLITE_CANTOPEN", Unavailable),
        ("SQLITE_CORRUPT_INDEX", Corrupt),
        ("SQLITE_NOTADB", Corrupt),
        ("SQLITE_TOOBIG", InvalidInput),
    ],
)
def test_errors_of_sqlite_become_errors_with_a_way_out(name: str, kind: type[LorebankError]) -> None:
    error = sqlite3.OperationalError("/secret/path: raw text")
    error.sqlite_errorname = name
    translated = translate(error)
    assert type(translated) is kind and translated.cause is error
    assert "secret" not in translated.message


def test_every_commit_is_synced(data: Path) -> None:
    engine = open_engine(data)
    with engine.bank().write() as writer:
        db = writer._db  # type: ignore[attr-defined]
        settings = {
            n: db.execute(f"PRAGMA {n}").fetchone()[0]
            for n in ("synchronous", "secure_delete", "foreign_keys")
        }
    assert settings == {"synchronous": 2, "secure_delete": 1, "foreign_keys": 1}
    engine.directory.close()
