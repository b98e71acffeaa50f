"""Share this store, use a shared store, use the own store."""

from __future__ import annotations

import pytest
from assignments_kit import OWNER, SHARED, Opener, World, role

from lorebank.errors import Conflict, Forbidden, InvalidInput, NotFound, StoreUnavailable
from lorebank.vaults.assignments import sharing as sharing_module
from lorebank.vaults.assignments.replace import replace_config


@pytest.mark.statement("1.2.14", "1.2.20")
def test_1_2_14_sharing_renames_the_store_and_copies_nothing(shared: World) -> None:
    vault = shared.use("loner")
    before = shared.tree()
    found = shared.sharing.share(OWNER, "loner", "home", "Our home", ["guest"])
    assert (found.state, found.binding, found.vault) == ("named", "named:home", vault)
    assert shared.vault("guest") == vault
    assert shared.tree() == before and len(shared.registry.stores()) == 1
    assert shared.config.read_text() == SHARED.replace(
        "      ],\n    },\n  },\n",
        '      ],\n    },\n    home: { label: "Our home", agents: ["loner", "guest"] },\n  },\n',
    )
    (row,) = shared.registry.assignments(5)
    assert (row.state, row.by, row.bindings) == ("done", "owner", {"own:loner": None, "named:home": vault})


def test_1_2_15_agents_added_by_sharing_leave_their_named_store(shared: World) -> None:
    shared.sharing.share(OWNER, "loner", "home", None, ["research", "clerk", "loner"])
    stores = shared.facts.data.settings.stores
    assert {name: store.agents for name, store in stores.items()} == {
        "personal": ("main",),
        "team": ("bot",),
        "home": ("loner", "research", "clerk"),
    }
    assert stores["home"].label == "home"
    assert shared.state("research") == shared.state("clerk") == "named"


def test_a_store_that_nobody_has_used_yet_can_be_shared(world: World) -> None:
    assert world.sharing.share(OWNER, "main", "home", None, ["other"]).vault is None
    assert not world.tree()
    assert world.use("other") == world.use("main")


def test_1_2_16_using_a_shared_store_moves_the_membership_only(shared: World) -> None:
    own, personal = shared.use("loner"), shared.use("main")
    before = shared.tree()
    assert shared.sharing.use_shared(OWNER, "loner", "personal").vault == personal
    assert shared.tree() == before
    assert shared.registry.bindings() == {"own:loner": own, "named:personal": personal}
    assert shared.facts.data.settings.stores["personal"].agents == ("main", "research", "loner")
    shared.sharing.use_shared(OWNER, "loner", "team")
    assert shared.facts.data.settings.stores["personal"].agents == ("main", "research")
    assert shared.state("loner") == "named"


def test_1_2_17_the_own_store_is_the_earlier_one_or_a_new_one(shared: World) -> None:
    own = shared.use("loner")
    shared.sharing.use_shared(OWNER, "loner", "personal")
    before = shared.tree()
    assert shared.sharing.use_own(OWNER, "loner").vault == own
    assert shared.sharing.use_own(OWNER, "main").vault is None
    assert shared.tree() == before
    assert shared.use("main") not in (own, shared.registry.bindings().get("named:personal"))
    assert shared.config.read_text() == SHARED.replace('"main", ', "")


def test_1_2_18_who_shared_his_store_away_gets_a_new_empty_one(world: World) -> None:
    vault = world.use("main")
    world.sharing.share(OWNER, "main", "home", None, ["other"])
    found = world.sharing.use_own(OWNER, "main")
    assert (found.binding, found.vault) == ("own:main", None)
    assert world.use("main") != vault and world.vault("other") == vault
    assert len(world.registry.stores()) == 2
    assert world.sharing.use_shared(OWNER, "main", "home").vault == vault


def test_1_1_6_a_removed_entry_keeps_its_store_and_can_be_joined_again(shared: World) -> None:
    vault = shared.use("main")
    before = shared.tree()
    shared.config.write_text("{stores: {}}")
    assert shared.tree() == before and shared.vault("main") is None
    line = next(line for line in shared.look().stores if line.vault == vault)
    assert (line.use, line.name, line.agents) == ("unassigned", "personal", ())
    assert shared.sharing.use_shared(OWNER, "other", "personal", "Mine").vault == vault
    assert shared.facts.data.settings.stores["personal"].label == "Mine" and shared.tree() == before


def test_the_way_out_of_a_duplicate_is_to_choose(open_world: Opener) -> None:
    world = open_world("{stores: {a: {agents: ['main']}, b: {agents: ['main', 'x']}}}")
    assert world.state("main") == "duplicate"
    with pytest.raises(Conflict, match="named store"):
        world.sharing.share(OWNER, "main", "c", None, [])
    assert world.sharing.use_shared(OWNER, "main", "b").binding == "named:b"
    assert world.config.read_text() == "{stores: {a: {agents: []}, b: {agents: ['main', 'x']}}}"


def test_what_cannot_be_is_refused_and_changes_nothing(shared: World) -> None:
    shared.use("main")
    shared.host.report(["main", "gone", "loner"], [])
    shared.host.report(["main", "loner"], [])
    shared.config.write_text(SHARED.replace("team", "crew"))
    before, bindings = shared.config.read_bytes(), shared.registry.bindings()
    share, join = shared.sharing.share, shared.sharing.use_shared
    refusals = [
        (lambda: share(OWNER, "main", "home", None, []), Conflict),
        (lambda: share(OWNER, "loner", "personal", None, []), Conflict),
        (lambda: share(OWNER, "loner", "home", None, ["gone"]), Conflict),
        (lambda: share(OWNER, "gone", "home", None, []), Conflict),
        (lambda: share(OWNER, "loner", " ", None, []), InvalidInput),
        (lambda: share(OWNER, "loner", "x\n", None, []), InvalidInput),
        (lambda: share(OWNER, "loner", "home", "a\tb", []), InvalidInput),
        (lambda: share(OWNER, "loner", "home", None, ["x" * 251]), InvalidInput),
        (lambda: join(OWNER, "loner", "nowhere"), NotFound),
        (lambda: join(OWNER, "gone", "personal"), Conflict),
        (lambda: shared.sharing.use_own(OWNER, "gone"), Conflict),
    ]
    for attempt, kind in refusals:
        with pytest.raises(kind):
            attempt()
    shared.config.write_text("{stores: {}}")
    with pytest.raises(Conflict, match="unassigned"):
        share(OWNER, "loner", "personal", None, [])
    shared.config.write_bytes(before)
    assert shared.config.read_bytes() == before and shared.registry.bindings() == bindings
    assert shared.registry.assignments(9) == []


def test_a_role_reaches_its_own_agents_only(shared: World) -> None:
    mine = role("loner", "main")
    with pytest.raises(Forbidden):
        shared.sharing.share(mine, "loner", "home", None, ["clerk"])
    with pytest.raises(Forbidden):
        shared.sharing.use_own(mine, "clerk")
    with pytest.raises(NotFound):
        shared.sharing.use_shared(mine, "loner", "team")
    assert shared.sharing.use_shared(mine, "loner", "personal").state == "named"


def test_nothing_to_change_leaves_file_and_journal_alone(shared: World) -> None:
    inode = shared.config.stat().st_ino
    shared.sharing.use_own(OWNER, "loner")
    shared.sharing.use_shared(OWNER, "main", "personal")
    assert shared.config.stat().st_ino == inode and shared.registry.assignments(5) == []


def test_a_broken_configuration_is_not_edited(shared: World) -> None:
    shared.config.write_text("{stores:")
    with pytest.raises(StoreUnavailable):
        shared.sharing.use_own(OWNER, "main")
    assert shared.config.read_text() == "{stores:"


def test_an_edit_by_hand_in_the_last_moment_wins(shared: World, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = shared.use("loner")
    epoch = shared.facts._epoch.value

    def late(*arguments: object) -> None:
        shared.config.write_text("{stores: {mine: {agents: ['x']}}}")
        replace_config(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sharing_module, "replace_config", late)
    with pytest.raises(Conflict, match="changed by somebody else"):
        shared.sharing.share(OWNER, "loner", "home", None, [])
    assert shared.registry.open_assignment() is None and shared.facts._epoch.value > epoch
    assert shared.registry.assignments(1)[0].state == "cancelled"
    assert shared.registry.bindings() == {"own:loner": vault}
    assert list(shared.facts.data.settings.stores) == ["mine"]


def test_a_store_made_while_sharing_is_planned_is_the_one_that_is_shared(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = world.registry.plan_assignment
    made: list[str] = []

    def plan(row: object) -> None:
        if not made:
            made.append(world.use("main"))
        inner(row)  # type: ignore[arg-type]

    monkeypatch.setattr(world.registry, "plan_assignment", plan)
    assert world.sharing.share(OWNER, "main", "home", None, ["other"]).vault == made[0]
    assert world.registry.bindings() == {"named:home": made[0]}


def test_between_file_and_registry_nobody_finds_a_store_without_its_data(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = world.use("main")
    seen: list[str | None] = []
    inner = world.registry.settle_assignment

    def settle(*arguments: object) -> None:
        seen.append(world.vault("other"))
        with pytest.raises(StoreUnavailable):
            world.registry.begin_store("new", "stores/new", "named:home", 1)
        inner(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(world.registry, "settle_assignment", settle)
    world.sharing.share(OWNER, "main", "home", None, ["other"])
    assert seen == [vault] and world.vault("main") == vault
