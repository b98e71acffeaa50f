"""Parts of a store that are emptied, damaged or exchanged under a running server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lorebank.errors import StoreUnavailable
from lorebank.vaults import reasons
from lorebank.vaults.assignments.inventory import files_probe, inventory
from lorebank.vaults.assignments.operator import Operator
from vault_store.store_world import World, save, titles, world

OWNER = Operator("owner", lambda agent: True, everything=True)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        save(made.open(), 1, "Ada")
        yield made


def copied(path: Path) -> None:
    """The same bytes in another file."""
    shutil.copy2(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def test_a_database_that_was_emptied_in_place_answers_no_more(stores: World) -> None:
    handle = stores.open()
    os.truncate(stores.store() / "state.sqlite", 0)
    with pytest.raises(StoreUnavailable, match="was emptied") as caught:
        titles(handle)
    assert caught.value.reason == reasons.MISSING_DATABASE
    with pytest.raises(StoreUnavailable):
        save(handle, 2, "Bob")


def test_a_database_that_is_emptied_during_a_query_fails_it(stores: World) -> None:
    handle = stores.open()
    with pytest.raises(StoreUnavailable, match="was emptied"), handle.reading():
        os.truncate(stores.store() / "state.sqlite", 0)


def test_a_registry_that_was_emptied_in_place_needs_recovery(stores: World) -> None:
    os.truncate(stores.folder / "registry.sqlite", 0)
    problem = stores.registry.problem
    assert problem is not None and problem.reason == reasons.NEEDS_RECOVERY


def test_files_that_came_back_are_used_at_once(stores: World) -> None:
    handle = stores.open()
    copied(stores.store() / "state.sqlite")
    assert titles(handle) == ["Ada"]
    stores.store().rename(stores.root / "away")
    (stores.root / "away").rename(stores.folder / "stores" / handle.vault)
    assert titles(handle) == ["Ada"]
    vault = stores.store() / "vault"
    vault.rename(stores.root / "away")
    shutil.copytree(stores.root / "away", vault)
    # Another folder for the private partition is not taken: that is for an operator to say.
    with pytest.raises(StoreUnavailable) as caught:
        titles(handle)
    assert caught.value.reason == reasons.PARTITION_CHANGED


def test_what_is_in_use_is_not_opened_anew_under_its_users(stores: World) -> None:
    handle = stores.open()
    with pytest.raises(StoreUnavailable, match="ask again"), handle.reading():
        copied(stores.store() / "state.sqlite")
        with stores.vaults.pool.using(handle.vault) as runtime:
            assert runtime.exchanged()
    assert titles(handle) == ["Ada"]


def _link(path: Path) -> None:
    path.rename(path.with_name("away"))
    path.symlink_to("away")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _foreign(path: Path) -> None:
    head = bytearray(path.read_bytes())
    head[68:72] = b"\0\0\0\1"
    path.write_bytes(head)


def _other_vault(path: Path) -> None:
    text = path.read_text()
    vault = text.partition('"vaultId": "')[2][:36]
    path.write_text(text.replace(vault, "77777777-7777-4777-8777-777777777777"))


HARM: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "empty database": ("state.sqlite", lambda path: os.truncate(path, 0), reasons.MISSING_DATABASE),
    "garbage": ("state.sqlite", lambda path: path.write_bytes(b"x" * 5_000), reasons.DAMAGED),
    "pipe as database": ("state.sqlite", _pipe, reasons.DAMAGED),
    "another program's": ("state.sqlite", _foreign, reasons.FOREIGN),
    "empty manifest": ("vault/vault.json", lambda path: path.write_text(""), reasons.MANIFEST_INVALID),
    "loose manifest": ("vault/vault.json", lambda path: path.write_text("{}"), reasons.MANIFEST_INVALID),
    "large manifest": (
        "vault/vault.json",
        lambda path: path.write_text(path.read_text() + " " * 70_000),
        reasons.MANIFEST_INVALID,
    ),
    "another manifest": ("vault/vault.json", _other_vault, reasons.MANIFEST_MISMATCH),
    "pipe as manifest": ("vault/vault.json", _pipe, reasons.UNSAFE_FILE),
    "linked manifest": ("vault/vault.json", _link, reasons.UNSAFE_FILE),
    "no private folder": ("vault/private", shutil.rmtree, reasons.MISSING_PARTITION),
    "linked private folder": ("vault/private", _link, reasons.UNSAFE_FILE),
    "linked vault": ("vault", _link, reasons.UNSAFE_FILE),
}


@pytest.mark.parametrize("harm", HARM)
def test_the_list_of_stores_says_why_one_cannot_be_used_and_changes_nothing(
    tmp_path: Path, harm: str
) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ada")
        store = stores.store()
    name, act, reason = HARM[harm]
    act(store / name)
    before = sorted((str(path), path.lstat().st_mtime_ns) for path in store.rglob("*"))
    with world(tmp_path) as stores:
        found = inventory(stores.facts, stores.registry, OWNER, files_probe(stores.folder))
        told = {(line.status, line.reason) for line in (*found.agents, *found.stores)}
        assert told == {("unavailable", reason)}
        assert sorted((str(path), path.lstat().st_mtime_ns) for path in store.rglob("*")) == before
        with pytest.raises(StoreUnavailable) as caught:
            titles(stores.open())
        assert caught.value.reason == reason


def test_a_whole_store_is_ok_and_each_is_looked_at_once(tmp_path: Path) -> None:
    with world(tmp_path, config='{stores: {home: {agents: ["main", "second"]}}}') as stores:
        save(stores.open(), 1, "Ada")
        probe, looked = files_probe(stores.folder), []

        def counted(row: object) -> str | None:
            looked.append(row)
            return probe(row)  # type: ignore[arg-type]

        found = inventory(stores.facts, stores.registry, OWNER, counted)
        assert {line.status for line in (*found.agents, *found.stores)} == {"ok"}
        assert len(looked) == 1
