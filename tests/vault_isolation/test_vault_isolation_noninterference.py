"""What happens in one partition changes no answer in another: no result, score, count, cursor or text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from agents_world import NEVER, ONE, AgentsWorld, Place, talks
from live_server import Answer
from wire_knowledge import attachment, audience
from wire_walk import Ask

PLACES = ("private", "one", "two", "guests", "carol")
_RECALL = re.compile(r'"recallId":"[\w-]+"|"expiresAt":"[^"]+"')


def _answers(agents: AgentsWorld, place: Place) -> list[Any]:
    """Everything that an agent is told of its partition, but for the names of recalls."""
    ids = place.ids
    asks = [
        ("knowledge_search", {"query": "spare key nursery gardener heron harbour", "lifecycle": []}),
        ("knowledge_search", {"query": "key nursery gardener", "limit": 1}),
        ("knowledge_search", {"query": "harbour master"}),
        ("knowledge_search", {"query": "", "kinds": ["claim"], "limit": 2}),
        ("knowledge_search", {"query": "", "from": "2026", "lifecycle": []}),
        ("knowledge_get", {"ids": list(ids.values())}),
        ("knowledge_recall", {"query": "spare key of the harbour master"}),
        ("knowledge_ontology", {}),
        ("knowledge_ontology", {"view": "definitions", "name": "person"}),
        ("knowledge_context", {}),
        *[("knowledge_history", {"id": ids[name], "limit": 1}) for name in ("page", "claim")],
        ("knowledge_relink", {"dryRun": True, "limit": 1}),
        ("knowledge_relink", {"dryRun": True, "include": "all"}),
    ]
    told = []
    for tool, body in asks:
        answer = agents.tool(audience(**place.claims), tool, Ask(body=body))
        assert answer.status == 200, (tool, answer)
        told.append((tool, _RECALL.sub("", answer.body.decode())))
    return told


def _busy(agents: AgentsWorld, place: Place, number: int) -> None:
    """The words, names and types of everybody's records, many times over, in one partition."""
    for n in range(3):
        page = agents.call(
            place,
            "knowledge_save_page",
            type="person",
            title=f"Harbour master {number} {n}",
            aliases=["Mara", f"keeper {number}{n}"],
            tags=["busy"],
            body="The harbour master keeps the spare key of the nursery; gardener, heron.",
        )
        agents.call(
            place,
            "knowledge_remember",
            text=f"Spare key {number} {n} hangs in the harbour.",
            subject=page["id"],
        )
        agents.call(place, "knowledge_remember", text=f"Somebody likes the harbour {number} {n}.")


@pytest.mark.statement("1.5.46", "1.5.48", "1.6.61", "4.1.17")
@pytest.mark.parametrize("watched", ["one", "guests", "private"])
def test_1_5_46_nothing_that_others_do_changes_an_answer(agents: AgentsWorld, watched: str) -> None:
    place = agents.places[watched]
    before = _answers(agents, place)
    for number, name in enumerate(PLACES):
        if name != watched:
            _busy(agents, agents.places[name], number + len(watched) * 10)
    after = _answers(agents, place)
    for old, new in zip(before, after, strict=True):
        assert old == new


@pytest.mark.statement("1.5.46")
def test_a_request_id_belongs_to_its_partition(agents: AgentsWorld) -> None:
    """An id that another partition has used is as free as any: no replay, and no conflict."""
    body = {"text": "The gate squeaks.", "requestId": "everybodys-request"}
    told = []
    for name in PLACES:
        answer = agents.tool(audience(**agents.places[name].claims), "knowledge_remember", Ask(body=body))
        told.append(answer.ok())
    assert len({one["id"] for one in told}) == len(PLACES)
    assert len({one["source"] for one in told}) == len(PLACES)
    assert not any(one["replayed"] for one in told)
    again = agents.tool(audience(**agents.places["one"].claims), "knowledge_remember", Ask(body=body)).ok()
    assert again["replayed"] and again["id"] == told[1]["id"]
    other = {**body, "text": "The gate does not squeak."}
    assert (
        agents.tool(audience(**agents.places["one"].claims), "knowledge_remember", Ask(body=other)).status
        == 409
    )


@pytest.mark.statement("1.5.46", "1.5.47")
def test_a_file_that_others_keep_is_as_new_as_any(agents: AgentsWorld) -> None:
    """Whether the same bytes lie in another partition is not to be seen in the receipt."""

    def receipt(data: bytes, request: str) -> dict[str, Any]:
        claims = agents.places["two"].claims
        told = agents.tool(audience(**claims), "knowledge_attach_file", attachment(data, request_id=request))
        found: dict[str, Any] = told.ok()
        return found

    words = agents.places["private"].words
    known = receipt(f"first line\n{words[0]} {words[1]}file\n".encode(), "known-elsewhere")
    new = receipt(b"bytes that nobody has sent before\n", "new-everywhere")
    assert known.keys() == new.keys() and known["replayed"] is new["replayed"] is False
    assert known["source"] not in agents.places["private"].told()


@pytest.mark.statement("1.1.12", "1.9.81")
def test_the_expected_vault_only_refuses(agents: AgentsWorld) -> None:
    """Another store's id is refused as one that no store has."""

    def sent(vault: str, request: str) -> Answer:
        ask = attachment(b"expected\n", request_id=request, expectedVaultId=vault)
        return agents.tool(audience("main"), "knowledge_attach_file", ask)

    assert sent(agents.places["private"].vault, "mine").status == 200
    theirs, never = sent(agents.places["carol"].vault, "theirs"), sent(NEVER, "never")
    assert theirs.status == never.status >= 400
    assert theirs.body.replace(agents.places["carol"].vault.encode(), NEVER.encode()) == never.body


@pytest.mark.statement("1.4.39", "1.6.57")
def test_a_session_never_becomes_a_path(agents: AgentsWorld) -> None:
    """Names that look like folders are names: each has a partition of its own, below `conversations`."""
    store = agents.server.data_dir / "knowledge" / "stores" / agents.places["private"].vault / "vault"
    names = ("../private", "private", "..", ".", "/etc", "a/b", "\\", ONE.upper(), "x" * 500)
    before = {one.name for one in store.iterdir()}
    for number, session in enumerate(names):
        claims = talks("main", f"group:path-{number}", session)
        agents.tool(audience(**claims), "knowledge_remember", Ask(body={"text": f"The {number}. path."})).ok()
        told = agents.tool(audience(**claims), "knowledge_search", Ask(body={"query": "path"})).json()
        wanted = session != ONE.upper()
        assert not wanted or told["total"] == 1, (session, told)
    assert {one.name for one in store.iterdir()} == before
    assert not list(store.glob("conversations/*/private")) and not (store.parent / "claims").exists()
