"""Whose store is which, by the map as it is now."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from assignments_kit import SHARED, Opener, World

from lorebank.access.reasons import CONFIG_INVALID
from lorebank.config import load
from lorebank.errors import Unavailable
from lorebank.storage.knowledge_ports import RegistryPicture
from lorebank.vaults.assignments import facts as facts_module
from lorebank.vaults.assignments.inventory import store_folder


def test_1_1_1_an_agent_in_no_named_store_has_its_own(shared: World) -> None:
    found = shared.facts.data.membership("loner")
    assert (found.state, found.binding, found.vault) == ("own", "own:loner", None)
    vault = shared.use("loner")
    assert shared.vault("loner") == vault and vault not in (shared.use("main"), shared.use("other"))


def test_1_1_2_agents_of_an_entry_share_one_physical_store(shared: World) -> None:
    assert shared.use("main") == shared.use("research") == shared.vault("main") == shared.vault("research")
    assert shared.use("clerk") != shared.vault("main")
    assert len(shared.registry.stores()) == 2


@pytest.mark.statement("1.1.3", "1.1.4")
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_1_1_3_an_agent_in_two_stores_has_none_and_the_others_go_on(
    order: tuple[str, str], open_world: Opener
) -> None:
    entries = {"a": "a: {agents: ['main', 'one']}", "b": "b: {agents: ['two', 'main']}"}
    world = open_world("{stores: {" + ", ".join(entries[name] for name in order) + "}}")
    found = world.facts.data.membership("main")
    assert (found.state, found.binding, found.vault) == ("duplicate", "", None)
    assert world.state("one") == world.state("two") == "named"
    assert world.use("one") != world.use("two")
    world.config.write_text("{stores: {a: {agents: ['main', 'one']}, b: {agents: ['two']}}}")
    assert world.vault("main") == world.vault("one")


def test_1_1_7_an_agent_removed_from_the_host_loses_access_and_its_files_stay(world: World) -> None:
    world.host.report(["main", "old"], [])
    world.use("old")
    before, epoch = world.tree(), world.facts._epoch.value
    assert world.host.report(["main"], []).removed == ("old",)
    assert world.state("old") == "removed" and world.vault("old") is None
    assert world.facts._epoch.value > epoch
    assert world.tree() == before
    world.host.report(["main", "old"], [])
    assert world.vault("old") is not None


def test_a_report_that_changes_nothing_raises_no_epoch(world: World) -> None:
    world.host.report(["main"], [])
    epoch = world.facts._epoch.value
    world.host.report(["main"], [{"agent": "main", "sessionKey": "k", "kind": "group"}])
    assert world.facts._epoch.value == epoch


def test_1_1_8_an_edit_of_the_map_holds_at_the_next_look(shared: World) -> None:
    facts, epoch = shared.facts, shared.facts._epoch.value
    assert shared.state("loner") == "own"
    shared.config.write_text(SHARED.replace('"research"', '"loner"'))
    assert facts.data.membership("loner").binding == "named:personal"
    assert facts.data.membership("research").binding == "own:research"
    assert facts._epoch.value == epoch + 1 and facts.data is facts.data
    shared.config.unlink()
    assert facts.data.membership("loner").binding == "own:loner"


def test_an_edit_within_the_same_time_stamp_is_noticed(shared: World) -> None:
    assert shared.state("research") == "named"
    found = shared.config.stat()
    shared.config.write_text(SHARED.replace("research", "resEarch"))
    os.utime(shared.config, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert shared.state("research") == "own"


def test_a_file_that_stays_is_read_once(shared: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lorebank.vaults.assignments.config_file._SETTLED_NS", 0)
    shared.facts.refresh()
    read: list[Path] = []
    inner = facts_module.load_config
    monkeypatch.setattr(facts_module, "load_config", lambda path: read.append(path) or inner(path))
    assert shared.state("main") == shared.state("research") and read == []


@pytest.mark.parametrize("text", ["", "{", "{stores: 1}"])
def test_a_broken_map_closes_everything_until_it_is_mended(text: str, shared: World) -> None:
    shared.use("main")
    before, epoch = shared.tree(), shared.facts._epoch.value
    shared.config.write_text(text)
    data = shared.facts.data
    assert data.problem is not None and data.reason == CONFIG_INVALID
    assert shared.facts._epoch.value > epoch and shared.look().problem == data.problem
    shared.config.write_text(SHARED)
    assert shared.facts.data.problem is None and shared.vault("main") is not None
    assert shared.tree() == before


def test_the_snapshot_is_in_place_before_the_epoch_rises(
    shared: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    epoch = shared.facts._epoch
    inner = epoch.advance

    def advance() -> int:
        seen.append(shared.facts._data.membership("main").state)
        return inner()

    monkeypatch.setattr(epoch, "advance", advance)
    shared.config.write_text("{}")
    assert shared.facts.data.membership("main").state == "own" and seen == ["own"]


def test_the_end_of_a_run_is_known_at_once(world: World) -> None:
    epoch = world.facts._epoch.value
    assert not world.facts.invocation_ended("run-1")
    world.host.end_invocation("run-1")
    assert world.facts.invocation_ended("run-1") and not world.facts.invocation_ended("run-2")
    assert world.facts._epoch.value == epoch + 1


def test_looks_from_many_threads_see_whole_maps(shared: World) -> None:
    wrong: list[str] = []
    texts = [SHARED, SHARED.replace('"main", "research"', '"research"').replace('"bot"', '"main"')]

    def look() -> None:
        for _ in range(50):
            state = shared.facts.data.membership("main").state
            if state != "named":
                wrong.append(state)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(20):
        draft = shared.config.with_suffix(".new")
        draft.write_text(texts[i % 2])
        draft.replace(shared.config)
    for thread in threads:
        thread.join()
    assert wrong == []


def test_1_4_36_the_state_folder_is_the_gateways_where_it_is_named(tmp_path: Path) -> None:
    data = {"LOREBANK_DATA_DIR": str(tmp_path)}
    gateway = data | {"OPENCLAW_STATE_DIR": "/s"}
    assert load(environ=data).knowledge_folder == tmp_path / "knowledge"
    assert load(environ=gateway).knowledge_folder == Path("/s/knowledge")
    assert load(environ=gateway | {"LOREBANK_KNOWLEDGE_DIR": "/k"}).knowledge_folder == Path("/k")


@pytest.mark.statement("1.4.39", "1.4.40")
def test_1_4_39_where_a_store_is_says_the_registry_alone(world: World) -> None:
    world.use("main")
    (row,) = world.registry.stores()
    assert store_folder(world.knowledge, row) == world.knowledge / "stores" / row.vault
    moved = type(row)(row.vault, "/legacy/vault", row.state, None, 1)
    assert store_folder(world.knowledge, moved) == Path("/legacy/vault")


def test_a_passing_trouble_of_the_registry_closes_and_passes(
    shared: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, inner = shared.use("main"), shared.registry.picture

    def troubled() -> RegistryPicture:
        raise Unavailable("another program holds a lock on the store; close it and try again")

    monkeypatch.setattr(shared.registry, "picture", troubled)
    shared.facts.refresh()
    assert shared.facts.data.problem is not None
    monkeypatch.setattr(shared.registry, "picture", inner)
    assert shared.facts.data.problem is None and shared.vault("main") == vault
