"""What a grant's tag groups hide is nowhere in the answer of any operation that reads a bank.

Every memory, its document, its entity and its tags carry a canary; what may be seen is worked out from
the tags alone.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from access_house import ROOT, House, allow
from hypothesis import given, settings
from hypothesis import strategies as st

from lorebank.access.actions import writes
from lorebank.access.principal import Principal
from lorebank.errors import Conflict, NotFound
from lorebank.service.table import OPERATIONS
from lorebank.tags import matches, parse_tag_groups

EXEMPT = {
    "get_bank_config": "settings, no memories",
    "export_bank_template": "settings, no memories",
    "get_bank_template_schema": "a fixed schema",
    "get_bank_access": "the caller's own rights",
    "list_bank_aliases": "names of the bank",
    "list_audit_logs": "ids of targets, never content; an action of its own",
    "get_audit_log": "the same",
    "audit_log_stats": "the same",
}
NOBODY = "00000000-0000-4000-8000-000000000000"
COLOURS = ("red", "green", "blue")
TAG_SETS = st.lists(st.sampled_from(COLOURS), max_size=3, unique=True)
_LEAVES = st.fixed_dictionaries(
    {
        "tags": st.lists(st.sampled_from(COLOURS), min_size=1, max_size=2, unique=True),
        "match": st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"]),
    }
)
_GROUPS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"and": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=3,
)
# Each memory: its tags, and which of three documents it is in.
MEMORIES = st.lists(st.tuples(TAG_SETS, st.integers(0, 2)), min_size=1, max_size=6)
READS = (
    *("bank:recall", "bank:stats", "bank:read", "bank:list", "bank:operations:*", "bank:retain"),
    *("bank:export", "bank:clone", "bank:import", "bank:documents:*", "bank:memories:*"),
)


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with tempfile.TemporaryDirectory() as folder:
        made = House(Path(folder) / "data")
        yield made
        made.close()


def fill(house: House, bank: str, memories: list[tuple[list[str], int]]) -> None:
    items = [
        {
            "content": f"The word m{i}q was said at the m{i}q gate by Zork m{i}q.",
            "context": f"context m{i}q",
            "tags": [*tags, f"mark-m{i}q"],
            "document_id": f"doc-d{document}q",
            "metadata": {"note": f"m{i}q"},
            "entities": [{"text": f"Zork m{i}q"}],
        }
        for i, (tags, document) in enumerate(memories)
    ]
    house.retain(bank, *items, who=ROOT)


def walk(house: House, bank: str, who: Principal) -> Iterator[tuple[str, Any]]:
    """(operation, answer) of everything that reads; look-ups are tried for every id there is."""

    def ask(operation: str, body: Any = None, **params: Any) -> Any:
        try:
            return house.call(operation, bank, body, who=who, **params)
        except NotFound:
            return None

    yield "list_memories", ask("list_memories", limit=1000)
    for state in ("valid", "invalidated"):
        yield "list_memories", ask("list_memories", q="q", state=state)
    yield "list_memories", ask("list_memories", tags=list(COLOURS))
    for memory in house.memories(bank):
        yield "get_memory", ask("get_memory", memory_id=memory["id"])
        yield "get_observation_history", ask("get_observation_history", memory_id=memory["id"])
    yield "list_documents", ask("list_documents", limit=1000)
    yield "list_documents", ask("list_documents", q="word")
    for document in house.documents(bank):
        yield "list_memories", ask("list_memories", document_id=document)
        yield "get_document", ask("get_document", document_id=document)
        yield "get_document_history", ask("get_document_history", document_id=document)
        yield "list_document_chunks", ask("list_document_chunks", document_id=document)
        chunks = house.call("list_document_chunks", bank, who=ROOT, document_id=document)["items"]
        for chunk in chunks:
            yield "get_chunk", ask("get_chunk", chunk_id=chunk["chunk_id"])
            yield "get_graph", ask("get_graph", chunk_id=chunk["chunk_id"])
    yield "list_entities", ask("list_entities", limit=1000)
    for entity in house.call("list_entities", bank, who=ROOT, limit=1000)["items"]:
        yield "get_entity", ask("get_entity", entity_id=entity["id"])
        yield "list_memories", ask("list_memories", entity_id=entity["id"])
    yield "get_entity_graph", ask("get_entity_graph", min_count=1, limit=100)
    yield "list_tags", ask("list_tags", limit=1000)
    yield "get_graph", ask("get_graph", limit=1000)
    yield "get_agent_stats", ask("get_agent_stats")
    yield "get_memories_timeseries", ask("get_memories_timeseries", period="1d", time_field="created_at")
    yield "get_bank_profile", ask("get_bank_profile")
    yield "list_banks", [b for b in house.call("list_banks", who=who)["banks"] if b["bank_id"] == bank]
    yield "list_operations", ask("list_operations")
    yield "get_operation_status", ask("get_operation_status", operation_id=NOBODY)
    include = {"chunks": {}, "entities": {}, "source_facts": {}}
    for query in ("the word at the gate", *(f"m{i}q" for i in range(6))):
        body = {"query": query, "include": include, "trace": True, "max_tokens": 10_000}
        answer = ask("recall_memories", body)
        yield "recall_memories", answer | {"query": None}


def numbers(house: House, bank: str, who: Principal) -> dict[str, int]:
    """What is told of how much there is."""

    def call(operation: str, **params: Any) -> Any:
        return house.call(operation, bank, who=who, **params)

    stats = call("get_agent_stats")
    series = call("get_memories_timeseries", period="1d", time_field="created_at")["buckets"]
    (listed,) = [b for b in house.call("list_banks", who=who)["banks"] if b["bank_id"] == bank]
    recalled = house.recall(bank, "the word", who=who, trace=True)
    counts = {
        "memories": call("list_memories", limit=1)["total"],
        "nodes": stats["total_nodes"],
        "series": sum(bucket[kind] for bucket in series for kind in ("world", "experience", "observation")),
        "listed": listed["fact_count"],
        "graph": call("get_graph", limit=1)["total_units"],
        "recall": recalled["trace"]["fusion"]["visible"],
    }
    assert stats["total_documents"] == call("list_documents", limit=1)["total"]
    assert stats["total_entities"] == call("list_entities", limit=1)["total"]
    return counts


def seen_of(memories: list[tuple[list[str], int]], groups: list[Any]) -> tuple[set[int], set[int]]:
    """The memories that may be seen, and the documents of which everything may."""
    filter = parse_tag_groups(groups, "groups")
    seen = {i for i, (tags, _) in enumerate(memories) if matches(filter, [*tags, f"mark-m{i}q"])}
    whole = set()
    for document in {d for _, d in memories}:
        members = [i for i, (_, d) in enumerate(memories) if d == document]
        union = {t for i in members for t in (*memories[i][0], f"mark-m{i}q")}
        if set(members) <= seen and matches(filter, union):
            whole.add(document)
    return seen, whole


def canaries(answer: Any, kind: str) -> set[int]:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
    return {int(number) for number in re.findall(rf"{kind}(\d)q", text)}


_count = iter(range(10**6))


@settings(max_examples=12, deadline=None)
@given(MEMORIES, st.lists(_GROUPS, min_size=1, max_size=2))
def test_no_operation_shows_or_counts_what_is_hidden(house: House, memories: Any, groups: Any) -> None:
    bank = f"bank{next(_count)}"
    fill(house, bank, memories)
    anna = house.user("anna", allow(*READS, recall_tag_groups=groups))
    seen, whole = seen_of(memories, groups)
    shown: set[int] = set()
    for operation, answer in walk(house, bank, anna):
        assert canaries(answer, "m") <= seen, operation
        assert canaries(answer, "d") <= whole, operation
        shown |= canaries(answer, "m")
    assert shown == seen
    assert set(numbers(house, bank, anna).values()) == {len(seen)}
    # Extraction knows the entities of what is visible alone.
    asked = {"content": "yesterday zork m0q and zork m1q and zork m2q met."}
    found = house.call("dry_run_extract_memories", bank, asked, who=anna)
    named = {name for fact in found["facts"] for name in fact["entities"] if re.fullmatch(r"Zork m\dq", name)}
    assert canaries(sorted(named), "m") <= seen


@settings(max_examples=6, deadline=None)
@given(MEMORIES, st.lists(_GROUPS, min_size=1, max_size=2))
def test_exports_and_clones_hold_what_is_visible_alone(house: House, memories: Any, groups: Any) -> None:
    bank = f"bank{next(_count)}"
    fill(house, bank, memories)
    anna = house.user("anna", allow(*READS, recall_tag_groups=groups))
    seen, whole = seen_of(memories, groups)
    for operation in ("export_bank_transfer", "export_documents"):
        sent = house.call(operation, bank, who=anna)["operation_id"]
        assert house.run_jobs(bank) == ["completed"]
        url = house.operation(bank, sent, anna)["result_metadata"]["download_url"]
        with zipfile.ZipFile(io.BytesIO(house.download(url, anna))) as packed:
            text = "".join(packed.read(name).decode("utf-8", "replace") for name in packed.namelist())
        assert canaries(text, "m") <= seen and canaries(text, "d") <= whole
    house.call("clone_bank", bank, who=anna, target_bank_id=f"{bank}-copy")
    assert house.run_jobs(bank) == ["completed"]
    copied = [answer for _, answer in walk(house, f"{bank}-copy", ROOT)]
    assert canaries(copied, "m") == seen and canaries(copied, "d") <= whole


def test_every_reading_operation_is_walked_or_named_here(house: House) -> None:
    fill(house, "all", [(["red"], 0)])
    walked = {operation for operation, _ in walk(house, "all", ROOT)}
    refused = {o.name for o in OPERATIONS.values() if o.handler.__module__.endswith("handlers.reasoning")}
    reading = {o.name for o in OPERATIONS.values() if o.action.startswith("bank:") and not writes(o.action)}
    assert reading - refused - set(EXEMPT) == walked
    assert not set(EXEMPT) & walked


# what was visible in part only


def test_text_that_waits_for_its_labels_is_withheld_from_filtered_callers(house: House) -> None:
    groups = [{"key": "area", "tag": True, "type": "value", "values": [{"value": "harp"}]}]
    house.retain("pending", "First.", who=ROOT)
    house.call("update_bank_config", "pending", {"updates": {"entity_labels": groups}}, who=ROOT)
    house.retain("pending", {"content": "The harp is sold for m1q.", "document_id": "a"}, who=ROOT)
    house.retain("pending", {"content": "The vault code is m2q.", "document_id": "b"}, who=ROOT)
    anna = house.user("anna", allow(*READS, recall_tag_groups=[{"not": {"tags": ["area:vault"]}}]))
    bert = house.user("bert", allow(*READS))
    answers = {who.id: [answer for _, answer in walk(house, "pending", who)] for who in (anna, bert)}
    assert canaries(answers["anna"], "m") == {1} and canaries(answers["bert"], "m") == {1, 2}


def test_earlier_versions_stay_hidden_with_the_tags_that_they_had(house: House) -> None:
    house.retain("edited", {"content": "The code is m1q.", "document_id": "a", "tags": ["secret"]}, who=ROOT)
    [memory] = house.memories("edited")
    house.call("update_memory", "edited", {"text": "The code was changed."}, who=ROOT, memory_id=memory["id"])
    house.call("update_document", "edited", {"tags": ["open"]}, who=ROOT, document_id="a")
    anna = house.user(
        "anna", allow(*READS, "bank:memories:update", recall_tag_groups=[{"not": {"tags": ["secret"]}}])
    )
    detail = house.call("get_memory", "edited", who=anna, memory_id=memory["id"])
    assert detail["text"] == "The code was changed." and canaries(detail, "m") == set()
    history = house.call("get_observation_history", "edited", who=anna, memory_id=memory["id"])
    assert history == []
    changed = house.call("update_memory", "edited", {"context": "c"}, who=anna, memory_id=memory["id"])
    assert canaries(changed, "m") == set()


# writing


def test_a_retain_under_the_id_of_a_hidden_document_changes_and_tells_nothing(house: House) -> None:
    secret = {"content": "The vault code is m1q.", "document_id": "d", "tags": ["vault"]}
    house.retain("writes", secret, who=ROOT)
    before = house.documents("writes"), house.memories("writes")
    anna = house.user("anna", allow(*READS, recall_tag_groups=[{"not": {"tags": ["vault"]}}]))
    for mode in ("replace", "append"):
        mine = {"content": "Mine.", "document_id": "d", "update_mode": mode}
        with pytest.raises(Conflict) as caught:
            house.retain("writes", mine, "Another.", who=anna)
        assert "vault" not in str(caught.value) and "m1q" not in str(caught.value)
        sent = house.retain("writes", mine, who=anna, **{"async": True})["operation_id"]
        [told] = house.run_jobs("writes")
        assert "vault" not in told
        assert house.operation("writes", sent, anna)["status"] == "failed"
    house.send_file("writes", "Mine.", who=anna, document_id="d")
    house.run_jobs("writes")
    for operation in ("delete_document", "reprocess_document", "update_document"):
        body = {"tags": ["open"]} if operation == "update_document" else None
        with pytest.raises(NotFound):
            house.call(operation, "writes", body, who=anna, document_id="d")
    [memory] = before[1]
    with pytest.raises(NotFound):
        house.call(
            "update_memory", "writes", {"state": "invalidated"},
            who=house.user("anna", allow("bank:memories:update", "bank:recall", "bank:memories:delete",
                                         recall_tag_groups=[{"not": {"tags": ["vault"]}}])),
            memory_id=memory["id"],
        )  # fmt: skip
    assert house.call("clear_bank_memories", "writes", who=anna)["deleted_count"] == 0
    assert (house.documents("writes"), house.memories("writes")) == before


def test_a_document_with_something_hidden_in_it_is_added_to_but_not_read_or_deleted(house: House) -> None:
    house.retain(
        "mixed",
        {"content": "The market opens at m0q.", "document_id": "d", "tags": ["open"]},
        {"content": "The vault code is m1q.", "document_id": "d", "tags": ["open", "vault"]},
        who=ROOT,
    )
    anna = house.user("anna", allow(*READS, recall_tag_groups=[{"not": {"tags": ["vault"]}}]))
    answers = [answer for _, answer in walk(house, "mixed", anna)]
    assert canaries(answers, "m") == {0}
    with pytest.raises(NotFound):
        house.call("delete_document", "mixed", who=anna, document_id="d")
    carl = house.user("carl", allow(*READS, recall_tag_groups=[{"tags": ["open"], "match": "exact"}]))
    with pytest.raises(NotFound):
        house.call("get_document", "mixed", who=carl, document_id="d")


def test_a_bank_with_something_hidden_is_not_empty_for_a_restore(house: House) -> None:
    house.retain("full", {"content": "The vault code is m1q.", "tags": ["vault"]}, who=ROOT)
    house.retain("small", "The market opens.", who=ROOT)
    anna = house.user("anna", allow(*READS, recall_tag_groups=[{"not": {"tags": ["vault"]}}]))
    sent = house.call("export_bank_transfer", "small", who=anna)["operation_id"]
    house.run_jobs("small")
    archive = house.download(house.operation("small", sent)["result_metadata"]["download_url"], anna)
    with pytest.raises(Conflict, match="holds memories"):
        house.call("import_bank_transfer", "full", archive, who=anna, target_bank_id="full")
    assert canaries(house.memories("full"), "m") == {1}


def test_an_export_made_under_a_wider_right_is_not_for_a_narrower_one(house: House) -> None:
    house.retain("narrowed", {"content": "The vault code is m1q.", "tags": ["vault"]}, who=ROOT)
    anna = house.user("anna", allow(*READS))
    sent = house.call("export_bank_transfer", "narrowed", who=anna)["operation_id"]
    house.run_jobs("narrowed")
    url = house.operation("narrowed", sent, anna)["result_metadata"]["download_url"]
    assert house.download(url, anna)
    house.user("anna", allow(*READS, recall_tag_groups=[{"not": {"tags": ["vault"]}}]))
    with pytest.raises(NotFound):
        house.download(url, anna)
    again = house.call("export_bank_transfer", "narrowed", who=anna)["operation_id"]
    house.run_jobs("narrowed")
    url = house.operation("narrowed", again, anna)["result_metadata"]["download_url"]
    assert house.download(url, anna) and house.download(url, ROOT)


def test_a_document_whose_labels_wait_can_be_added_to_by_who_may_not_read_it(house: House) -> None:
    groups = [{"key": "area", "tag": True, "type": "value", "values": [{"value": "harp"}]}]
    house.retain("growing", "First.", who=ROOT)
    house.call("update_bank_config", "growing", {"updates": {"entity_labels": groups}}, who=ROOT)
    anna = house.user("anna", allow(*READS, recall_tag_groups=[{"not": {"tags": ["area:vault"]}}]))
    for number, mode in ((1, "replace"), (2, "append"), (3, "append")):
        item = {"content": f"The gate number is m{number}q.", "document_id": "s", "update_mode": mode}
        house.retain("growing", item, who=anna)
        assert canaries([answer for _, answer in walk(house, "growing", anna)], "m") == set()
    assert canaries(house.documents("growing")["s"], "m") == {1, 2, 3}
    house.retain("growing", {"content": "The gate is m4q.", "document_id": "s"}, who=anna)
    assert canaries(house.documents("growing")["s"], "m") == {4}
    assert canaries(house.memories("growing"), "m") == {4}
