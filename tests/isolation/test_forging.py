"""A caller with a tag filter and every right tries to get around it: nothing hidden is shown or changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from access_admin import statement
from access_world import World, ask_of
from live_server import Answer, Client, File, bank_path
from planted import HIDDEN, HIDDEN_DOCUMENTS, OPEN, VISIBLE, Planted, plant, shown, state_of
from wire_walk import ASKS, Ask, Names, in_order, path_of, send

from lorebank.http.routes.all import BINDINGS
from lorebank.service.operations import Scope
from lorebank.service.table import OPERATIONS

_IN_BANK = (Scope.BANK, Scope.NEW_BANK, Scope.BANK_NAME)
QUESTION = f"Who keeps the key of the boathouse {HIDDEN[0]} {HIDDEN[1]}?"


@dataclass(frozen=True)
class Forger:
    """A bank of the test's own, and a client whose policy lets it do everything there, through a filter."""

    bank: str
    planted: Planted
    client: Client
    root: Client

    def post(self, rest: str, body: Any, **query: Any) -> Answer:
        return self.client.request("POST", bank_path(self.bank, rest), body, query=query)

    def get(self, rest: str, **query: Any) -> Answer:
        return self.client.request("GET", bank_path(self.bank, rest), query=query)


_made: list[str] = []


@pytest.fixture
def forger(world: World) -> Iterator[Forger]:
    bank = f"dossier-{len(_made)}"
    _made.append(bank)
    planted = plant(world.root, bank)
    key = world.admin.user(
        f"of-{bank}",
        statement("bank:*", banks=(bank,), recall_tag_groups=OPEN),
        # Without a filter beside it, so that a copy would be readable.
        statement("bank:*", banks=(f"{bank}::*",)),
        # What a filtered caller may not get around by a second, unfiltered statement.
        statement("bank:memories:list", "bank:documents:get", "bank:export", banks=(bank,)),
    )
    client = world.server.client(key)
    yield Forger(bank, planted, client, world.root)
    world.root.request("DELETE", bank_path(bank))


def _told(answer: Answer) -> bytes:
    return answer.body + repr(answer.headers).encode()


def _hides(answer: Answer, what: object = "") -> Answer:
    """The answer, which shows nothing hidden."""
    assert not shown(_told(answer), HIDDEN), (what, answer.status, answer.body[:500])
    assert answer.status < 500, (what, answer.body[:500])
    return answer


# what he asks


def _recalls() -> Iterator[dict[str, Any]]:
    """Every way in which a recall can name tags."""
    for match in ("any", "all", "any_strict", "all_strict", "exact"):
        for tags in (["shut"], ["shared"], ["open", "shut"], [f"tag-{HIDDEN[0]}"], [], ["labels:pending"]):
            yield {"tags": tags, "tags_match": match}
            yield {"tag_groups": [{"tags": tags, "match": match}]}
    for tags in (["shutt"], ["oppen"], ["sharred"], ["tag-"]):
        yield {"tag_groups": [{"tags": tags, "resolve": "fuzzy"}]}
        yield {"tag_groups": [{"not": {"tags": tags, "resolve": "fuzzy"}}]}
    yield {"tag_groups": [{"not": {"tags": ["open"]}}]}
    yield {"tag_groups": [{"not": {"and": [{"tags": ["open"]}, {"tags": ["shared"]}]}}]}
    yield {"tag_groups": [{"or": [{"tags": ["open"]}, {"tags": ["shut"]}, {"tags": [], "match": "exact"}]}]}
    yield {"tag_groups": []}
    yield {"tag_groups": [{"or": [{"tags": ["nothing"]}, {"not": {"tags": ["nothing"]}}]}]}


def test_no_recall_gets_around_the_filter(forger: Forger) -> None:
    everything = {
        "trace": True,
        "max_tokens": 100_000,
        "include": {"entities": {}, "chunks": {}, "source_facts": {}},
    }
    seen = 0
    for more in _recalls():
        for question in ("Who keeps the second key in the boathouse?", "Mara Holm"):
            body = {"query": question, "budget": "mid", **everything, **more}
            answer = _hides(forger.post("/memories/recall", body), more)
            seen += bool(shown(answer.body, VISIBLE))
    assert seen > 20, "what is open must be found, or nothing was tried"


def test_a_recall_for_hidden_words_finds_nothing_of_them(forger: Forger) -> None:
    """The trace may repeat the question; the results may not answer it."""
    body = {"query": QUESTION, "include": {"entities": {}, "chunks": {}}, "trace": True}
    answer = forger.post("/memories/recall", body).ok()
    answer.pop("trace")
    assert not shown(repr(answer).encode(), HIDDEN)


@pytest.mark.parametrize("rest", ["/memories/list", "/documents", "/graph", "/entities", "/entities/graph"])
def test_no_listing_gets_around_the_filter(forger: Forger, rest: str) -> None:
    for match in ("any", "all", "any_strict", "all_strict", "exact"):
        for tags in ("shut", "shared", "open", f"tag-{HIDDEN[0]}", "labels:pending"):
            _hides(forger.get(rest, tags=tags, tags_match=match), (tags, match))
    hidden = forger.planted.hidden
    for name, value in (
        ("q", "boathouse"),
        ("q", "Mara"),
        ("document_id", hidden.document_id),
        ("chunk_id", hidden.chunk_id),
        ("entity_id", hidden.entity_id),
        ("state", "invalidated"),
        ("limit", 1000),
    ):
        _hides(forger.get(rest, **{name: value}), (name, value))


def test_what_is_open_is_listed(forger: Forger) -> None:
    for rest in ("/memories/list", "/graph", "/entities"):
        assert shown(_hides(forger.get(rest)).body, VISIBLE), rest
    documents = _hides(forger.get("/documents", tags_match="any")).json()
    assert [one["id"] for one in documents["items"]] == ["open-doc"] and documents["total"] == 1
    assert _hides(forger.get("/memories/list")).json()["total"] == 1


def test_numbers_and_names_count_only_what_is_open(forger: Forger) -> None:
    tags = _hides(forger.get("/tags")).json()
    assert {one["tag"]: one["count"] for one in tags["items"]} == {"open": 1, "shared": 1}
    for pattern in ("*", "shut*", "tag-*", "labels:*"):
        _hides(forger.get("/tags", q=pattern, source="all"), pattern)
    stats = _hides(forger.get("/stats", refresh="true")).json()
    assert (stats["total_nodes"], stats["total_documents"]) == (1, 1)
    assert _hides(forger.get("/graph")).json()["total_units"] == 1
    entities = _hides(forger.get("/entities/graph")).json()
    assert entities["total_entities"] == _hides(forger.get("/entities")).json()["total"]
    mara = [one for one in _hides(forger.get("/entities")).json()["items"] if "Mara" in one["canonical_name"]]
    assert [one["mention_count"] for one in mara] == [1], "hidden mentions are not counted"
    series = _hides(forger.get("/stats/memories-timeseries", period="1d")).json()
    assert sum(_numbers(series)) <= sum(_numbers(_series_of_one(forger))), "hidden memories are not counted"
    (listed,) = forger.client.get("/v1/default/banks", q=forger.bank)["banks"]
    assert listed["fact_count"] == 1, "the list of banks counts what the caller sees"


def _series_of_one(forger: Forger) -> Any:
    """The same numbers as root sees them for a bank that holds one memory only."""
    bank = f"{forger.bank}-one"
    forger.root.retain(bank, {"content": "Mara Holm keeps one key."})
    found = forger.root.bank(bank, "/stats/memories-timeseries", period="1d")
    forger.root.request("DELETE", bank_path(bank))
    return found


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _numbers(one)
    elif isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


# hidden ids


def _by_hidden_id(planted: Planted) -> Iterator[tuple[str, Names, Names]]:
    """(what, the names with one hidden id, the names with one that never was)."""
    hidden, open = planted.hidden, planted.open
    nothing = "00000000-0000-4000-8000-000000000000"
    yield "memory_id", replace(open, memory_id=hidden.memory_id), replace(open, memory_id=nothing)
    yield "document_id", replace(open, document_id="shut-doc"), replace(open, document_id="never-doc")
    yield "entity_id", replace(open, entity_id=hidden.entity_id), replace(open, entity_id=nothing)
    yield (
        "chunk_id",
        replace(open, chunk_id=hidden.chunk_id),
        replace(open, chunk_id=hidden.chunk_id.replace("shut-doc", "never-doc")),
    )


def test_a_hidden_object_answers_like_one_that_never_was(forger: Forger) -> None:
    before = state_of(forger.root, forger.bank)
    asked = set()
    for field, hidden, never in _by_hidden_id(forger.planted):
        for binding in in_order(BINDINGS):
            if "{" + field not in binding.path or binding.operation not in ASKS:
                continue
            for ask in ASKS[binding.operation](hidden):
                answers = [_answer(forger.client, binding, names, ask) for names in (hidden, never)]
                there, gone = answers
                assert there.status == gone.status == 404, (binding.operation, field, there, gone)
                ids = (getattr(hidden, field), getattr(never, field))
                bodies = [one.body.replace(id.encode(), b"ID") for one, id in zip(answers, ids, strict=True)]
                assert bodies[0] == bodies[1], (binding.operation, field)
                asked.add(binding.operation)
    assert state_of(forger.root, forger.bank) == before
    assert {"get_memory", "update_memory", "get_document", "delete_document", "get_chunk"} <= asked


def _answer(client: Client, binding: Any, names: Names, ask: Ask) -> Answer:
    return client.request(binding.method, path_of(binding, names), ask.body, query=ask.query)


# what he changes


def test_no_route_shows_or_harms_what_is_hidden(forger: Forger) -> None:
    """Every operation on the bank, with every way of asking, the destructive ones last."""
    before = state_of(forger.root, forger.bank)
    for binding in in_order(BINDINGS):
        if OPERATIONS[binding.operation].scope not in _IN_BANK or binding.operation == "delete_bank":
            continue
        for names in (forger.planted.open, forger.planted.hidden):
            for ask in _every_ask(binding.operation, names):
                # The archive in the forger's hands is root's: what he brings himself is his to see.
                if ask.files and ask.files[0].name == "file":
                    continue
                status, told = send(forger.client, binding, path_of(binding, names), ask)
                assert status < 500, (binding.operation, told[:500])
                assert not shown(told, HIDDEN), (binding.operation, status, told[:800])
    assert state_of(forger.root, forger.bank) == before


def _every_ask(operation: str, names: Names) -> list[Ask]:
    return list(ASKS[operation](names)) if operation in ASKS else [ask_of(operation, names)]


def test_nothing_hidden_is_overwritten_under_its_name(forger: Forger) -> None:
    before = state_of(forger.root, forger.bank)
    for document_id in HIDDEN_DOCUMENTS:
        # A document with tags of his that only waits for labels may be continued, not replaced.
        for mode in ("replace",) if document_id == "pending-doc" else ("replace", "append"):
            for wait in (False, True):
                item = {"content": "Nothing was here.", "document_id": document_id, "update_mode": mode}
                answer = _hides(forger.post("/memories", {"items": [item], "async": wait}))
                if answer.status < 300 and wait:
                    for operation in answer.json().get("operation_ids") or [answer.json()["operation_id"]]:
                        forger.root.ended(forger.bank, operation)
    files = [File("files", "a.txt", b"Nothing was here.")]
    fields = {"request": '{"files_metadata": [{"document_id": "shut-doc"}]}'}
    path = bank_path(forger.bank, "/files/retain")
    answer = _hides(forger.client.request("POST", path, files=files, fields=fields))
    for operation in answer.json().get("operation_ids", []) if answer.status < 300 else []:
        forger.root.ended(forger.bank, operation)
    assert state_of(forger.root, forger.bank) == before


def test_an_import_does_not_overwrite_what_is_hidden(forger: Forger) -> None:
    """He brings an archive in which hidden documents have other texts."""
    other = f"{forger.bank}::own"
    for document_id in HIDDEN_DOCUMENTS:
        forger.client.retain(other, {"content": "Nothing was here.", "document_id": document_id})
    archive = forger.client.exported(other)
    before = state_of(forger.root, forger.bank)
    for rest, query in (
        ("/document-transfer", {"on_conflict": "replace"}),
        (
            "/transfer/import",
            {"mode": "merge", "target_bank_id": forger.bank, "document_conflict": "replace"},
        ),
    ):
        files = [File("file", "a.zip", archive, "application/zip")]
        path = bank_path(forger.bank, rest)
        answer = _hides(forger.client.request("POST", path, query=query, files=files))
        if answer.status < 300:
            forger.root.ended(forger.bank, answer.json()["operation_id"])
    assert state_of(forger.root, forger.bank) == before
    forger.root.request("DELETE", bank_path(other))


def test_clearing_clears_only_what_is_open(forger: Forger) -> None:
    before = state_of(forger.root, forger.bank)
    for query in ({}, {"type": "world"}):
        answer = forger.client.request("DELETE", bank_path(forger.bank, "/memories"), query=query)
        assert answer.status in (200, 403), answer
    assert state_of(forger.root, forger.bank) == before


def test_copies_hold_nothing_hidden(forger: Forger) -> None:
    copy = f"{forger.bank}::copy"
    started = forger.post("/clone", None, target_bank_id=copy)
    if started.status < 300:
        forger.root.ended(forger.bank, started.json()["operation_id"])
        if forger.client.request("GET", bank_path(copy, "/profile")).status == 200:
            assert not shown(forger.root.exported(copy), HIDDEN)
    for rest in ("/transfer/export", "/document-transfer/export"):
        for query in ({}, {"document_id": "shut-doc"}, {"include_observations": "true"}):
            answer = forger.client.request("POST", bank_path(forger.bank, rest), query=query)
            assert answer.status in (202, 403, 404), answer
            if answer.status == 202:
                done = forger.client.completed(forger.bank, answer.json()["operation_id"])
                url = done["result_metadata"]["download_url"]
                _hides(forger.client.request("GET", url), query)
    url = f"/v1/default/files/download/{forger.planted.open.file_key}"
    assert _hides(forger.client.request("GET", url)).status == 404, "root's export is not his"
    forger.root.request("DELETE", bank_path(copy))


def test_operations_of_others_are_hidden(forger: Forger) -> None:
    root_own = forger.planted.open.operation_id
    forger.root.retain(
        forger.bank,
        {"content": f"Jonas hid it {HIDDEN[0]}.", "document_id": "more", "tags": ["shut"]},
        **{"async": True},
    )
    listed = _hides(forger.get("/operations")).json()
    assert root_own not in {one["id"] for one in listed["operations"]}
    found = _hides(forger.get(f"/operations/{root_own}", include_payload="true"))
    assert found.status == 404 or found.json()["status"] == "not_found"
    for method, rest in (("DELETE", ""), ("POST", "/retry"), ("DELETE", "/delete")):
        path = bank_path(forger.bank, f"/operations/{root_own}{rest}")
        assert forger.client.request(method, path).status in (403, 404), (method, rest)
    assert forger.root.operation(forger.bank, root_own)["status"] == "completed"


def test_he_cannot_make_hidden_text_open(forger: Forger) -> None:
    """Retagging, reprocessing and editing are all refused for what he does not see."""
    before = state_of(forger.root, forger.bank)
    hidden = forger.planted.hidden
    for document_id in HIDDEN_DOCUMENTS:
        path = bank_path(forger.bank, f"/documents/{document_id}")
        assert forger.client.request("PATCH", path, {"tags": ["open"]}).status == 404
        assert forger.client.request("POST", path + "/reprocess").status == 404
        assert forger.client.request("DELETE", path).status == 404
    path = bank_path(forger.bank, f"/memories/{hidden.memory_id}")
    assert forger.client.request("PATCH", path, {"text": "Nothing.", "reason": "x"}).status == 404
    assert state_of(forger.root, forger.bank) == before
