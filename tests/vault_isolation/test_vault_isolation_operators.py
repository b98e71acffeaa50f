"""Operators: what each of them sees and may do, by rights, role, `operatorRead` and `sharedGateway`; never a
word of a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from access_admin import statement
from agents_world import NEVER, ONE, AgentsWorld, gateway, leaks
from canary import found_in
from live_server import Answer, until
from wire_knowledge import BASE, audience

EVERYBODY = {
    "reads main": [statement("knowledge:read", banks=("agent:main",))],
    "reads all": [statement("knowledge:read", banks=("agent:*",))],
    "reads all but main": [
        statement("knowledge:read"),
        statement("knowledge:read", banks=("agent:main",), effect="deny"),
    ],
    "writes carol": [statement("knowledge:write", banks=("agent:carol",))],
    "administers main": [statement("knowledge:admin", banks=("agent:main",))],
    "administers agents": [statement("knowledge:admin", banks=("agent:*",))],
    "administers all": [statement("knowledge:admin")],
    "speaks for a host": [statement("knowledge:host")],
    "everything in banks": [statement("bank:*", "iam:*", "template:*")],
    "a bank called so": [statement("bank:*", banks=("agent:main",))],
    "nothing": [],
}
READS = {
    "reads main": {"main"},
    "reads all": {"main", "mate", "carol", "new"},
    "reads all but main": {"mate", "carol", "new"},
    "writes carol": {"carol"},
    "administers main": {"main"},
    "administers agents": {"main", "mate", "carol", "new"},
    "administers all": {"main", "mate", "carol", "new"},
    "root": {"main", "mate", "carol", "new"},
}
ADMINISTERS = {
    "administers main": {"main"},
    "administers agents": {"main", "mate", "carol", "new"},
    "administers all": {"main", "mate", "carol", "new"},
    "root": {"main", "mate", "carol", "new"},
}
STORE_OF = {"main": "private", "mate": "private", "carol": "carol"}
AGENTS = ("main", "mate", "carol", "new")
CALLERS = (*EVERYBODY, "root", "gateway's token", "agent")


def _credential(agents: AgentsWorld, name: str) -> str:
    if name == "root":
        return agents.server.key
    if name == "agent":
        return audience("main")
    if name == "gateway's token":
        agents.user("operator-administers-all", *EVERYBODY["administers all"])
        return gateway("web:operator-administers-all")
    return agents.user(f"operator-{name.replace(' ', '-')}", *EVERYBODY[name])


class Operator:
    """One who asks."""

    def __init__(self, agents: AgentsWorld, name: str) -> None:
        self._agents, self._name = agents, name
        self._client = agents.operators

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Answer:
        self._client.use(_credential(self._agents, self._name))
        return self._client.request(method, BASE + path, body, query=query)


def _browses(agents: AgentsWorld, agent: str) -> list[tuple[str, dict[str, Any]]]:
    """Every way to look into an agent's partition, also for what is somewhere else."""
    asks: list[tuple[str, dict[str, Any]]] = [
        (f"/agents/{agent}/records", {}),
        # Other tests fill the store with claims, which come before the pages.
        (f"/agents/{agent}/records", {"kind": "page", "limit": 50}),
        (f"/agents/{agent}/records", {"limit": 50, "q": "spare key nursery gardener"}),
        (f"/agents/{agent}/diagnostics", {}),
    ]
    for place in agents.places.values():
        asks.append((f"/agents/{agent}/records", {"q": place.word}))
        for name in ("page", "source", "relation"):
            asks.append((f"/agents/{agent}/records/{place.ids[name]}", {}))
        asks.append((f"/agents/{agent}/records/{place.ids['page']}/history", {}))
    return asks


@pytest.mark.statement("1.6.52", "1.6.53", "1.6.61", "1.9.81")
@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("name", CALLERS)
def test_who_browses_what(agents: AgentsWorld, name: str, agent: str) -> None:
    operator, allowed = Operator(agents, name), agent in READS.get(name, ())
    seen, refusals = set(), set()
    reached = STORE_OF.get(agent, "") if allowed else ""
    for path, query in _browses(agents, agent):
        answer = operator.ask("GET", path, **query)
        sent = f"{path} {query}"
        assert not leaks(answer, agents.others(reached), sent), (path, query, answer)
        if not allowed:
            assert answer.status == 403, (path, answer)
            refusals.add(answer.body)
            continue
        assert answer.status in (200, 404), (path, answer)
        if reached and found_in(answer.body, agents.places[reached].words):
            seen.add("hits" if "q" in query else path.rsplit("/", 1)[-1])
    assert len(refusals) <= 1, "one refusal, whatever is there"
    if reached:
        assert {"records", "hits", "diagnostics", "history", agents.places[reached].ids["page"]} <= seen


@pytest.mark.statement("1.1.9", "1.9.79")
def test_1_1_9_looking_made_no_store_for_an_unused_agent(agents: AgentsWorld) -> None:
    answer = Operator(agents, "root").ask("GET", "/agents/new/records")
    assert answer.status == 404 and answer.json()["code"] == "not_created"
    known = {one["vaultId"] for one in agents.operate("GET", "/stores").ok()["agents"]}
    assert {one.name for one in (agents.server.data_dir / "knowledge" / "stores").iterdir()} <= known


@pytest.mark.statement("1.2.19", "1.2.21", "1.3.34", "1.6.54", "5.11")
@pytest.mark.parametrize("name", CALLERS)
def test_who_assigns_and_lists_what(agents: AgentsWorld, name: str) -> None:
    operator = Operator(agents, name)
    everything = list(agents.places.values())
    conversations = [place for place in everything if place.name in ("one", "two", "guests")]
    may = ADMINISTERS.get(name, set())
    for agent in AGENTS:
        for method, rest, body in (
            ("GET", "/conversations", None),
            ("GET", "/grants", None),
            ("PUT", "/grants", {"sessionKey": f"agent:{agent}:tried", "access": "save"}),
            ("POST", "/grants/revoke", {"sessionKey": f"agent:{agent}:never"}),
            ("POST", "/share", {"name": "stolen", "agents": ["rose"]} if "*" not in name else {}),
            ("POST", "/use-shared", {"name": "no-such-store"}),
        ):
            if (
                rest == "/share"
                and agent == "new"
                and name in ("administers agents", "administers all", "root")
            ):
                continue  # they may
            if rest in ("/share",) and may and agent != "new":
                body = {"name": "team", "agents": []}
            answer = operator.ask(method, f"/agents/{agent}{rest}", body)
            assert not leaks(answer, conversations) and not found_in(
                answer.body, [word for place in everything for word in place.words]
            ), (agent, rest, answer)
            if agent not in may:
                assert answer.status == 403, (name, agent, rest, answer)
            else:
                assert answer.status not in (401, 403) and answer.status < 500, (name, agent, rest, answer)


@pytest.mark.statement("1.2.19", "1.6.52")
@pytest.mark.parametrize("name", [name for name in CALLERS if name != "agent"])
def test_a_list_of_stores_shows_the_agents_of_a_role_only(agents: AgentsWorld, name: str) -> None:
    answer = Operator(agents, name).ask("GET", "/stores")
    told = answer.ok()
    seen = {one["agent"] for one in told["agents"]}
    role = READS.get(name, set())
    assert role - {"new"} <= seen | {"twin", "rose"}
    assert seen & set(AGENTS) <= role, answer
    if not role & {"main", "mate"}:
        assert agents.places["private"].vault.encode() not in answer.body
    if "carol" not in role:
        assert agents.places["carol"].vault.encode() not in answer.body and b"carol" not in answer.body
    for store in told["stores"]:
        assert set(store["agents"]) & set(AGENTS) <= role, store
    status = Operator(agents, name).ask("GET", "/maintenance")
    assert status.status == 200 and not leaks(status, list(agents.places.values()))


@pytest.mark.statement("1.6.59", "1.6.61")
@pytest.mark.parametrize("name", CALLERS)
def test_who_acts_on_the_server(agents: AgentsWorld, name: str) -> None:
    operator = Operator(agents, name)
    host = name in ("speaks for a host", "root")
    admin = name in ("administers all", "root")
    for method, path, body, may in (
        ("GET", "/host/reviews", None, host),
        ("POST", "/host/invocations/end", {"invocation": f"of {name}"}, host),
        ("POST", f"/host/reviews/{NEVER}/take", None, host),
        ("POST", f"/host/reviews/{NEVER}/answer", {"outcome": "skipped"}, host),
        ("POST", "/import", {"path": "not/absolute"}, admin),
        ("POST", f"/stores/{ONE}/resolve", {"requestId": "x", "keep": "mine"}, admin),
        ("GET", f"/tasks/{NEVER}", None, admin),
    ):
        answer = operator.ask(method, path, body)
        right = answer.status == 403 if not may else answer.status in (200, 400, 404, 422)
        assert right, (name, path, answer)
    if not admin:
        assert operator.ask("POST", "/check", {}).status == 403
        assert operator.ask("POST", "/maintenance/run", {}).status == 403
    if not host:
        assert operator.ask("POST", "/host/report", {"agents": []}).status == 403


@pytest.mark.statement("1.6.53", "1.6.61")
def test_a_check_of_all_stores_tells_nothing_of_what_is_in_them(agents: AgentsWorld) -> None:
    """Not even to root: it is about files, and it looks into conversations too."""
    for path, body in (("/check", {"readAll": True}), ("/maintenance/run", {})):
        task = agents.operate("POST", path, body).ok()["operation_id"]

        def ended(task: str = task) -> Any:
            answer = agents.operate("GET", f"/tasks/{task}")
            return None if b'"processing"' in answer.body else answer

        answer = until(ended, path)
        words = [word for place in agents.places.values() for word in place.words]
        contents = [found for found in found_in(answer.body, words) if "broken" not in found]
        conversations = agents.others("private", "carol")
        assert not contents or not any(found_in(answer.body, one.words) for one in conversations), answer


@pytest.fixture
def settings(agents: AgentsWorld) -> Iterator[AgentsWorld]:
    yield agents
    agents.configure()


@pytest.mark.statement("1.6.52")
@pytest.mark.parametrize("name", ["root", "administers all", "reads all", "reads main", "writes carol"])
def test_1_6_52_nobody_browses_while_operator_read_is_off(settings: AgentsWorld, name: str) -> None:
    settings.configure(operatorRead=False)
    for agent in ("main", "carol", "new"):
        for path, query in _browses(settings, agent)[:7]:
            answer = Operator(settings, name).ask("GET", path, **query)
            assert answer.status == 403, (path, answer)
            assert not leaks(answer, list(settings.places.values()), f"{path} {query}")


@pytest.mark.statement("1.6.52")
@pytest.mark.parametrize("name", ["root", "administers main", "reads all", "reads main", "writes carol"])
def test_a_shared_gateway_needs_administrators(settings: AgentsWorld, name: str) -> None:
    settings.configure(sharedGateway=True)
    for agent in ("main", "carol"):
        answer = Operator(settings, name).ask("GET", f"/agents/{agent}/records")
        may = agent in ADMINISTERS.get(name, ())
        assert answer.status == (200 if may else 403), (agent, answer)
        if not may:
            assert not leaks(answer, list(settings.places.values()))


@pytest.mark.statement("1.6.52", "1.9.80")
def test_a_broken_configuration_opens_nothing(settings: AgentsWorld) -> None:
    settings.config.write_text("{stores: ", encoding="utf-8")
    answer = Operator(settings, "root").ask("GET", "/agents/main/records")
    assert answer.status == 503 and not leaks(answer, list(settings.places.values()))
    denied = Operator(settings, "nothing").ask("GET", "/agents/main/records")
    assert denied.status == 403


@pytest.mark.statement("1.3.34")
def test_1_3_34_a_grant_needs_the_right_on_its_own_agent(agents: AgentsWorld) -> None:
    operator = Operator(agents, "administers main")
    body = {"sessionKey": "agent:carol:group:1", "access": "read"}
    assert operator.ask("PUT", "/agents/carol/grants", body).status == 403
    # Agents that are named besides need the right too.
    shared = operator.ask("POST", "/agents/main/share", {"name": "mine", "agents": ["carol"]})
    assert shared.status in (403, 409), shared
    assert agents.operate("GET", "/agents/carol/grants").ok()["grants"] == []
