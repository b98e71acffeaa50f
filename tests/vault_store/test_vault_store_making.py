"""How stores come into being, and by what."""

from __future__ import annotations

import os
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from store_world import KEY, SESSION, World, group, made_id, owner, page, put, sandboxed, save, titles, world

from lorebank.access.actions import KNOWLEDGE_ADMIN, KNOWLEDGE_READ, KNOWLEDGE_SAVE
from lorebank.access.audience import PRIVATE, Partition
from lorebank.access.grant import Ticket
from lorebank.access.principal import Principal
from lorebank.errors import (
    Forbidden,
    InvalidInput,
    LorebankError,
    NotCreated,
    StoreUnavailable,
    WritesDisabled,
)
from lorebank.vaults import reasons
from lorebank.vaults.store import making, runtime
from lorebank.vaults.store.manifest import Manifest, decode
from lorebank.vaults.store.values import Draft, View


@pytest.mark.statement("1.1.9", "1.4.36", "1.4.38")
def test_the_first_authorised_use_makes_a_whole_store(stores: World) -> None:
    assert not (stores.folder / "stores").exists()
    handle = stores.recall()
    store = stores.store()
    assert store == stores.folder / "stores" / handle.vault
    names = {path.name for path in store.iterdir() if "-" not in path.suffix}
    assert names == {"state.sqlite", "staging", "vault"}
    assert {path.name for path in (store / "vault").iterdir()} == {"vault.json", ".git", "private"}
    manifest = decode((store / "vault/vault.json").read_bytes())
    assert manifest == Manifest(handle.vault, 0, manifest.publication_id)
    save(stores.open(group()), 1, "Ada")
    assert (store / "vault/conversations" / SESSION / "people/p1.md").is_file()


@pytest.mark.statement("1.1.9", "1.9.79")
def test_looking_never_makes_a_store(stores: World) -> None:
    operator = Principal("local", "local")
    with pytest.raises(NotCreated):
        stores.vaults.open(stores.resolver.resolve_operator(operator, KNOWLEDGE_READ, "main"))
    for purpose in (Ticket.RELINK, Ticket.MEND):
        with pytest.raises(NotCreated):
            stores.vaults.open(stores.resolver.ticket(purpose, "own:main", None, PRIVATE))
    assert stores.facts.data.membership("main").vault is None
    assert stores.tree() == [] and list(stores.registry.stores()) == []


@pytest.mark.statement("1.1.10", "1.9.81")
def test_a_refused_call_makes_nothing(stores: World) -> None:
    for speaks in (sandboxed(owner()), sandboxed(group())):
        with pytest.raises(Forbidden) as said:
            stores.open(speaks)
        assert "store" not in said.value.message
    grant = stores.grant()
    stores.registry.end_invocation("run", 1 << 60)
    with pytest.raises(Forbidden):
        stores.vaults.open(grant)
    assert stores.tree() == [] and list(stores.registry.stores()) == []


@pytest.mark.statement("1.9.79", "1.4.45")
def test_with_writes_off_no_store_is_made(tmp_path: Path) -> None:
    with world(tmp_path, config="{ writesEnabled: false }") as stores:
        with pytest.raises(NotCreated):
            stores.recall()
        with pytest.raises(WritesDisabled):
            stores.open()
        assert stores.tree() == []


@pytest.mark.statement("1.4.45")
def test_git_history_is_begun_again_only_where_writing_is_on(stores: World) -> None:
    handle = stores.open()
    save(handle, 1, "Ada")
    git = stores.store() / "vault/.git"
    git.rename(stores.root / "git")
    stores.configure("{ writesEnabled: false }")
    assert titles(stores.recall()) == ["Ada"] and not git.exists()
    stores.configure("{}")
    save(stores.open(), 2, "Bob")
    assert git.is_dir()
    said = subprocess.run(
        ["git", "-C", str(git.parent), "ls-files", "-o"], check=True, capture_output=True, text=True
    )
    assert "vault.json" in said.stdout


def test_a_reading_never_makes_a_conversations_folder(stores: World) -> None:
    stores.open()
    before = stores.tree()
    talk = stores.recall(group())
    assert titles(talk) == [] and talk.recent(5) == []
    assert titles(stores.open(group())) == []
    assert stores.tree() == before


def test_a_save_that_is_refused_makes_no_conversations_folder(stores: World) -> None:
    talk = stores.open(group())
    before = stores.tree()

    def refused(view: View) -> Draft:
        raise InvalidInput("no")

    with pytest.raises(InvalidInput):
        talk.publish("one", "one", refused)
    assert stores.tree() == before
    save(talk, 1, "Ada")
    assert titles(talk) == ["Ada"]


def test_many_conversations_are_kept_apart(stores: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_CONVERSATIONS", 2)
    talks = [stores.open(group(session=made_id(number))) for number in range(4)]
    for number, talk in enumerate(talks):
        save(talk, number, f"Page {number}")
    assert [titles(talk) for talk in talks] == [[f"Page {number}"] for number in range(4)]
    with stores.vaults.pool.using(talks[0].vault) as opened:
        assert len(opened._catalogues) <= 3


def test_a_conversation_folder_from_elsewhere_is_taken_up(stores: World) -> None:
    stores.open()
    talk = Partition(SESSION)
    put(stores.store() / "vault" / talk.folder, "people/p1.md", page(1, "Ada", partition=talk))
    assert titles(stores.open(group())) == ["Ada"]
    (stores.store() / "vault" / talk.folder).rename(stores.root / "away")
    with pytest.raises(StoreUnavailable) as said:
        titles(stores.open(group()))
    assert said.value.reason == reasons.MISSING_PARTITION


@pytest.mark.statement("1.1.1", "1.1.2", "1.7.62")
def test_agents_of_one_named_store_share_one_runtime(tmp_path: Path) -> None:
    shared = '{ stores: { team: { label: "Team", agents: ["a", "b"] } } }'
    with world(tmp_path, config=shared) as stores:
        first, second, alone = (stores.open(owner(agent)) for agent in ("a", "b", "c"))
        assert first.vault == second.vault != alone.vault
        save(first, 1, "Ada")
        assert titles(second) == ["Ada"] and titles(alone) == []
        pool = stores.vaults.pool
        with pool.using(first.vault) as one, pool.using(second.vault) as other:
            assert one is other
        assert pool.open_count() == 2


def test_many_first_uses_at_once_make_one_store(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        found: list[str] = []
        gate = threading.Barrier(8)

        def use() -> None:
            gate.wait()
            found.append(stores.open().vault)

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8 and len(set(found)) == 1
        assert [path.name for path in (stores.folder / "stores").iterdir()] == found[:1]


class Killed(Exception):
    """The process ends here."""


STEPS = ["begin_store", "make_folder", "create_vault_state", "rename", "store_ready"]


@pytest.mark.statement("1.1.9")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_making_that_was_killed_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    with world(tmp_path) as stores, monkeypatch.context() as patched:
        _kill_at(patched, stores, step, after)
        with pytest.raises(Killed):
            stores.open()
    with world(tmp_path) as stores:
        handle = stores.open()
        save(handle, 1, "Ada")
        assert titles(handle) == ["Ada"]
        (row,) = stores.registry.stores()
        assert (row.state, row.vault) == ("ready", handle.vault)
        assert [path.name for path in (stores.folder / "stores").iterdir()] == [handle.vault]


def _kill_at(patched: pytest.MonkeyPatch, stores: World, step: str, after: bool) -> None:
    owners: dict[str, object] = {
        "begin_store": stores.registry,
        "store_ready": stores.registry,
        "make_folder": making,
        "create_vault_state": making,
        "rename": Path,
    }
    real = getattr(owners[step], step)

    def killed(*given: object, **more: object) -> object:
        if after:
            real(*given, **more)
        raise Killed

    patched.setattr(owners[step], step, killed)


@pytest.mark.statement("1.1.11")
def test_a_store_whose_making_was_not_completed_is_not_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(tmp_path) as stores:
        with monkeypatch.context() as patched:
            _kill_at(patched, stores, "create_vault_state", after=False)
            with pytest.raises(Killed):
                stores.open()
        grant = stores.resolver.resolve_operator(Principal("local", "local"), KNOWLEDGE_READ, "main")
        with pytest.raises(NotCreated):
            stores.vaults.open(grant)


@pytest.mark.statement("1.4.39", "1.4.40")
def test_a_store_is_opened_where_the_registry_says(tmp_path: Path) -> None:
    with world(tmp_path) as stores:
        save(stores.open(), 1, "Ada")
        store = stores.store()
        (row,) = stores.registry.stores()
    away = tmp_path / "elsewhere" / "old"
    away.parent.mkdir()
    (tmp_path / "second").mkdir()
    os.rename(store, away)
    with world(tmp_path / "second") as stores:
        moved = replace(row, location=os.path.relpath(away, stores.folder))
        stores.registry.add_store(moved, "own:main")
        assert titles(stores.open()) == ["Ada"]
        save(stores.open(), 2, "Bob")
        assert (away / "vault/private/people/p2.md").is_file()


@pytest.mark.statement("1.1.3", "1.9.80")
def test_an_agent_in_two_stores_has_none(tmp_path: Path) -> None:
    twice = '{ stores: { a: { agents: ["x", "y"] }, b: { agents: ["x"] } } }'
    with world(tmp_path, config=twice) as stores:
        with pytest.raises(StoreUnavailable) as said:
            stores.open(owner("x"))
        assert said.value.reason == reasons.DUPLICATE_MEMBERSHIP
        assert stores.tree() == []
        assert titles(stores.open(owner("y"))) == []


def test_rights_that_open_nothing_open_nothing(stores: World) -> None:
    stores.open()
    grant = stores.resolver.resolve_operator(Principal("local", "local"), KNOWLEDGE_ADMIN, "main")
    with pytest.raises(Forbidden):
        stores.vaults.open(grant)


@pytest.mark.statement("1.3.23")
def test_a_read_grant_reads_and_never_saves(stores: World) -> None:
    save(stores.open(), 1, "Ada")
    stores.let("read", KEY)
    reader = stores.recall(group())
    assert titles(reader) == ["Ada"]
    with pytest.raises(Forbidden):
        save(reader, 2, "Bob")
    with pytest.raises(LorebankError):
        stores.grant(group(), KNOWLEDGE_SAVE)
    with pytest.raises(Forbidden):
        reader.stage(iter([b"x"]), size=1, sha256=None)
