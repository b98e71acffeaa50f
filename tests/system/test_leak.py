"""No route, arm or result type of one bank shows anything of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from access_admin import Admin, statement
from canary import canary, found_in
from live_server import Client, Server, bank_path
from wire_admin import ADMIN_ASKS, in_making_order
from wire_knowledge import FINDS_NOTHING, KNOWLEDGE_ASKS
from wire_walk import ASKS, QUESTION, SERVER, Ask, Names, in_order, names_of, path_of, send

from lorebank.http.binding import Binding
from lorebank.http.routes import reasoning
from lorebank.http.routes.all import BINDINGS
from lorebank.service.handlers import iam_templates

_REASONING = {binding.operation for binding in reasoning.BINDINGS}
_TEMPLATES = {operation.name for operation in iam_templates.OPERATIONS}
_TEXT = (
    "Mara Holm keeps the spare key of the heron cottage under the blue pot. "
    "On 15 May 2026 Mara Holm met Jonas Ek at the harbour."
)
SECRET = canary("leak")


def _asks(binding: Binding, names: Names) -> list[Ask]:
    """The requests of a route; none for those that only ask for a language model."""
    made = ASKS.get(binding.operation)
    return [] if made is None else list(made(names))


def _fill(client: Client, bank: str, secret: str) -> None:
    """The same text in every bank; what only this bank knows is in a memory, a tag, an entity and more."""
    tags = ["shared", *([f"tag-{SECRET[0]}"] if secret else [])]
    items: list[dict[str, Any]] = [
        {"content": _TEXT, "document_id": "doc", "timestamp": "2026-05-16T09:00:00Z", "tags": tags},
        {
            "content": f"Mara Holm keeps the second key in the boathouse{secret}.",
            "document_id": "doc2",
            "timestamp": "2026-05-17T09:00:00Z",
            "context": f"keys{secret}",
            "metadata": {"note": f"n{secret}"},
            "tags": tags,
            "entities": [{"text": f"Boathouse{secret}"}],
        },
    ]
    client.retain(bank, *items)
    client.retain(
        bank, {"content": f"Jonas Ek sold the boat{secret}.", "document_id": "doc3"}, **{"async": True}
    )


@pytest.fixture
def two(served: Server, client: Client) -> Iterator[tuple[Names, Names]]:
    """The names of bank A, which knows nothing, and of bank B, which holds the secret."""
    secret = " " + " ".join(SECRET)
    banks = ["leak-a", *(f"leak-x{n}" for n in range(3)), "leak-b"]
    for bank in banks:
        _fill(client, bank, secret if bank == "leak-b" else "")
    client.settled()
    config = {"updates": {"retain_mission": f"Know {SECRET[0]} {SECRET[1]}."}}
    client.request("PATCH", bank_path("leak-b", "/config"), config).ok()
    assert found_in(client.exported("leak-b"), SECRET), "the secret must be there to be looked for"
    yield names_of(client, "leak-a", "doc"), names_of(client, "leak-b", "doc2")
    for bank in [*banks, "leak-a-clone"]:
        client.request("DELETE", bank_path(bank))


def test_every_route_is_walked() -> None:
    known = {*ASKS, *ADMIN_ASKS, *KNOWLEDGE_ASKS, *SERVER, *_REASONING}
    retired = {"update_bank_disposition", "add_bank_background", "regenerate_entity_observations"}
    retired |= {"export_documents_sync_removed"}
    missing = sorted({binding.operation for binding in BINDINGS} - known - retired)
    assert not missing, f"these routes need an entry in wire_walk.ASKS: {missing}"
    assert not sorted({*ASKS, *ADMIN_ASKS, *KNOWLEDGE_ASKS} - {binding.operation for binding in BINDINGS})


@pytest.fixture
def asking(request: pytest.FixtureRequest, served: Server, client: Client) -> Iterator[Client]:
    """A client of root's, or of somebody who may do everything with bank A and nothing elsewhere."""
    if request.param == "root":
        yield client
        return
    admin = Admin(client)
    banks = ("leak-a", "leak-a-too", "leak-a-clone")
    yield served.client(admin.user("owner-of-a", statement("bank:*", banks=banks)))
    admin.send("DELETE", "/users/owner-of-a")
    admin.send("DELETE", "/policies/of-owner-of-a")


@pytest.mark.parametrize("asking", ["root", "owner of bank A"], indirect=True)
def test_no_route_of_one_bank_shows_another(client: Client, asking: Client, two: tuple[Names, Names]) -> None:
    own, other = two
    answered = set()
    for binding in in_order(BINDINGS):
        for ask in _asks(binding, own):
            status, told = send(asking, binding, path_of(binding, own), ask)
            assert status < 500, (binding.operation, told[:500])
            assert not found_in(told, SECRET), f"{binding.operation} of bank A shows bank B"
            assert asking is client or b"leak-b" not in told, f"{binding.operation} names bank B"
            if status < 300:
                answered.add(binding.operation)
    silent = set(ASKS) - answered - {"cancel_operation", "retry_operation"}
    assert not silent, f"these routes were not answered, so they prove nothing: {sorted(silent)}"
    assert found_in(client.exported(other.bank), SECRET), "bank B still has its own"


def test_no_route_of_the_administration_shows_content(client: Client, two: tuple[Names, Names]) -> None:
    """Rules, keys, explanations and audit rows name banks and objects; none repeats what is in them."""
    own, other = two
    client.recall(other.bank, f"{QUESTION} {SECRET[0]} {SECRET[1]}")
    answered = set()
    for binding in in_making_order(BINDINGS):
        status, told = send(client, binding, path_of(binding, own), ADMIN_ASKS[binding.operation])
        assert status < 500, (binding.operation, told[:500])
        assert not found_in(told, SECRET), f"{binding.operation} shows content of a bank"
        if status < 300:
            answered.add(binding.operation)
    silent = set(ADMIN_ASKS) - answered - _TEMPLATES - {"delete_sa_key", "delete_my_sa_key"}
    assert not silent, f"these routes were not answered, so they prove nothing: {sorted(silent)}"


def test_no_route_of_knowledge_shows_content_of_a_bank(client: Client, two: tuple[Names, Names]) -> None:
    """Stores of knowledge and banks know nothing of each other, whoever asks and however they are called."""
    own, _ = two
    for binding in BINDINGS:
        if binding.operation in KNOWLEDGE_ASKS:
            path = path_of(binding, own)
            for agent in ("walk-agent", "leak-b"):
                named = path.replace("walk-agent", agent)
                status, told = send(client, binding, named, KNOWLEDGE_ASKS[binding.operation])
                assert status < 500, (binding.operation, told[:500])
                assert not found_in(told, SECRET), f"{binding.operation} shows content of a bank"
                fine = status < 300 or status in (403, 404, 409) or binding.operation in FINDS_NOTHING
                assert fine, told[:300]


def test_ids_of_one_bank_find_nothing_through_another(client: Client, two: tuple[Names, Names]) -> None:
    own, other = two
    for field in ("memory_id", "document_id", "entity_id", "operation_id"):
        mixed = replace(own, **{field: getattr(other, field)})
        for binding in in_order(BINDINGS):
            if "{bank_id}" not in binding.path or "{" + field not in binding.path:
                continue
            for ask in _asks(binding, mixed):
                _, told = send(client, binding, path_of(binding, mixed), ask)
                assert not found_in(told, SECRET), f"{binding.operation} finds {field} of bank B through A"
    texts = {row["text"] for row in client.memories(other.bank)}
    assert any(SECRET[0] in text for text in texts), "nothing of bank B was changed through bank A"


@pytest.mark.parametrize(
    "arm", ["enable_text_search", "enable_temporal_retrieval", "enable_graph_retrieval", None]
)
def test_no_arm_alone_shows_another_bank(client: Client, two: tuple[Names, Names], arm: str | None) -> None:
    own, _ = two
    switches = ("enable_text_search", "enable_temporal_retrieval", "enable_graph_retrieval")
    updates = {name: name == arm for name in switches}
    client.request("PATCH", bank_path(own.bank, "/config"), {"updates": updates}).ok()
    questions = (QUESTION, f"{SECRET[0]} boathouse", f"{SECRET[1]} Mara Holm in May 2026")
    for question in questions:
        for kind in (None, "world", "experience", "observation"):
            body: dict[str, Any] = {
                "query": question,
                "types": kind and [kind],
                "trace": True,
                "include": {"entities": {}, "chunks": {}, "source_facts": {}},
            }
            answer = client.request("POST", bank_path(own.bank, "/memories/recall"), body).ok()
            trace = answer.pop("trace", None)
            assert not found_in(repr(answer).encode(), SECRET)
            # The trace repeats the question itself.
            assert not found_in(repr(trace).replace(question, "").encode(), ["boathouse" + SECRET[1]])


def test_an_empty_bank_answers_with_an_empty_list(client: Client, two: tuple[Names, Names]) -> None:
    client.request("PUT", bank_path("leak-empty"), {}).ok()
    answer = client.request("POST", bank_path("leak-empty", "/memories/recall"), {"query": QUESTION}).ok()
    assert answer["results"] == []
