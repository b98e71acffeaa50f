"""What is checked before and after each query, and what must never be answered from."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from store_world import SESSION, World, changes, group, page, put, save, saving, titles, world

from lorebank.errors import Forbidden, LorebankError, StoreUnavailable, Unauthenticated
from lorebank.storage.sqlite.foreign import check_ours
from lorebank.vaults import reasons
from lorebank.vaults.store.values import Draft, View

OTHER = "55555555-5555-4555-8555-555555555555"


def edited(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def in_database(stores: World, sql: str) -> None:
    with sqlite3.connect(stores.store() / "state.sqlite") as db:
        db.execute(sql)
    db.close()


def exchanged(path: Path) -> None:
    """The same contents in another folder."""
    path.rename(path.with_name("away"))
    shutil.copytree(path.with_name("away"), path)


SWAPS: dict[str, tuple[Callable[[World], None], str]] = {
    "another store's manifest": (
        lambda w: edited(w.store() / "vault/vault.json", vaultId=OTHER),
        reasons.MANIFEST_MISMATCH,
    ),
    "an older manifest": (
        lambda w: edited(w.store() / "vault/vault.json", generation=0),
        reasons.OLDER_VAULT,
    ),
    "a newer manifest": (
        lambda w: edited(w.store() / "vault/vault.json", generation=7),
        reasons.CHECKPOINT_CONFLICT,
    ),
    "another publication": (
        lambda w: edited(w.store() / "vault/vault.json", publicationId=OTHER),
        reasons.CHECKPOINT_CONFLICT,
    ),
    "a manifest that is none": (
        lambda w: edited(w.store() / "vault/vault.json", extra=1),
        reasons.MANIFEST_INVALID,
    ),
    "no manifest": (lambda w: (w.store() / "vault/vault.json").unlink(), reasons.MISSING_MANIFEST),
    "the checkpoint of another store": (
        lambda w: in_database(w, f"UPDATE checkpoint SET vault = '{OTHER}'"),
        reasons.MANIFEST_MISMATCH,
    ),
    "a checkpoint of later": (
        lambda w: in_database(w, "UPDATE checkpoint SET generation = generation + 1"),
        reasons.OLDER_VAULT,
    ),
    "another database": (lambda w: _copied(w.store() / "state.sqlite"), reasons.PARTITION_CHANGED),
    "no database": (lambda w: (w.store() / "state.sqlite").unlink(), reasons.MISSING_DATABASE),
    "another partition folder": (lambda w: exchanged(w.private()), reasons.PARTITION_CHANGED),
    "no partition folder": (
        lambda w: _moved(w, w.private()),
        reasons.MISSING_PARTITION,
    ),
    "another vault folder": (lambda w: exchanged(w.store() / "vault"), reasons.PARTITION_CHANGED),
    "no vault folder": (lambda w: _moved(w, w.store() / "vault"), reasons.MISSING_STORE),
    "no store": (lambda w: _moved(w, w.store()), reasons.MISSING_STORE),
}


def _moved(stores: World, path: Path) -> None:
    path.rename(stores.root / "moved away")


def _copied(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


@pytest.mark.statement("1.4.42", "1.4.43", "1.4.44", "1.9.80")
@pytest.mark.parametrize("swap", SWAPS)
def test_what_is_swapped_during_a_query_fails_it(stores: World, swap: str) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    act, reason = SWAPS[swap]
    with pytest.raises(StoreUnavailable) as said, handle.reading():
        act(stores)
    assert said.value.reason == reason
    if swap == "another database":
        return  # A whole copy in its place is opened anew, and is as good.
    with pytest.raises(StoreUnavailable), handle.reading():
        pytest.fail("a view was given")
    with pytest.raises(StoreUnavailable):
        save(handle, 2, "Bob")


@pytest.mark.statement("1.4.42")
@pytest.mark.parametrize("swap", ["another partition folder", "no partition folder"])
def test_an_exchanged_conversation_folder_fails_the_query(stores: World, swap: str) -> None:
    talk = stores.open(group())
    save(talk, 1, "Ada")
    folder = stores.store() / "vault/conversations" / SESSION
    with pytest.raises(StoreUnavailable) as said, talk.reading():
        if swap == "no partition folder":
            folder.rename(stores.root / "away")
        else:
            exchanged(folder)
    assert said.value.reason in (reasons.PARTITION_CHANGED, reasons.MISSING_PARTITION)
    assert titles(stores.open()) == []


@pytest.mark.statement("1.4.42", "1.3.32", "1.6.60")
def test_authority_that_is_lost_during_a_query_fails_it(stores: World) -> None:
    stores.let("read-and-save")
    handle = stores.open(group())
    save(handle, 1, "Ada")
    with pytest.raises(Forbidden), handle.reading():
        stores.registry.drop_grant("main", "agent:main:group:7")
    with pytest.raises(Forbidden):
        save(handle, 2, "Bob")
    with pytest.raises(Forbidden):
        handle.check()
    assert titles(stores.recall(group())) == []
    assert titles(stores.open()) == ["Ada"]


@pytest.mark.statement("1.3.32")
def test_a_narrowed_grant_ends_a_save_before_anything_is_written(stores: World) -> None:
    stores.let("read-and-save")
    handle = stores.open(group())
    plan = saving(1, "Ada")

    def narrowed(view: View) -> Draft:
        stores.let("read")
        return plan(view)

    with pytest.raises(Forbidden):
        handle.publish("one", "one", narrowed)
    assert titles(stores.recall(group())) == [] and not list(stores.private().rglob("*.md"))


@pytest.mark.statement("1.6.60", "1.7.67")
def test_an_ended_invocation_fails_what_is_under_way(stores: World) -> None:
    handle = stores.open()
    with pytest.raises(LorebankError) as said, handle.reading():
        stores.registry.end_invocation("run", 1 << 60)
    assert isinstance(said.value, Forbidden | Unauthenticated)


def test_an_error_from_inside_goes_out_past_the_same_checks(stores: World) -> None:
    handle = stores.open()
    with pytest.raises(Forbidden, match=r"changed|ended"), handle.reading():
        stores.registry.end_invocation("run", 1 << 60)
        raise LorebankError("there is a secret record")


LOSSES: dict[str, Callable[[World], None]] = {
    reasons.MISSING_STORE: lambda w: shutil.rmtree(w.store()),
    reasons.MISSING_MANIFEST: lambda w: (w.store() / "vault/vault.json").unlink(),
    reasons.MISSING_DATABASE: lambda w: (w.store() / "state.sqlite").unlink(),
    reasons.MISSING_PARTITION: lambda w: shutil.rmtree(w.private()),
}


@pytest.mark.statement("1.1.11", "1.9.80")
@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
@pytest.mark.parametrize("reason", LOSSES)
def test_a_store_that_lost_a_part_is_unavailable_and_not_made_anew(
    tmp_path: Path, reason: str, restarted: bool
) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ada")
        if not restarted:
            LOSSES[reason](stores)
            before = stores.tree()
            _stays_unavailable(stores, reason)
            assert stores.tree() == before
    if restarted:
        with world(tmp_path) as stores:
            LOSSES[reason](stores)
            before = stores.tree()
            _stays_unavailable(stores, reason)
            assert stores.tree() == before


def _stays_unavailable(stores: World, reason: str) -> None:
    for _ in range(2):
        for use in (stores.open, stores.recall):
            with pytest.raises(StoreUnavailable) as said:
                use()
            assert said.value.reason == reason


def test_a_lost_part_that_is_put_back_is_used_again(stores: World) -> None:
    save(stores.open(), 1, "Ada")
    stores.store().rename(stores.root / "away")
    vault = stores.facts.data.membership("main").vault
    assert vault is not None
    with pytest.raises(StoreUnavailable):
        stores.open()
    (stores.root / "away").rename(stores.folder / "stores" / vault)
    assert titles(stores.open()) == ["Ada"]


@pytest.mark.statement("1.9.80")
def test_another_programs_database_is_never_opened(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ada")
        database = stores.store() / "state.sqlite"
    database.unlink()
    with sqlite3.connect(database) as db:
        db.execute("CREATE TABLE journal (x)")
    db.close()
    before = sorted((path.name, path.stat().st_mtime_ns) for path in database.parent.iterdir())
    with world(tmp_path) as stores, pytest.raises(StoreUnavailable) as said:
        stores.open()
    assert said.value.reason == reasons.FOREIGN
    assert sorted((path.name, path.stat().st_mtime_ns) for path in database.parent.iterdir()) == before
    with pytest.raises(StoreUnavailable):
        check_ours(database, "vault")


@pytest.mark.statement("1.8.75")
def test_a_first_scan_that_fails_is_made_again(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        handle = stores.open()
        put(stores.private(), "people/p1.md", page(1, "Ada"))
        deep = put(stores.private(), "/".join("abcdefghi") + "/p.md", page(2, "Bob"))
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                titles(handle)
        deep.unlink()
        deep.parent.rmdir()
        assert titles(handle) == ["Ada"]


@pytest.mark.statement("1.9.80")
def test_a_database_of_a_newer_lorebank_is_told_as_such(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ada")
        in_database(stores, "INSERT INTO migrations VALUES (9999, 'later', 0)")
    with world(tmp_path) as stores, pytest.raises(StoreUnavailable) as said:
        stores.open()
    assert said.value.reason == reasons.NEWER


@pytest.mark.statement("1.8.70", "1.8.75")
def test_a_scan_that_cannot_be_completed_fails_the_query(
    stores: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = stores.open()
    deep = put(stores.private(), "/".join("abcdefgh") + "/p.md", page(1, "Ada"))
    assert titles(handle) == ["Ada"]
    put(deep.parent, "i/p.md", page(2, "Bob"))
    with pytest.raises(StoreUnavailable) as said:
        titles(handle)
    assert said.value.reason == reasons.SCAN_LIMIT
    shutil.rmtree(deep.parent / "i")
    assert titles(handle) == ["Ada"]
    assert changes(handle, 1)[0][0] == "external_add"
