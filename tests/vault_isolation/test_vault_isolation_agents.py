"""The authority table of seed 000, row by row, against every tool, over HTTP: what an agent reaches is its
own partition; nothing else shows, and what is elsewhere answers like what never was."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from access_admin import statement
from agents_world import (
    GATEWAY_SECRET,
    NOWHERE,
    ONE,
    AgentsWorld,
    Place,
    gateway,
    leaks,
    plain,
    reads,
    references,
    saves,
    talks,
)
from canary import found_in
from live_server import Answer
from wire_knowledge import audience
from wire_walk import Ask

READ_ONLY = "may read its agent's private knowledge and not change it"
ROOT_ONE = {"visibility": "conversation", "session_key": "agent:main:group:1", "session_id": ONE}
ROOT_OWNER = {"visibility": "owner-private"}
ROOT_READ = {"visibility": "conversation", "session_key": "agent:main:group:r", "session_id": "r"}


@dataclass(frozen=True)
class Caller:
    """Claims of a valid token, the place that it reaches, and whether it saves there."""

    claims: dict[str, Any]
    reaches: str
    saves: bool = True
    everywhere: bool = field(default=False)
    """Whether it asks for each of the other places, and not just for two of them."""


CALLERS = {
    "owner": Caller({"agent": "main"}, "private", everywhere=True),
    "owner of an agent that shares the store": Caller({"agent": "mate"}, "private"),
    "owner of another store": Caller({"agent": "carol"}, "carol", everywhere=True),
    "conversation": Caller(talks("main", "group:1", ONE), "one", everywhere=True),
    "another conversation": Caller(talks("main", "group:2", "chat two/../private"), "two"),
    "conversation of another store in a session of the same id": Caller(
        talks("carol", "group:1", ONE), "guests", everywhere=True
    ),
    "sharing agent in the same session": Caller(talks("mate", "group:1", ONE), "one"),
    "thread of the conversation": Caller(talks("main", "group:1:thread:7", "thread 7"), ""),
    "private folder as a session": Caller(talks("main", "group:5", "../private"), ""),
    "spawned child of the conversation": Caller({"agent": "main", "spawned": True, "root": ROOT_ONE}, "one"),
    "spawned child of the owner": Caller(
        talks("main", "group:2", "z", spawned=True, root=ROOT_OWNER), "private"
    ),
    "read grant": Caller(talks("main", "group:r", "r"), "private", saves=False, everywhere=True),
    "thread of a read grant": Caller(talks("main", "group:r:thread:1", "rt"), "private", saves=False),
    "spawned child of a read grant": Caller(
        {"agent": "main", "spawned": True, "root": ROOT_READ}, "private", saves=False
    ),
    "read-and-save grant": Caller(talks("main", "group:rs", "rs"), "private"),
    "narrower grant on a thread": Caller(talks("main", "group:rs:thread:9", "9"), "private", saves=False),
    "key that only begins like a granted one": Caller(talks("main", "group:r2", "r2"), ""),
    "granted key of another agent": Caller(
        {**talks("carol", "group:r", "r"), "session_key": "agent:main:group:r"}, ""
    ),
}


def _targets(agents: AgentsWorld, caller: Caller) -> list[Place]:
    others = agents.others(caller.reaches)
    return others if caller.everywhere else [one for one in others if one.name in ("private", "one", "carol")]


def _asked(agents: AgentsWorld, caller: Caller, name: str, ask: Ask) -> Answer:
    return agents.tool(audience(**caller.claims), name, ask)


@pytest.mark.statement(
    "1.1.2",
    "1.3.22",
    "1.3.23",
    "1.3.26",
    "1.3.27",
    "1.3.28",
    "1.5.47",
    "1.6.55",
    "1.6.56",
    "1.6.57",
    "1.6.61",
)
@pytest.mark.parametrize("name", CALLERS)
def test_a_caller_is_shown_its_own_partition_and_nothing_of_others(agents: AgentsWorld, name: str) -> None:
    caller, wrong = CALLERS[name], []
    hidden = agents.others(caller.reaches)
    never = {
        (number, tool): plain(_asked(agents, caller, tool, ask), NOWHERE)
        for number, (tool, ask) in enumerate([*reads(NOWHERE), *saves(NOWHERE)])
    }
    for target in _targets(agents, caller):
        for number, (tool, ask) in enumerate([*reads(target), *saves(target)]):
            answer = _asked(agents, caller, tool, ask)
            sent = repr((ask.body, ask.fields))
            wrong += [f"{tool} on {target.name} shows {what}" for what in leaks(answer, hidden, sent)]
            if answer.status >= 500 or plain(answer, target) != never[number, tool]:
                wrong.append(f"{tool} {ask.body} on {target.name}: {answer}, not {never[number, tool]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.statement("1.3.23", "1.3.24", "1.3.29", "1.6.55", "1.6.56", "1.6.57")
@pytest.mark.parametrize("name", [name for name, one in CALLERS.items() if one.reaches])
def test_what_a_caller_reaches_is_found(agents: AgentsWorld, name: str) -> None:
    caller = CALLERS[name]
    place = agents.places[caller.reaches]
    hidden = agents.others(caller.reaches)
    private = caller.reaches in ("private", "carol")
    shows = set()
    for tool, ask in reads(place):
        if "recallId" in ask.body:
            continue
        answer = _asked(agents, caller, tool, ask)
        assert not leaks(answer, hidden, repr(ask.body)), (tool, answer)
        if ask.body.get("view") == "definitions":
            # A conversation's own ontology file means nothing (statement 1.5.48).
            assert (answer.status == 200) is private, (tool, answer)
        else:
            assert answer.status == 200, (tool, answer)
        if found_in(answer.body, place.words):
            shows.add(tool)
    assert shows >= {"knowledge_search", "knowledge_get", "knowledge_recall", "knowledge_history"}
    assert "knowledge_context" in shows


@pytest.mark.statement("1.3.23", "1.3.25", "1.5.47")
@pytest.mark.parametrize("name", CALLERS)
def test_1_5_47_a_reference_into_another_partition_is_like_one_to_nothing(
    agents: AgentsWorld, name: str
) -> None:
    caller, wrong = CALLERS[name], []
    never = [plain(_asked(agents, caller, tool, ask), NOWHERE) for tool, ask in references(NOWHERE)]
    for target in _targets(agents, caller)[:2]:
        for (tool, ask), gone in zip(references(target), never, strict=True):
            answer = _asked(agents, caller, tool, ask)
            if not caller.saves:
                assert answer.status == 403 and READ_ONLY.encode() in answer.body, answer
            if answer.status >= 500 or plain(answer, target) != gone:
                wrong.append(f"{tool} {ask.body}: {answer}, not {gone}")
            wrong += leaks(answer, agents.others(caller.reaches), repr(ask.body))
    assert not wrong, "\n".join(wrong)


def _refused() -> dict[str, tuple[Callable[[AgentsWorld], str | None], int]]:
    """Credentials that open no tool, and the status of each."""

    def agent(**claims: Any) -> Callable[[AgentsWorld], str]:
        return lambda _: audience(**{"agent": "main", **claims})

    def user(*actions: str, banks: tuple[str, ...] = ("*",)) -> Callable[[AgentsWorld], str]:
        name = f"asker-{len(actions)}-{'-'.join(actions)}-{len(banks[0])}".replace(":", "-").replace(
            "*", "all"
        )
        given = [statement(*actions, banks=banks)] if actions else []
        return lambda agents: agents.user(name, *given)

    def mapped(agents: AgentsWorld) -> str:
        agents.user("chief", statement("knowledge:*", "bank:*"))
        return gateway("web:chief")

    other = {"alg": "HS256", "typ": "JWT"}
    talk = talks("main", "group:1", ONE)
    return {
        "sandboxed": (agent(sandboxed=True), 403),
        "sandboxed in a conversation": (agent(**talk, sandboxed=True), 403),
        "sandboxed child": (agent(spawned=True, root=ROOT_OWNER, sandboxed=True), 403),
        "ended invocation": (agent(invocation="ended-run"), 403),
        "removed agent": (agent(agent="ghost"), 403),
        "agent in two stores": (agent(agent="twin"), 503),
        "expired": (agent(now=time.time() - 3600), 401),
        "from the future": (agent(now=time.time() + 3600), 401),
        "for too long": (agent(lifetime=86400), 401),
        "wrong secret": (agent(secret="another secret"), 401),
        "a gateway's secret": (agent(secret=GATEWAY_SECRET), 401),
        "no audience claim": (agent(without=("aud",)), 401),
        "another audience claim": (agent(aud="somebody"), 401),
        "no agent": (agent(without=("agent",)), 401),
        "every agent": (agent(agent="*"), 401),
        "no visibility": (agent(without=("visibility",)), 401),
        "visibility of its own": (agent(visibility="everything"), 401),
        "no invocation": (agent(without=("invocation",)), 401),
        "no token id": (agent(without=("jti",)), 401),
        "no end": (agent(without=("exp",)), 401),
        "conversation without a key": (agent(**talk, without=("session_key",)), 401),
        "conversation without a session": (agent(**talk, without=("session_id",)), 401),
        "spawned without a root": (agent(spawned=True), 401),
        "root without being spawned": (agent(**talk, root=ROOT_OWNER), 401),
        "a root that is no object": (agent(spawned=True, root="owner-private"), 401),
        "a flag that is a word": (agent(spawned="true", root=ROOT_OWNER), 401),
        "the type of another token": (agent(header=other), 401),
        "no algorithm": (agent(header={"alg": "none", "typ": "lorebank-audience"}), 401),
        "gateway's token": (lambda _: gateway("web:nobody"), 403),
        "gateway's token of a user with rights": (mapped, 403),
        "root key": (lambda agents: agents.server.key, 403),
        "user without rights": (user(), 403),
        "user who reads an agent": (user("knowledge:read", banks=("agent:main",)), 403),
        "user who reads all": (user("knowledge:read"), 403),
        "user who writes": (user("knowledge:write"), 403),
        "administrator": (user("knowledge:admin"), 403),
        "user with everything": (user("knowledge:*", "bank:*", "iam:*"), 403),
        "nobody": (lambda _: None, 401),
        "unknown key": (lambda _: "hc_u_main_00000000000000000000000000000000", 401),
    }


REFUSED = _refused()


@pytest.mark.statement("1.1.3", "1.1.7", "1.6.54", "1.6.58", "1.6.59", "1.9.80", "1.9.81")
@pytest.mark.parametrize("name", REFUSED)
def test_no_other_credential_opens_a_tool(agents: AgentsWorld, name: str) -> None:
    """One and the same refusal, whatever is asked for, whether it is there or not."""
    make, status = REFUSED[name]
    told, there, never = set(), dict(_every(agents.places["private"])), dict(_every(NOWHERE))
    for tool in there:
        for ask in (there[tool], never[tool]):
            answer = agents.tool(make(agents), tool, ask)
            assert answer.status == status, (tool, answer)
            assert not leaks(answer, list(agents.places.values()), repr((ask.body, ask.fields))), tool
            told.add(answer.body.replace(b"knowledge:recall", b"A").replace(b"knowledge:save", b"A"))
    assert len(told) == 1, told


def _every(target: Place) -> list[tuple[str, Ask]]:
    return [*reads(target), *saves(target)]


@pytest.mark.statement("1.1.4")
def test_1_1_4_the_others_of_a_store_with_a_double_member_go_on(agents: AgentsWorld) -> None:
    answer = agents.tool(audience("rose"), "knowledge_search", Ask(body={"query": "x"}))
    assert answer.status == 200 and answer.json()["total"] == 0


@pytest.mark.statement("1.1.10")
def test_1_1_10_refused_calls_made_no_store(agents: AgentsWorld) -> None:
    known = {one["agent"]: one["vaultId"] for one in agents.operate("GET", "/stores").ok()["agents"]}
    assert known["twin"] is None and known.get("ghost") is None
    stores = {one.name for one in (agents.server.data_dir / "knowledge" / "stores").iterdir()}
    assert stores == {one for one in known.values() if one}


@pytest.mark.statement("1.1.12")
@pytest.mark.parametrize(
    "given",
    [
        {"store": "team"},
        {"agent": "carol"},
        {"path": "../private"},
        {"scope": {"visibility": "private"}},
        {"vaultId": ONE},
        {"partition": "private"},
        {"sessionId": ONE},
    ],
    ids=lambda given: next(iter(given)),
)
def test_1_1_12_no_tool_takes_a_selector(agents: AgentsWorld, given: dict[str, Any]) -> None:
    claims = talks("main", "group:1", ONE)
    for tool, ask in dict(_every(NOWHERE)).items():
        if tool == "knowledge_attach_file":
            continue
        answer = agents.tool(audience(**claims), tool, Ask(body={**ask.body, **given}))
        assert answer.status == 422, (tool, answer)
        assert not leaks(answer, agents.others("one"), repr(given))
