"""Documents through the port: chunks, history, retagging, and memories that live by their sources."""

from __future__ import annotations

from dataclasses import replace

from storage_kit import ALL, NOW, SECOND, add, chunk, document, memory, texts

from lorebank.storage.ports import BankHandle, DocumentQuery, MemoryQuery, Page
from lorebank.storage.rows import DocumentEvent
from lorebank.tags import Leaf


def test_a_document_comes_back_as_it_was_written(bank: BankHandle) -> None:
    new = replace(document("a/b::ü", tags=("t",), text="Some text"), observation_scopes=[["t"]])
    with bank.write() as writer:
        writer.put_document(new)
    add(bank, memory("x", document_id="a/b::ü"))
    with bank.read() as reader:
        assert reader.document("a/b::ü") == replace(new, memory_count=1)
        assert reader.document("A/B::ü") is None
        (listed,) = reader.documents(DocumentQuery(), ALL).rows
        assert listed == replace(new, text=None, memory_count=1)


def test_replacing_a_document_keeps_its_chunks_and_memories(bank: BankHandle) -> None:
    add(bank, memory("x", document_id="d", chunk_id="c"))
    with bank.write() as writer:
        writer.put_document(document("d", text="new text", at=NOW + 1))
    with bank.read() as reader:
        kept = reader.document("d")
        assert kept is not None and (kept.text, kept.memory_count) == ("new text", 1)
        assert [c.chunk_id for c in reader.chunks("d", ALL).rows] == ["c"]


def test_listing_is_latest_update_first_and_restricts(bank: BankHandle) -> None:
    with bank.write() as writer:
        writer.put_document(document("old", tags=("a",), text="Grüße"))
        writer.put_document(document("new", at=NOW + SECOND, text="other"))
    with bank.read() as reader:

        def ids(query: DocumentQuery) -> list[str]:
            return [d.id for d in reader.documents(query, ALL).rows]

        assert ids(DocumentQuery()) == ["new", "old"]
        assert ids(DocumentQuery(text="GRÜSSE")) == ["old"]
        assert ids(DocumentQuery(tags=Leaf(("a",), "any_strict"))) == ["old"]
        assert ids(DocumentQuery(time_field="created_at", start=NOW + 1)) == ["new"]
        assert reader.documents(DocumentQuery(), Page(1, 1)).total == 2
        matches = reader.documents_matching_text(["old", "new", "none"], "OLD")
        assert matches == {"old": ["id"], "new": []}
        assert reader.documents_matching_text(["new"], "other") == {"new": ["original_text"]}


def test_chunks_are_in_order_and_replaced_by_id(bank: BankHandle) -> None:
    with bank.write() as writer:
        writer.put_document(document("d"))
        writer.put_chunks([chunk("c2", "d", 1), chunk("c1", "d", 0)])
        writer.put_chunks([replace(chunk("c2", "d", 1), text="changed")])
    with bank.read() as reader:
        page = reader.chunks("d", ALL)
        assert [(c.chunk_id, c.text) for c in page.rows] == [("c1", "text of c1"), ("c2", "changed")]
        assert reader.chunks("d", Page(1, 1)).rows[0].chunk_id == "c2" and page.total == 2
        assert reader.chunk("c1") == chunk("c1", "d", 0) and reader.chunk("nope") is None
        assert list(reader.chunks_by_id(["c2", "nope"])) == ["c2"]


def test_a_memory_goes_with_its_last_source(bank: BankHandle) -> None:
    shared = memory("Anna likes tea.", document_id="d1", chunk_id="c1")
    alone = memory("only here", document_id="d1", chunk_id="c1")
    add(bank, shared, alone)
    add(bank, memory("Anna likes tea.", document_id="d2", chunk_id="c2"))
    with bank.write() as writer:
        assert writer.remove_chunks(["c1", "nope"]) == 1
    with bank.read() as reader:
        left = reader.memory(shared.id)
        assert left is not None
        assert (left.proof_count, left.document_id, left.chunk_id) == (1, "d2", "c2")
        assert reader.memory(alone.id) is None and reader.chunk("c1") is None
        assert reader.document("d1") is not None
    with bank.write() as writer:
        assert writer.delete_document("d2") == 1
        assert writer.delete_document("d2") == 0
    with bank.read() as reader:
        assert reader.memories(MemoryQuery(), ALL).total == 0
        assert reader.document("d2") is None and reader.chunk("c2") is None


def test_history_is_newest_first_and_goes_with_the_document(bank: BankHandle) -> None:
    events = [DocumentEvent("d", kind, NOW + i, facts_added=i) for i, kind in enumerate(("retain", "append"))]
    with bank.write() as writer:
        writer.put_document(document("d"))
        for event in [*events, DocumentEvent("missing", "retain", NOW)]:
            writer.add_document_event(event)
    with bank.read() as reader:
        assert reader.document_events("d", ALL).rows == events[::-1]
        assert reader.document_events("d", Page(1, 1)).rows == events[:1]
        assert reader.document_events("missing", ALL).total == 0
    with bank.write() as writer:
        writer.delete_document("d")
        writer.put_document(document("d"))
    with bank.read() as reader:
        assert reader.document_events("d", ALL).total == 0


def test_fact_types_count_what_rests_on_the_document(bank: BankHandle) -> None:
    add(bank, memory("a", document_id="d"), memory("b", document_id="d", fact_type="experience"), memory("c"))
    with bank.read() as reader:
        assert reader.fact_types_of_document("d") == {"world": 1, "experience": 1}
        assert reader.fact_types_of_document("none") == {}


def test_retagging_keeps_the_tags_beyond_the_documents_own(bank: BankHandle) -> None:
    with bank.write() as writer:
        writer.put_document(document("d", tags=("team:x",)))
        new = memory("a", document_id="d", tags=("team:x", "labels:pending"))
        writer.add_memories([new], NOW)
    with bank.write() as writer:
        assert writer.retag_document("d", ("team:y",), NOW + 1) == 1
        assert writer.retag_document("d", ("team:y",), NOW + 2) == 0
        assert writer.retag_document("none", ("team:y",), NOW) == 0
    with bank.read() as reader:
        retagged = reader.memory(new.id)
        assert retagged is not None and retagged.tags == ("labels:pending", "team:y")
        kept = reader.document("d")
        assert kept is not None and kept.tags == ("team:y",)


def test_retagging_leaves_other_documents_their_share_of_a_memory(bank: BankHandle) -> None:
    for id in ("d1", "d2"):
        with bank.write() as writer:
            writer.put_document(document(id, tags=("public",)))
        add(bank, memory("Anna likes tea.", document_id=id, tags=("public",)))
    with bank.write() as writer:
        writer.retag_document("d1", ("secret",), NOW)
    with bank.read() as reader:
        found = {m.document_id: (m.tags, m.proof_count) for m in reader.memories(MemoryQuery(), ALL).rows}
    assert found == {"d1": (("secret",), 1), "d2": (("public",), 1)}
    with bank.write() as writer:
        writer.retag_document("d2", ("secret",), NOW)
    with bank.read() as reader:
        (merged,) = reader.memories(MemoryQuery(), ALL).rows
        assert (
            merged.tags,
            merged.proof_count,
            texts(reader.memories(MemoryQuery(document_id="d2"), ALL)),
        ) == (
            ("secret",),
            2,
            ["Anna likes tea."],
        )
