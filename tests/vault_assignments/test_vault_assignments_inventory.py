"""The settings list: everything there is, nothing made, nothing beyond the role."""

from __future__ import annotations

import pytest
from assignments_kit import OWNER, Opener, World, role

from lorebank.access.reasons import DUPLICATE_MEMBERSHIP, MISSING_DATABASE, MISSING_MANIFEST, MISSING_STORE


@pytest.mark.statement("1.2.19", "1.1.6")
def test_1_2_19_the_list_has_every_agent_and_every_store(shared: World) -> None:
    shared.host.report(["main", "loner", "gone", "fresh"], [])
    shared.host.report(["main", "loner", "fresh"], [])
    own, personal = shared.use("loner"), shared.use("main")
    shared.sharing.use_shared(OWNER, "loner", "personal")
    text = shared.config.read_text()
    start = text.index("team: {")
    shared.config.write_text(
        text[:start] + text[start:].replace("    },\n  },", "    },\n    hall: {},\n  },", 1)
    )
    shared.use("clerk")
    shared.config.write_text(shared.config.read_text().replace("team", "crew"))
    found = shared.look()
    agents = {line.agent: (line.status, line.binding, line.vault, line.reported) for line in found.agents}
    assert agents == {
        "main": ("ok", "named:personal", personal, True),
        "research": ("ok", "named:personal", personal, False),
        "loner": ("ok", "named:personal", personal, True),
        "clerk": ("not_created", "named:crew", None, False),
        "bot": ("not_created", "named:crew", None, False),
        "fresh": ("not_created", "own:fresh", None, True),
        "gone": ("removed", "", None, False),
    }
    stores = {line.binding: (line.use, line.status, line.label, line.agents) for line in found.stores}
    assert stores == {
        "named:personal": ("assigned", "ok", "Personal", ("loner", "main", "research")),
        "named:crew": ("assigned", "not_created", "Team", ("bot", "clerk")),
        "named:hall": ("assigned", "not_created", "hall", ()),
        "named:team": ("unassigned", "ok", None, ()),
        "own:loner": ("unused", "ok", None, ()),
        "own:fresh": ("assigned", "not_created", None, ("fresh",)),
    }
    assert own == next(line.vault for line in found.stores if line.binding == "own:loner")


def test_1_1_5_a_named_store_without_agents_is_in_the_list(open_world: Opener) -> None:
    world = open_world("{stores: {hall: {label: 'Hall', agents: []}}}")
    (line,) = world.look().stores
    assert (line.name, line.label, line.use, line.agents) == ("hall", "Hall", "assigned", ())


def test_1_1_9_looking_makes_no_file(shared: World) -> None:
    before = sorted(shared.root.rglob("*"))
    shared.look()
    shared.grants.granted(OWNER, "main")
    shared.grants.conversations(OWNER, "main")
    assert shared.facts.session_uuid("x", record=False)
    assert sorted(shared.root.rglob("*")) == before and not shared.knowledge.exists()
    shared.host.report(["main"], [])
    shared.look()
    assert not (shared.knowledge / "stores").exists()


@pytest.mark.statement("1.1.11")
def test_1_1_11_a_store_that_lost_something_is_unavailable(shared: World) -> None:
    vault = shared.use("main")
    folder = shared.knowledge / "stores" / vault
    for path, reason in (
        (folder / "state.sqlite", MISSING_DATABASE),
        (folder / "vault" / "vault.json", MISSING_MANIFEST),
        (folder, MISSING_STORE),
    ):
        away = path.with_name("away")
        path.rename(away)
        line = next(line for line in shared.look().agents if line.agent == "main")
        assert (line.status, line.reason, line.vault) == ("unavailable", reason, vault)
        away.rename(path)


def test_a_duplicate_is_shown_as_one(open_world: Opener) -> None:
    world = open_world("{stores: {a: {agents: ['main']}, b: {agents: ['main']}}}")
    (line,) = world.look().agents
    assert (line.status, line.reason, line.binding) == ("duplicate", DUPLICATE_MEMBERSHIP, "")


def test_a_role_sees_the_stores_of_its_agents_and_no_other_name(shared: World) -> None:
    shared.use("loner")
    shared.use("clerk")
    shared.config.write_text(shared.config.read_text().replace("team: {", "hall: {}, crew: {"))
    found = shared.look(role("main", "loner"))
    assert [line.agent for line in found.agents] == ["loner", "main"]
    assert {line.binding: line.agents for line in found.stores} == {
        "named:personal": ("main",),
        "own:loner": ("loner",),
    }
    shown = str(found)
    assert not [
        word for word in ("clerk", "bot", "crew", "hall", "team", "Team", "research") if word in shown
    ]
    assert shared.look(role()).agents == () and shared.look(role()).stores == ()


def test_a_store_that_is_being_made_is_not_created_yet(world: World) -> None:
    world.registry.begin_store("v", "stores/v", "own:main", 1)
    (line,) = world.look().agents
    assert (line.status, line.vault) == ("not_created", "v")
