"""Banks through the port: making, finding, changing and deleting them, aliases and work marks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from storage_kit import ALL, NOW, Engine, add, memory

from lorebank.access.principal import Principal
from lorebank.errors import Bug, Conflict, Forbidden, NotFound
from lorebank.ids import BankId
from lorebank.storage.ports import MemoryQuery, Page


def test_ids_that_differ_in_case_are_different_banks(engine: Engine) -> None:
    upper, lower = engine.bank("Team"), engine.bank("team")
    assert upper.store_id != lower.store_id
    add(upper, memory("only in Team"))
    with lower.read() as reader:
        assert reader.memories(MemoryQuery(), ALL).total == 0
    assert engine.banks.canonical("TEAM") == "TEAM"
    with pytest.raises(NotFound, match="Bank 'TEAM' not found"):
        engine.banks.open(engine.grant("TEAM"))


@pytest.mark.parametrize("bank_id", ["a/../b", "a%2F", "x::y", "\U0001f600", "b" * 1000, "con", "a'b"])
def test_any_text_can_be_a_bank_id(engine: Engine, bank_id: str) -> None:
    add(engine.bank(bank_id), memory("x"))
    with engine.banks.open(engine.grant(bank_id)).read() as reader:
        assert reader.memories(MemoryQuery(), ALL).total == 1


def test_making_a_bank_twice_at_once_makes_one(engine: Engine) -> None:
    start = threading.Barrier(8)

    def make(_: int) -> str:
        start.wait()
        return engine.bank("shared").store_id

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(make, range(8)))) == 1
    assert engine.banks.listing(engine.grant(None), None, ALL).total == 1


def test_a_deleted_bank_is_gone_for_open_handles_too_and_can_be_made_anew(engine: Engine) -> None:
    old = engine.bank("Team")
    add(old, memory("x"))
    engine.banks.delete(engine.grant("Team"))
    for use in (old.read, old.write):
        with pytest.raises(NotFound, match="Bank 'Team' not found"), use():
            pass
    with pytest.raises(NotFound):
        engine.banks.delete(engine.grant("Team"))
    new = engine.bank("Team")
    assert new.store_id != old.store_id
    with new.read() as reader:
        assert reader.memories(MemoryQuery(), ALL).total == 0


def test_deleting_waits_for_the_write_that_runs(engine: Engine) -> None:
    handle = engine.bank("Team")
    inside, done = threading.Event(), threading.Event()

    def write() -> None:
        with handle.write() as writer:
            writer.add_memories([memory("x")], NOW)
            inside.set()
            assert not done.wait(0.2)

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        inside.wait()
        engine.banks.delete(engine.grant("Team"))
        done.set()
        writing.result()


def test_what_a_bank_is_called_can_be_changed(engine: Engine) -> None:
    handle = engine.bank("Team")
    changes = {"name": "The Team", "mission": "m", "disposition": {"empathy": 5}, "config": {"a": [1]}}
    row = engine.banks.update(engine.grant("Team"), changes, NOW + 1)
    assert (row.name, row.mission, row.config, row.updated_at) == ("The Team", "m", {"a": [1]}, NOW + 1)
    assert engine.banks.open(engine.grant("Team")).bank == row and handle.bank.name == "Team"
    with pytest.raises(NotFound):
        engine.banks.update(engine.grant("none"), changes, NOW)


def test_banks_are_listed_by_id_and_found_by_id_name_and_alias(engine: Engine) -> None:
    for id in ("b", "a", "c"):
        engine.bank(id)
    engine.banks.update(engine.grant("b"), {"name": "Büro"}, NOW)
    engine.banks.put_alias(engine.grant("c"), "Nickname", True)
    server = engine.grant(None)

    def ids(text: str | None, page: Page = ALL) -> list[str]:
        return [row.bank_id for row in engine.banks.listing(server, text, page).rows]

    assert ids(None) == ["a", "b", "c"] == [row.bank_id for row in engine.banks.all_rows(engine.ticket())]
    assert (ids("BÜRO"), ids("nick"), ids(None, Page(1, 1))) == (["b"], ["c"], ["b"])
    assert engine.banks.listing(server, None, Page(1)).total == 3


def test_a_list_of_banks_says_nothing_of_those_that_the_caller_does_not_see(engine: Engine) -> None:
    for id in ("a", "b", "c", "d"):
        engine.bank(id)
    engine.banks.put_alias(engine.grant("b"), "Secret", True)
    engine.banks.put_alias(engine.grant("c"), "secretary", True)
    engine.rules.hidden["guest"] = {"b", "d"}
    guest = engine.grant(None, "guest")

    def listed(text: str | None, page: Page) -> tuple[list[str], int]:
        found = engine.banks.listing(guest, text, page)
        return [row.bank_id for row in found.rows], found.total

    assert listed(None, ALL) == (["a", "c"], 2)
    assert (listed(None, Page(1, 1)), listed(None, Page(1, 2))) == ((["c"], 2), ([], 2))
    assert (listed("secret", ALL), listed("d", ALL)) == ((["c"], 1), ([], 0))
    assert engine.banks.listing(engine.grant(None), "secret", ALL).total == 2
    assert engine.banks.listing(engine.ticket(), None, ALL).total == 4


def test_a_list_of_banks_is_made_anew_when_the_rules_change_while_it_is_made(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for id in ("a", "b", "c"):
        engine.bank(id)
    real = engine.rules.shows

    def change_once(principal: Principal, bank: BankId) -> bool:
        shown = real(principal, bank)
        if bank == "c" and not engine.rules.hidden:
            engine.rules.hidden["guest"] = {"a"}
            engine.directory.epoch.advance()
        return shown

    monkeypatch.setattr(engine.rules, "shows", change_once)
    found = engine.banks.listing(engine.grant(None, "guest"), None, ALL)
    assert ([row.bank_id for row in found.rows], found.total) == (["b", "c"], 2)


def test_aliases_lead_to_their_bank_and_never_shadow_another(engine: Engine) -> None:
    engine.bank("a")
    engine.bank("b")
    a, b = engine.grant("a"), engine.grant("b")
    engine.banks.put_alias(a, "x", False)
    engine.banks.put_alias(a, "y", True)
    engine.banks.put_alias(a, "x", True)
    assert engine.banks.aliases(a) == [("x", True), ("y", False)]
    assert (engine.banks.canonical("x"), engine.banks.canonical("b")) == ("a", "b")
    for alias in ("x", "b"):
        with pytest.raises(Conflict):
            engine.banks.put_alias(b, alias, False)
    with pytest.raises(Conflict):
        engine.bank("x")
    assert not engine.banks.delete_alias(b, "x") and engine.banks.delete_alias(a, "x")
    engine.banks.delete(a)
    assert engine.banks.canonical("y") == "y"


def test_a_mark_stays_when_work_came_in_since_the_handle_was_opened(engine: Engine) -> None:
    early = engine.bank("a")
    engine.banks.mark_work(early, "jobs")
    late = engine.bank("a")
    assert list(engine.banks.marked_work(engine.ticket())) == [("a", "jobs")]
    assert not engine.banks.clear_work(early, "jobs")
    assert engine.banks.clear_work(late, "jobs")
    assert list(engine.banks.marked_work(engine.ticket())) == []
    engine.banks.mark_work(late, "jobs")
    engine.banks.delete(engine.grant("a"))
    assert list(engine.banks.marked_work(engine.ticket())) == []
    with pytest.raises(NotFound):
        engine.banks.mark_work(late, "jobs")


def test_a_grant_without_a_bank_opens_none(engine: Engine) -> None:
    with pytest.raises(Bug):
        engine.banks.open(engine.grant(None))


def test_a_grant_that_no_longer_holds_opens_nothing(engine: Engine) -> None:
    engine.bank("Team")
    grant = engine.grant("Team", "guest")
    engine.rules.denied.add("guest")
    engine.directory.epoch.advance()
    with pytest.raises(Forbidden):
        engine.banks.open(grant)
    with pytest.raises(Forbidden):
        engine.banks.delete(grant)


def test_writes_to_one_bank_from_many_threads_all_arrive(engine: Engine) -> None:
    handle = engine.bank("Team")

    def write(i: int) -> None:
        add(handle, memory(f"fact {i}"))
        with handle.read() as reader:
            assert reader.memories(MemoryQuery(), Page(1)).total >= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    with handle.read() as reader:
        assert reader.memories(MemoryQuery(), Page(1)).total == 40
    assert handle.seq() == 40


def test_a_write_inside_a_write_of_the_same_bank_is_a_bug_not_a_deadlock(engine: Engine) -> None:
    handle = engine.bank("Team")
    with pytest.raises(Bug), handle.write(), handle.write():
        pass
