"""Operations on knowledge pass the guard: resolved, opened, written down, confirmed before they are sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from fixed_facts import GROUP, NOW, SECOND, FixedFacts, Recorded, agent, audience, conversation, given, named
from lorebank import clock
from lorebank.access.actions import (
    KNOWLEDGE_ADMIN,
    KNOWLEDGE_HOST,
    KNOWLEDGE_READ,
    KNOWLEDGE_RECALL,
    KNOWLEDGE_SAVE,
)
from lorebank.access.audience_token import make_token
from lorebank.access.audit import AuditQuery, Origin, event_of
from lorebank.access.authenticate import Authenticator
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision, Resolver
from lorebank.access.signed_token import TokenRules
from lorebank.access.vault_grant import VaultGrant
from lorebank.access.vault_resolve import VaultResolver
from lorebank.config import Settings
from lorebank.errors import Bug, Forbidden, LorebankError, StoreUnavailable, Unavailable
from lorebank.http.app import TRANSPORT, create_app
from lorebank.http.binding import bind
from lorebank.metrics import Metrics
from lorebank.service.guard import Answered, Call, Guard
from lorebank.service.operations import Operation, Scope
from lorebank.storage.ports import Page
from lorebank.storage.sqlite.directory import DataDirectory
from small_directory import SmallDirectory

SECRET = "the-secret-of-the-host-has-many-bytes"
OWNER = Principal("local", "local")
ALICE = Principal("user", "alice")


class Roles:
    """`alice` reads and administrates the agent `main`; the local owner everything."""

    revoked = False

    def decide(self, principal: Principal, action: str, bank: str | None) -> Decision:
        if self.revoked:
            return Decision(allowed=False)
        who = principal.kind == "local" or (principal.id == "alice" and bank in (None, "agent:main"))
        return Decision(allowed=who and principal.kind != "agent")

    def shows(self, principal: Principal, bank: str) -> bool:
        return False


class Handle:
    """A partition that was opened; `broken` is what its check finds."""

    def __init__(self, grant: VaultGrant) -> None:
        self.grant, self.checks = grant, 0
        self.broken: LorebankError | None = None

    def check(self) -> None:
        self.checks += 1
        if self.broken is not None:
            raise self.broken


class Handles:
    """Opens what it is given."""

    def __init__(self) -> None:
        self.opened: list[Handle] = []
        self.refusing: LorebankError | None = None

    def open(self, grant: VaultGrant) -> Handle:
        assert grant.opens
        if self.refusing is not None:
            raise self.refusing
        self.opened.append(Handle(grant))
        return self.opened[-1]


class World:
    """A guard over operations on knowledge."""

    def __init__(self) -> None:
        self.facts = FixedFacts()
        self.audit = Recorded()
        self.vaults = Handles()
        self.meanwhile: Callable[[], None] = lambda: None
        self.roles = Roles()
        resolver = Resolver(self.roles, self.facts.epoch, self.audit)
        vaults = VaultResolver(self.facts, resolver, now=lambda: NOW)
        knowledge = SimpleNamespace(vaults=self.vaults, facts=self.facts, resolver=vaults)
        context: Any = SimpleNamespace(knowledge=knowledge, settings=Settings(), metrics=Metrics())
        operations = (
            Operation("recall", KNOWLEDGE_RECALL, Scope.AUDIENCE, self.tool),
            Operation("save", KNOWLEDGE_SAVE, Scope.AUDIENCE, self.tool),
            Operation("browse", KNOWLEDGE_READ, Scope.AGENT, self.browse),
            Operation("assign", KNOWLEDGE_ADMIN, Scope.AGENT, self.assign),
            Operation("assigned", KNOWLEDGE_ADMIN, Scope.AGENT, self.assign, reads=True),
            Operation("agents", KNOWLEDGE_READ, Scope.AGENTS, self.agents),
        )
        self.guard = Guard(context, resolver, {one.name: one for one in operations})

    def tool(self, call: Call) -> dict[str, Any]:
        self.meanwhile()
        return {"folder": call.vault.grant.partition.folder, "saving": call.vault_grant.publishes}

    def browse(self, call: Call) -> dict[str, Any]:
        assert call.open_vault() is call.open_vault()
        self.meanwhile()
        return {"agent": call.vault_grant.agent, "folder": call.open_vault().grant.partition.folder}

    def assign(self, call: Call) -> dict[str, Any]:
        self.meanwhile()
        return {"agent": call.vault_grant.agent}

    def agents(self, call: Call) -> list[str]:
        may = call.context.knowledge.resolver.may
        who = call.vault_grant.principal
        return [name for name in ("main", "research") if may(who, KNOWLEDGE_READ, name)]

    def answer(self, name: str, who: Principal, **params: str) -> Answered:
        return self.guard.answer(name, who, params=params)

    def run(self, name: str, who: Principal, **params: str) -> Any:
        return self.guard.run(name, who, params=params)


def refused(work: Callable[[], object], kind: type[LorebankError] = Forbidden) -> None:
    with pytest.raises(kind) as said:
        work()
    assert type(said.value) is kind


def test_a_tool_gets_the_partition_of_its_callers_audience() -> None:
    world = World()
    assert world.run("save", agent(audience())) == {"folder": "private", "saving": True}
    talk = world.run("recall", agent(conversation()))
    assert talk["folder"].startswith("conversations/") and not talk["saving"]
    assert [one.checks for one in world.vaults.opened] == [1, 1]


def test_nobody_but_an_agent_gets_near_a_tool() -> None:
    world = World()
    for who in (OWNER, ALICE, Principal("unmapped", "_unmapped")):
        refused(partial(world.run, "recall", who))
    refused(lambda: world.run("browse", agent(audience())))
    refused(lambda: world.run("assign", agent(audience())))
    refused(lambda: world.run("agents", agent(audience())))
    assert not world.vaults.opened


@pytest.mark.statement("1.3.32", "1.6.60", "1.7.67")
@pytest.mark.parametrize("when", ["meanwhile", "before it is sent"])
@pytest.mark.parametrize("name", ["recall", "save"])
def test_a_revoked_grant_withholds_the_answer_that_is_under_way(name: str, when: str) -> None:
    world = World()
    world.facts.grant(given(GROUP, "read-and-save"))
    who = agent(conversation())
    if when == "meanwhile":
        world.meanwhile = world.facts.grant
        refused(lambda: world.run(name, who))
    else:
        answered = world.answer(name, who)
        answered.confirm()
        world.facts.grant()
        refused(answered.confirm)
    assert "conversations/" in World().run(name, who)["folder"]


def test_an_ended_invocation_withholds_the_answer_that_is_under_way() -> None:
    world = World()
    answered = world.answer("recall", agent(audience()))
    world.facts.ended.add("run-1")
    refused(answered.confirm)


def test_1_4_42_a_partition_that_is_not_what_it_was_withholds_the_answer() -> None:
    world = World()
    for name, who in (("recall", agent(audience())), ("browse", OWNER)):
        answered = world.answer(name, who)
        answered.confirm()
        world.vaults.opened[-1].broken = StoreUnavailable("partition_changed", "exchanged")
        refused(answered.confirm, StoreUnavailable)


def test_an_operator_browses_one_agent_or_the_default_one() -> None:
    world = World()
    world.facts.set(operator_read=True)
    assert world.run("browse", ALICE) == {"agent": "main", "folder": "private"}
    assert world.run("browse", ALICE, agent_id="main")["agent"] == "main"
    refused(lambda: world.run("browse", ALICE, agent_id="research"))
    world.facts.set(operator_read=False)
    refused(lambda: world.run("browse", ALICE))


def test_what_an_operator_was_told_is_withheld_when_his_right_goes() -> None:
    world = World()
    world.facts.set(operator_read=True)
    assigned = world.answer("assign", ALICE, agent_id="main")
    browsed, listed = world.answer("browse", ALICE), world.answer("agents", ALICE)
    assert listed.result == ["main"]
    world.facts.set(operator_read=False)
    assigned.confirm()
    refused(browsed.confirm)
    refused(listed.confirm, Unavailable)
    world.roles.revoked = True
    world.facts.epoch.advance()
    refused(assigned.confirm)


def test_an_assignment_is_told_though_it_changes_what_was_decided_on() -> None:
    world = World()
    world.meanwhile = lambda: world.facts.set(stores=named(team=("main",)))
    assert world.run("assign", ALICE, agent_id="main") == {"agent": "main"}


def test_what_happens_is_written_down() -> None:
    world = World()
    world.run("save", agent(audience()))
    world.run("recall", agent(audience()))
    world.vaults.refusing = StoreUnavailable("damaged", "no")
    refused(lambda: world.run("save", agent(audience())), StoreUnavailable)
    rows = [(one.operation, one.outcome, one.bank, one.status) for one in world.audit.events]
    assert rows == [
        ("save", "allow", "agent:main", None),
        ("save", "done", "agent:main", None),
        ("recall", "allow", "agent:main", None),
        ("save", "allow", "agent:main", None),
        ("save", "error", "agent:main", 503),
    ]
    assert world.audit.durable == [True, False, False, True, False]


def test_a_list_of_what_an_action_changes_is_a_read() -> None:
    world = World()
    world.run("assigned", ALICE, agent_id="main")
    assert [(one.operation, one.outcome) for one in world.audit.events] == [("assigned", "allow")]
    assert world.audit.durable == [False]
    answered = world.answer("assigned", ALICE, agent_id="main")
    world.roles.revoked = True
    world.facts.epoch.advance()
    refused(answered.confirm)


@pytest.mark.parametrize(
    ("action", "scope"),
    [
        (KNOWLEDGE_RECALL, Scope.AGENT),
        (KNOWLEDGE_SAVE, Scope.SERVER),
        (KNOWLEDGE_READ, Scope.AUDIENCE),
        (KNOWLEDGE_HOST, Scope.AUDIENCE),
        ("bank:recall", Scope.AGENT),
        ("bank:list", Scope.AGENTS),
    ],
)
def test_an_operation_is_decided_where_its_action_is(action: str, scope: Scope) -> None:
    with pytest.raises(Bug):
        Operation("x", action, scope, lambda call: None)


# over HTTP


def client(world: World, *, no_auth: bool = False, in_process: bool = False) -> httpx.AsyncClient:
    directory = SmallDirectory()
    directory.put_user("alice")
    directory.put_key("hc_u_alice_1", "alice", key_id="k1")
    door = Authenticator(directory, TokenRules((SECRET,)), TokenRules((SECRET,)))
    names = ("recall", "save", "browse")
    bindings = tuple(bind("POST", f"/tools/{name}", name) for name in names)
    settings = Settings(no_auth=no_auth)
    app: Any = create_app(world.guard, door, settings, metrics=Metrics(), bindings=bindings)

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, TRANSPORT: "cli"}, receive, send)

    transport = httpx.ASGITransport(app=inside if in_process else app)
    return httpx.AsyncClient(transport=transport, base_url="http://localhost:8888")


def token(**claims: Any) -> dict[str, str]:
    base = {"agent": "main", "visibility": "owner-private", "invocation": "run-1"}
    return {"Authorization": f"Bearer {make_token(base | claims, SECRET, 60, clock.now())}"}


@pytest.mark.parametrize("no_auth", [False, True])
async def test_a_tool_over_http_needs_an_audience_token(no_auth: bool) -> None:
    world = World()
    async with client(world, no_auth=no_auth) as http:
        assert (await http.post("/tools/recall", headers=token())).json()["folder"] == "private"
        denied = [
            await http.post("/tools/recall"),
            await http.post("/tools/recall", headers=token(sandboxed=True)),
        ]
        assert [one.status_code for one in denied] == [403 if no_auth else 401, 403]
        keyed = await http.post("/tools/recall", headers={"Authorization": "Bearer hc_u_alice_1"})
        assert keyed.status_code == 403
        broken = token()["Authorization"][:-4] + "AAAA"
        assert (await http.post("/tools/recall", headers={"Authorization": broken})).status_code == 401


@pytest.mark.parametrize("no_auth", [False, True])
async def test_a_token_opens_one_request_and_its_repeats(no_auth: bool) -> None:
    world = World()
    async with client(world, no_auth=no_auth) as http:
        once = token()
        for _ in range(2):
            assert (await http.post("/tools/save", headers=once)).status_code == 200
        assert (await http.post("/tools/recall", headers=once)).status_code == 401
        assert (await http.post("/tools/save?again=1", headers=once)).status_code == 401


async def test_an_agents_token_opens_nothing_of_operators_even_without_keys() -> None:
    world = World()
    world.facts.set(operator_read=True)
    async with client(world, no_auth=True) as http:
        assert (await http.post("/tools/browse", headers=token())).status_code == 403
        assert (await http.post("/tools/browse")).status_code == 200


async def test_the_owner_without_a_server_reads_where_the_network_may_not() -> None:
    world = World()
    async with client(world, no_auth=True) as http, client(world, no_auth=True, in_process=True) as owner:
        assert (await http.post("/tools/browse")).status_code == 403
        assert (await owner.post("/tools/browse")).status_code == 200


async def test_1_3_32_nothing_is_served_after_a_revocation() -> None:
    world = World()
    world.facts.grant(given(GROUP, "read"))
    talk = {"visibility": "conversation", "session_key": GROUP, "session_id": "s-1"}
    world.meanwhile = world.facts.grant
    async with client(world) as http:
        answer = await http.post("/tools/recall", headers=token(**talk))
        assert answer.status_code == 403 and "private" not in answer.json().get("folder", "")
        after = await http.post("/tools/recall", headers=token(**talk))
        assert after.json()["folder"].startswith("conversations/")


def test_the_audience_of_a_principal_is_part_of_who_it_is() -> None:
    """Decisions are remembered by principal: two audiences of one agent are never one."""
    one = agent(audience())
    assert one == agent(audience()) and hash(one) == hash(agent(audience()))
    assert one != agent(audience(expires_at=NOW + SECOND)) and one != replace(one, audience=None)


def test_a_banks_audit_tells_nothing_of_an_agent_that_is_called_like_it(tmp_path: Path) -> None:
    who, bank = Principal("user", "alice"), "agent:main"
    with DataDirectory.open(tmp_path / "data") as directory:
        for action in ("bank:recall", KNOWLEDGE_RECALL):
            event = event_of(who, action, "allow", NOW, origin=Origin(), bank=bank)
            directory.audit.record(event, durable=False)
        for on_banks, seen in ((True, {"bank:recall"}), (False, {"bank:recall", KNOWLEDGE_RECALL})):
            query = AuditQuery(bank=bank, on_banks=on_banks)
            assert {row.event.action for row in directory.audit.rows(query, Page(10, 0)).rows} == seen
