"""The authority table of seed 000, row by row: who reaches which partition of which store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from fixed_facts import (
    GROUP,
    NOW,
    SECOND,
    SESSION,
    FixedFacts,
    Recorded,
    agent,
    audience,
    conversation,
    given,
    named,
)
from lorebank.access.actions import KNOWLEDGE_ADMIN, KNOWLEDGE_READ, KNOWLEDGE_RECALL, KNOWLEDGE_SAVE
from lorebank.access.audience import PRIVATE, Audience, Partition
from lorebank.access.grant import Ticket
from lorebank.access.knowledge import KnowledgeData
from lorebank.access.principal import Circumstances, Principal
from lorebank.access.resolve import Decision, Resolver
from lorebank.access.vault_grant import VaultGrant
from lorebank.access.vault_resolve import UNTOLD, VaultResolver
from lorebank.errors import (
    Bug,
    Forbidden,
    LorebankError,
    StoreUnavailable,
    Unauthenticated,
    Unavailable,
    WritesDisabled,
)

BOTH = (KNOWLEDGE_RECALL, KNOWLEDGE_SAVE)
OWNER = Principal("local", "local")
KEYLESS = Principal("local", "local", keyless=True)
ALICE = Principal("user", "alice")


class RoleRules:
    """Policies as a table: (user, action) -> the agents of his role."""

    def __init__(self, **roles: dict[str, tuple[str, ...]]) -> None:
        self.roles = roles

    def decide(self, principal: Principal, action: str, bank: str | None) -> Decision:
        if principal.kind == "local":
            return Decision(allowed=True)
        named_here = self.roles.get(principal.id, {}).get(action, ())
        return Decision(allowed=bank is None or bank.removeprefix("agent:") in named_here, reason="no role")

    def shows(self, principal: Principal, bank: str) -> bool:
        return False


class World:
    """A resolver over facts in memory."""

    def __init__(self, data: KnowledgeData | None = None, **roles: dict[str, tuple[str, ...]]) -> None:
        self.facts = FixedFacts(data or KnowledgeData())
        self.audit = Recorded()
        self.now = NOW
        self.rules = RoleRules(**roles)
        resolver = Resolver(self.rules, self.facts.epoch, self.audit)
        self.vaults = VaultResolver(self.facts, resolver, now=lambda: self.now)

    def ask(self, speaks: Audience, action: str = KNOWLEDGE_RECALL) -> VaultGrant:
        return self.vaults.ask(agent(speaks), action, operation="tool")[0]

    def refusal(self, speaks: Audience, action: str = KNOWLEDGE_RECALL) -> LorebankError:
        with pytest.raises(LorebankError) as said:
            self.ask(speaks, action)
        return said.value

    def operator(self, who: Principal, name: str | None = "main", action: str = KNOWLEDGE_READ) -> VaultGrant:
        return self.vaults.ask_operator(who, action, name, operation="browse")[0]


def refused(work: Callable[[], object], kind: type[LorebankError] = Forbidden) -> str:
    with pytest.raises(kind) as said:
        work()
    assert type(said.value) is kind
    return said.value.message


# agents


@pytest.mark.statement("1.1.1", "1.6.55")
@pytest.mark.parametrize("action", BOTH)
def test_an_owner_private_audience_reaches_the_private_partition(action: str) -> None:
    found = World().ask(audience(), action)
    assert (found.agent, found.binding, found.partition, found.via) == ("main", "own:main", PRIVATE, "owner")
    assert found.may_save and found.may_create and found.vault is None


@pytest.mark.statement("1.3.22", "1.6.56")
@pytest.mark.parametrize("action", BOTH)
def test_a_conversation_without_a_grant_reaches_its_own_partition_only(action: str) -> None:
    found = World().ask(conversation(), action)
    assert (found.partition, found.via, found.may_save) == (Partition(SESSION), "conversation", True)
    assert found.partition.folder == f"conversations/{SESSION}"


def test_1_6_56_a_session_id_that_is_no_uuid_is_never_a_folder() -> None:
    world = World()
    for strange in ("../private", "probe2", "a/b"):
        first, again = (world.ask(conversation(session=strange)).partition for _ in range(2))
        assert first == again and first.session is not None
        assert len(first.session) == 36 and strange not in first.folder


@pytest.mark.statement("1.1.1", "1.1.2", "1.1.13")
def test_the_store_map_says_whose_store_it_is_at_each_call() -> None:
    world = World(KnowledgeData(bindings={"own:main": "v1", "named:team": "v2"}))
    assert (world.ask(audience()).binding, world.ask(audience()).vault) == ("own:main", "v1")
    world.facts.set(stores=named(team=("main", "research")))
    for who in ("main", "research"):
        found = world.ask(audience(agent=who))
        assert (found.binding, found.vault, found.agent) == ("named:team", "v2", who)


@pytest.mark.statement("1.1.3", "1.1.4", "1.9.80")
@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_an_agent_in_two_stores_is_unavailable_for_everything(order: tuple[str, str]) -> None:
    world = World()
    members = {"a": ("main", "one"), "b": ("main", "two")}
    world.facts.set(stores=named(**{name: members[name] for name in order}))
    for action in BOTH:
        for speaks in (audience(), conversation()):
            said = world.refusal(speaks, action)
            assert isinstance(said, StoreUnavailable) and said.reason == "duplicate_membership"
    assert world.ask(audience(agent="one")).binding == "named:a"
    assert world.ask(audience(agent="two")).binding == "named:b"
    world.facts.set(stores=named(a=("one",), b=members["b"]))
    assert world.ask(audience()).binding == "named:b"


def test_1_1_7_an_agent_that_the_host_removed_is_denied() -> None:
    world = World(KnowledgeData(removed=frozenset({"main"}), known=frozenset({"other"})))
    for action in BOTH:
        assert type(world.refusal(audience(), action)) is Forbidden
    assert world.ask(audience(agent="never-reported")).agent == "never-reported"
    world.facts.change(removed=frozenset())
    assert world.ask(audience()).binding == "own:main"


@pytest.mark.statement("1.1.10", "1.9.81")
def test_a_denied_call_tells_nothing_of_the_store_and_records_no_session() -> None:
    data = KnowledgeData(removed=frozenset({"gone"}), bindings={"own:gone": "v1"})
    world = World(data)
    world.facts.set(stores=named(a=("main",), b=("main",)), writes_enabled=False)
    sandboxed = world.refusal(audience(sandboxed=True))
    assert type(sandboxed) is Forbidden
    assert world.refusal(conversation(agent="gone")).message == sandboxed.message
    assert world.refusal(conversation(sandboxed=True), KNOWLEDGE_SAVE).message == "knowledge:save denied"
    assert [one.reason for one in world.audit.events] == [
        "the agent is sandboxed",
        "the host has removed this agent",
        "the agent is sandboxed",
    ], "the audit log tells what the answer does not"
    assert not world.facts.recorded


def test_a_broken_configuration_fails_closed_with_its_reason() -> None:
    world = World(KnowledgeData(problem="line 3 is no JSON5"))
    for reason in ("config_invalid", "needs_recovery"):
        world.facts.change(reason=reason)
        said = world.refusal(audience())
        assert isinstance(said, StoreUnavailable) and (said.reason, said.message) == (
            reason,
            UNTOLD,
        )
    assert world.audit.events[-1].outcome == "failure"


# grants to conversations


@pytest.mark.statement("1.3.23", "1.3.29")
def test_a_read_grant_reads_the_private_partition_and_saves_nowhere() -> None:
    world = World()
    world.facts.grant(given(GROUP, "read"))
    found = world.ask(conversation())
    assert (found.partition, found.via, found.may_save, found.publishes) == (PRIVATE, "granted", False, False)
    said = world.refusal(conversation(), KNOWLEDGE_SAVE)
    assert type(said) is Forbidden and "may read" in said.message


@pytest.mark.statement("1.3.24", "1.3.30")
def test_a_read_and_save_grant_does_both_in_the_private_partition() -> None:
    world = World()
    world.facts.grant(given(GROUP, "read-and-save"))
    reading, saving = (world.ask(conversation(), action) for action in BOTH)
    assert reading.partition == saving.partition == PRIVATE
    assert reading.may_save and not reading.publishes and saving.publishes
    assert saving.agent == "main"  # whom history names


@pytest.mark.parametrize(
    ("key", "covered"),
    [
        ("K", True),
        ("K:", True),
        ("K:topic:9", True),
        ("K2", False),
        ("Kfoo", False),
        ("k", False),
        ("X:K", False),
        ("", False),
    ],
)
def test_1_3_26_a_grant_covers_its_key_and_what_extends_it_with_a_colon(key: str, covered: bool) -> None:
    assert given("K", "read").covers(key) is covered


KEYS = st.lists(st.sampled_from(["a", "b", "ab", ""]), min_size=1, max_size=4).map(":".join).filter(bool)


@pytest.mark.statement("1.3.26", "1.3.27")
@examples(st.dictionaries(KEYS, st.sampled_from(["read", "read-and-save"]), max_size=6), KEYS)
def test_the_longest_covering_grant_wins(grants: dict[str, Any], asked: str) -> None:
    world = World()
    world.facts.grant(*(given(key, access) for key, access in grants.items()))
    parts = asked.split(":")
    prefixes = [":".join(parts[:size]) for size in range(len(parts), 0, -1)]
    access = next((grants[one] for one in prefixes if one in grants), None)
    found = world.ask(conversation(asked))
    assert found.partition == (Partition(SESSION) if access is None else PRIVATE)
    assert found.may_save is (access != "read")


def test_1_3_27_a_narrower_grant_wins_over_a_wider_shorter_one() -> None:
    world = World()
    world.facts.grant(given(GROUP, "read-and-save"), given(f"{GROUP}:topic:9", "read"))
    assert world.ask(conversation()).may_save
    assert not world.ask(conversation(f"{GROUP}:topic:9:x")).may_save
    assert world.ask(conversation(f"{GROUP}:topic:8")).may_save


def test_a_grant_holds_for_its_agent_only() -> None:
    world = World()
    world.facts.grant(given(GROUP, "read-and-save", agent="research"))
    assert world.ask(conversation()).partition == Partition(SESSION)
    assert world.ask(conversation(agent="research")).partition == PRIVATE


def test_1_3_31_a_grant_applies_at_once() -> None:
    world = World()
    assert world.ask(conversation()).via == "conversation"
    world.facts.grant(given(GROUP, "read"))
    assert world.ask(conversation()).via == "granted"
    world.facts.grant()
    assert world.ask(conversation()).via == "conversation"


@pytest.mark.statement("1.3.33", "1.6.59")
def test_access_follows_from_the_audience_alone() -> None:
    """Nothing is reported of any conversation, and claims about the chat change nothing."""
    world = World()
    world.facts.grant(given("agent:main:unheard-of", "read"))
    found = world.ask(conversation("agent:main:unheard-of"))
    assert found.via == "granted"
    speaks = conversation("agent:main:unheard-of")
    chatty = replace(agent(speaks), circumstances=Circumstances(sender="telegram:1", channel="dm", topic="x"))
    again = world.vaults.ask(chatty, KNOWLEDGE_RECALL)[0]
    assert (again.partition, again.binding) == (found.partition, found.binding)


@pytest.mark.statement("1.3.28", "1.6.57")
def test_a_spawned_child_has_the_partition_of_its_root() -> None:
    world = World()
    for root in (audience(), conversation(), conversation(f"{GROUP}:topic:1")):
        world.facts.grant(given(f"{GROUP}:topic:1", "read"))
        child = replace(root, delegated=True, invocation="run-2")
        found, roots = world.ask(child), world.ask(root)
        assert (found.partition, found.via, found.may_save) == (roots.partition, roots.via, roots.may_save)


# denied


@pytest.mark.statement("1.6.58")
@pytest.mark.parametrize("action", BOTH)
def test_missing_stale_and_sandboxed_audiences_are_denied(action: str) -> None:
    world = World()
    for speaks in (conversation(key=""), conversation(session=""), audience(visibility="conversation")):
        assert "missing audience" in refused(partial(world.ask, speaks, action))
    refused(lambda: world.ask(audience(sandboxed=True), action))
    refused(lambda: world.ask(conversation(sandboxed=True, delegated=True), action))
    refused(lambda: world.ask(audience(expires_at=NOW), action), Unauthenticated)
    world.facts.ended.add("run-1")
    assert "ended" in refused(lambda: world.ask(audience(), action))


@pytest.mark.parametrize("who", [OWNER, KEYLESS, ALICE, Principal("unmapped", "_unmapped")])
def test_only_agents_use_the_tools_of_agents(who: Principal) -> None:
    world = World(alice=dict.fromkeys(BOTH, ("main",)))
    for action in BOTH:
        assert "audience" in refused(partial(world.vaults.ask, who, action))
        assert not world.vaults.may(who, action, "main")


def test_an_agent_without_an_audience_or_with_anothers_is_nobody() -> None:
    world = World()
    for who in (Principal("agent", "main"), replace(agent(audience()), id="research")):
        refused(partial(world.vaults.ask, who, KNOWLEDGE_RECALL))


@pytest.mark.statement("1.6.61")
@pytest.mark.parametrize("action", [KNOWLEDGE_READ, KNOWLEDGE_ADMIN, "knowledge:host", "bank:recall", "x"])
def test_an_agents_audience_opens_its_tools_and_nothing_else(action: str) -> None:
    refused(lambda: World().ask(audience(), action))


# writes


def test_with_writes_off_saving_has_one_clear_error_and_reading_makes_nothing() -> None:
    world = World()
    world.facts.set(writes_enabled=False)
    for speaks in (audience(), conversation()):
        assert "writesEnabled" in refused(partial(world.ask, speaks, KNOWLEDGE_SAVE), WritesDisabled)
        found = world.ask(speaks)
        assert not found.may_create and not found.may_save
    assert not world.facts.recorded
    world.facts.set(writes_enabled=True)
    world.ask(conversation())
    assert world.facts.recorded == [SESSION]


# in flight


@pytest.mark.statement("1.6.60")
def test_while_nothing_changes_a_grant_stays_what_it_is() -> None:
    world = World()
    for action in BOTH:
        found = world.ask(conversation(), action)
        assert world.vaults.current(found) is found
        world.facts.change(known=frozenset({"main"}))
        again = world.vaults.current(found)
        assert again == replace_epoch(found, again) and world.vaults.current(again) is again


def replace_epoch(found: VaultGrant, again: VaultGrant) -> Any:
    """What `found` would be at the other's epoch, compared field by field."""

    class Like:
        def __eq__(self, other: object) -> bool:
            names = [name for name in VaultGrant.__slots__ if name not in ("epoch", "basis", "seal")]
            return all(getattr(found, name) == getattr(other, name) for name in names)

    assert again.epoch >= found.epoch
    return Like()


@pytest.mark.statement("1.3.32", "1.6.60")
@pytest.mark.parametrize("action", BOTH)
@pytest.mark.parametrize("after", [(), ("read",)])
def test_a_revoked_or_narrowed_grant_fails_what_is_in_flight(action: str, after: tuple[Any, ...]) -> None:
    world = World()
    world.facts.grant(given(GROUP, "read-and-save"))
    found = world.ask(conversation(), action)
    world.facts.grant(*(given(GROUP, access) for access in after))
    refused(lambda: world.vaults.current(found))
    assert world.audit.events[-1].outcome == "deny"
    world.facts.grant()
    refused(lambda: world.vaults.current(found))
    assert world.ask(conversation(), action).partition == Partition(SESSION)


def test_1_3_32_a_grant_given_meanwhile_does_not_move_what_is_in_flight() -> None:
    world = World()
    found = world.ask(conversation())
    world.facts.grant(given(GROUP, "read"))
    assert "changed" in refused(lambda: world.vaults.current(found))


def test_what_stays_the_same_through_another_grant_goes_on() -> None:
    world = World()
    world.facts.grant(given(GROUP, "read"), given(f"{GROUP}:topic", "read"))
    found = world.ask(conversation(f"{GROUP}:topic"))
    world.facts.grant(given(GROUP, "read"))
    assert world.vaults.current(found).partition == PRIVATE
    world.facts.grant(given(GROUP, "read-and-save"))
    assert world.vaults.current(found).may_save


@pytest.mark.statement("1.6.60", "1.7.67")
@pytest.mark.parametrize("action", BOTH)
def test_an_expired_audience_or_an_ended_invocation_stops_what_is_in_flight(action: str) -> None:
    world = World()
    found = world.ask(audience(), action)
    world.facts.ended.add("run-1")
    assert "ended" in refused(lambda: world.vaults.current(found))
    world.facts.ended.clear()
    world.now = NOW + 60 * SECOND - 1
    assert world.vaults.current(found) is found
    world.now += 1
    refused(lambda: world.vaults.current(found), Unauthenticated)


def test_another_store_or_none_any_more_stops_what_is_in_flight() -> None:
    world = World(KnowledgeData(bindings={"own:main": "v1"}))
    found = world.ask(audience())
    for bindings in ({"own:main": "v2"}, {}):
        world.facts.change(bindings=bindings)
        assert "changed" in refused(lambda: world.vaults.current(found))
    world.facts.change(bindings={"own:main": "v1"})
    assert world.vaults.current(found).vault == "v1"
    world.facts.set(stores=named(team=("main",)))
    refused(lambda: world.vaults.current(found))
    world.facts.change(settings=KnowledgeData().settings, removed=frozenset({"main"}))
    refused(lambda: world.vaults.current(found))
    world.facts.change(problem="broken")
    refused(lambda: world.vaults.current(found), Forbidden)
    world.facts.change(removed=frozenset())
    refused(lambda: world.vaults.current(found), StoreUnavailable)


def test_the_store_that_this_very_use_made_is_no_change() -> None:
    world = World()
    found = world.ask(audience(), KNOWLEDGE_SAVE)
    assert found.vault is None
    world.facts.change(bindings={"own:main": "v1"})
    assert world.vaults.current(found).vault == "v1"
    assert world.vaults.current(found, vault="v1").vault == "v1"
    refused(lambda: world.vaults.current(found, vault="v0"))


def test_writes_that_are_turned_off_stop_a_save_in_flight() -> None:
    world = World()
    found = world.ask(audience(), KNOWLEDGE_SAVE)
    world.facts.set(writes_enabled=False)
    refused(lambda: world.vaults.current(found), WritesDisabled)


# operators


def role(*agents: str, admin: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """A role that may read some agents' knowledge, and administrate others."""
    return {KNOWLEDGE_READ: (*agents, *admin), KNOWLEDGE_ADMIN: admin}


@pytest.mark.statement("1.6.52", "1.6.53", "1.6.54")
def test_an_operator_reads_the_private_partition_of_an_agent_in_his_role() -> None:
    world = World(alice=role("main", "research"))
    world.facts.set(operator_read=True, default_agent="research")
    found = world.operator(ALICE)
    assert (found.agent, found.partition, found.via) == ("main", PRIVATE, "operator")
    assert not (found.may_save or found.may_create or found.publishes) and found.opens
    assert world.operator(ALICE, None).agent == "research"


@pytest.mark.parametrize("dropped", ["role", "operatorRead", "admin"])
def test_1_6_52_each_condition_of_an_operators_read_is_needed(dropped: str) -> None:
    admin = () if dropped == "admin" else ("main",)
    world = World(alice={} if dropped == "role" else role("main", admin=admin))
    world.facts.set(operator_read=dropped != "operatorRead", shared_gateway=True)
    refused(lambda: world.operator(ALICE))
    assert not world.vaults.may(ALICE, KNOWLEDGE_READ, "main")
    assert world.audit.events[-1].outcome == "deny"
    whole = World(alice=role("main", admin=("main",)))
    whole.facts.set(operator_read=True, shared_gateway=True)
    assert whole.operator(ALICE).agent == "main" and whole.vaults.may(ALICE, KNOWLEDGE_READ, "main")
    refused(lambda: whole.operator(ALICE, "research"))


def test_1_6_52_without_a_shared_gateway_reading_alone_will_do() -> None:
    world = World(alice=role("main"))
    world.facts.set(operator_read=True)
    assert world.operator(ALICE).via == "operator"


def test_1_6_52_a_connection_without_a_key_is_no_owner() -> None:
    world = World()
    refused(lambda: world.operator(KEYLESS))
    assert world.operator(OWNER).partition == PRIVATE
    world.facts.set(operator_read=True)
    assert world.operator(KEYLESS).partition == PRIVATE


@pytest.mark.statement("1.3.34", "1.2.21", "1.6.54")
def test_assigning_needs_the_admin_right_on_the_agent_and_opens_nothing() -> None:
    world = World(alice=role("research", admin=("main",)))
    found = world.operator(ALICE, "main", KNOWLEDGE_ADMIN)
    assert not (found.opens or found.may_save or found.publishes or found.may_create)
    refused(lambda: world.operator(ALICE, "research", KNOWLEDGE_ADMIN))
    assert world.vaults.may(ALICE, KNOWLEDGE_ADMIN, "main")
    assert not world.vaults.may(ALICE, KNOWLEDGE_ADMIN, "research")


def test_assigning_works_where_the_map_must_be_mended() -> None:
    world = World(alice=role(admin=("main",)))
    world.facts.set(stores=named(a=("main",), b=("main",)), operator_read=True)
    refused(lambda: world.operator(ALICE), StoreUnavailable)
    assert world.operator(ALICE, "main", KNOWLEDGE_ADMIN).binding == ""
    world.facts.change(problem="broken")
    refused(lambda: world.operator(ALICE), StoreUnavailable)
    assert world.operator(ALICE, "main", KNOWLEDGE_ADMIN).agent == "main"
    refused(lambda: world.operator(Principal("user", "bob")))


def test_an_agent_is_no_operator() -> None:
    world = World()
    world.facts.set(operator_read=True)
    for action in (KNOWLEDGE_READ, KNOWLEDGE_ADMIN):
        refused(partial(world.operator, agent(audience()), "main", action))


def test_what_an_operator_reads_is_withheld_when_his_right_goes_meanwhile() -> None:
    world = World(alice=role("main", admin=("main",)))
    world.facts.set(operator_read=True)
    found = world.operator(ALICE)
    assert world.vaults.current(found) is found
    world.facts.set(shared_gateway=True)
    world.vaults.current(found)
    world.rules.roles = {"alice": role("main")}
    world.facts.epoch.advance()
    refused(lambda: world.vaults.current(found))
    world.rules.roles = {"alice": role("main", admin=("main",))}
    world.facts.set(operator_read=False)
    refused(lambda: world.vaults.current(found))


def test_a_list_of_agents_is_for_all_but_agents_and_for_the_moment() -> None:
    world = World(alice=role("main"))
    found = world.vaults.ask_listing(ALICE, KNOWLEDGE_READ)[0]
    assert not found.binding and world.vaults.current(found) is found
    world.facts.set(operator_read=True)
    refused(lambda: world.vaults.current(found), Unavailable)


# what is written down


def test_every_decision_is_written_down_without_contents() -> None:
    world = World(alice=role("main"))
    world.vaults.resolve(agent(audience(host="gw")), KNOWLEDGE_SAVE, operation="remember")
    world.facts.set(operator_read=True)
    world.vaults.resolve_operator(ALICE, KNOWLEDGE_READ, "main", operation="browse")
    refused(lambda: world.operator(ALICE, "other"))
    world.refusal(audience(sandboxed=True))
    world.vaults.ticket(Ticket.RELINK, "own:main", "v1", PRIVATE)
    rows = [(one.principal, one.action, one.outcome, one.bank, one.operation) for one in world.audit.events]
    assert rows == [
        ("agent:main", KNOWLEDGE_SAVE, "allow", "agent:main", "remember"),
        ("user:alice", KNOWLEDGE_READ, "allow", "agent:main", "browse"),
        ("user:alice", KNOWLEDGE_READ, "deny", "agent:other", "browse"),
        ("agent:main", KNOWLEDGE_RECALL, "deny", "agent:main", "tool"),
        ("local:ticket:relink", "ticket:relink", "allow", None, ""),
    ]
    assert world.audit.durable == [True, False, False, False, False]
    assert world.audit.events[0].client == "gw"


# tickets


def test_a_ticket_ends_when_its_store_is_assigned_otherwise() -> None:
    world = World(KnowledgeData(bindings={"own:main": "v1"}))
    relink, check = (
        world.vaults.ticket(purpose, "own:main", "v1", PRIVATE) for purpose in (Ticket.RELINK, Ticket.CHECK)
    )
    assert relink.publishes and check.opens and not check.publishes and not relink.may_create
    world.facts.change(known=frozenset({"main"}))
    assert world.vaults.current(relink) is relink
    world.facts.set(stores=named(team=("main",)))
    refused(lambda: world.vaults.current(relink))
    assert world.vaults.current(check) is check
    world.facts.change(bindings={"named:team": "v1"})
    refused(lambda: world.vaults.current(check))


def test_a_pass_ends_when_writes_are_turned_off() -> None:
    world = World(KnowledgeData(bindings={"own:main": "v1"}))
    found = world.vaults.ticket(Ticket.RELINK, "own:main", "v1", PRIVATE)
    world.facts.set(writes_enabled=False)
    refused(lambda: world.vaults.current(found))
    assert not world.vaults.ticket(Ticket.RELINK, "own:main", "v1", PRIVATE).publishes


# the grant itself


def test_a_vault_grant_is_made_by_its_resolver_only() -> None:
    found = World().ask(audience())
    fields = {name: getattr(found, name) for name in VaultGrant.__slots__ if name != "seal"}
    for seal in (None, object(), True):
        with pytest.raises(Bug):
            VaultGrant(**fields, seal=seal)
    with pytest.raises(Bug):
        found.__reduce__()
