"""The feed of the search index, vectors, links, numbers and small values."""

from __future__ import annotations

from storage_kit import ALL, NOW, Engine, add, document, memory

from lorebank.storage.ports import BankHandle, MemoryQuery
from lorebank.storage.rows import IndexRow, Link

ROW = b"\x00\x3c\x00\x00"


def test_the_feed_has_every_change_after_a_number_and_nothing_before(bank: BankHandle) -> None:
    first, second = add(bank, memory("a b", tags=("x",), speaker="Anna", asks=True), memory("c"))
    seq = bank.seq()
    with bank.read() as reader:
        rows = list(reader.index_rows(0))
        assert list(reader.index_rows(seq)) == [] and reader.seq() == seq
    assert rows[0] == IndexRow(
        key=first,
        seq=seq,
        fact_type="world",
        tags=("x",),
        terms="a b",
        occurred_start=None,
        occurred_end=None,
        precision=None,
        mentioned_at=None,
        proof_count=1,
        tokens=2,
        thread=None,
        position=0,
        speaker="Anna",
        asks=True,
        entities=(),
        sources=(),
        valid=True,
    )
    with bank.write() as writer:
        writer.edit_memory(second, {"state": "invalidated"}, NOW, "invalidated")
        writer.delete_memories([first])
    with bank.read() as reader:
        assert [(row.key, row.valid) for row in reader.index_rows(seq)] == [(second, False)]
        assert reader.deleted_keys(seq) == [first] and reader.deleted_keys(bank.seq()) == []


def test_a_new_proof_is_a_change(bank: BankHandle) -> None:
    (key,) = add(bank, memory("a"))
    seq = bank.seq()
    add(bank, memory("a"))
    with bank.read() as reader:
        assert [(row.key, row.proof_count) for row in reader.index_rows(seq)] == [(key, 2)]


def test_vectors_are_kept_by_model_and_skip_texts_that_changed(bank: BankHandle) -> None:
    a, b = add(bank, memory("a"), memory("b"))
    read_at = bank.seq()
    with bank.write() as writer:
        writer.edit_memory(b, {"text": "changed"}, NOW, "edited")
    with bank.write() as writer:
        assert writer.put_vectors("m1", [(a, read_at, ROW), (b, read_at, ROW), (99, read_at, ROW)]) == 1
        assert writer.put_vectors("m2", [(a, read_at, ROW)]) == 1
    with bank.read() as reader:
        assert reader.vector_models() == {"m1": 1, "m2": 1}
        assert list(reader.vectors("m1", 0)) == [([a], ROW)]
        assert list(reader.vectors("m1", bank.seq())) == []
        assert [m.key for m in reader.missing_vectors("m1", 9)] == [b]
        assert [m.key for m in reader.missing_vectors("m3", 1)] == [a]
    with bank.write() as writer:
        assert writer.drop_vectors("m1") == 1
    with bank.read() as reader:
        assert [m.key for m in reader.missing_vectors("m1", 9)] == [a, b]
        assert reader.vector_models() == {"m2": 1}
    with bank.write() as writer:
        assert writer.drop_vectors(None) == 1


def test_vectors_of_memories_that_changed_are_fed_again(bank: BankHandle) -> None:
    a, b = add(bank, memory("a"), memory("b"))
    with bank.write() as writer:
        writer.put_vectors("m", [(key, bank.seq(), ROW) for key in (a, b)])
    seq = bank.seq()
    with bank.write() as writer:
        writer.edit_memory(a, {"context": "other"}, NOW, "edited")
    with bank.read() as reader:
        assert list(reader.vectors("m", seq)) == [([a], ROW)]


def test_missing_vectors_are_still_found_after_everything_was_complete(bank: BankHandle) -> None:
    (a,) = add(bank, memory("a"))
    with bank.write() as writer:
        writer.put_vectors("m", [(a, bank.seq(), ROW)])

    def missing() -> list[int]:
        with bank.read() as reader:
            return [m.key for m in reader.missing_vectors("m", 9)]

    assert missing() == []
    (b,) = add(bank, memory("b"))
    assert missing() == [b]
    with bank.write() as writer:
        writer.edit_memory(a, {"state": "invalidated"}, NOW, "invalidated")
        writer.drop_vectors("m")
        assert [m.key for m in writer.missing_vectors("m", 9)] == [b]
    with bank.write() as writer:
        writer.edit_memory(a, {"state": "valid"}, NOW, "restored")
    assert sorted(missing()) == [a, b]


def test_what_a_rolled_back_write_saw_is_not_remembered(bank: BankHandle) -> None:
    add(bank, memory("a"))
    try:
        with bank.write() as writer:
            writer.put_vectors("m", [(1, writer.seq(), ROW)])
            assert writer.missing_vectors("m", 9) == [] and writer.counts().pending_vectors == 0
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    with bank.read() as reader:
        assert len(reader.missing_vectors("m", 9)) == 1 and reader.counts().pending_vectors == 1


def test_links_need_both_ends_and_are_fed_by_number(bank: BankHandle) -> None:
    a, b, c = add(bank, memory("a"), memory("b"), memory("c", caused_by=(0, 1)))
    seq = bank.seq()
    with bank.write() as writer:
        writer.put_links([Link(a, b, "semantic", 0.5), Link(a, 99, "semantic", 0.5)])
        writer.put_links([Link(a, b, "semantic", 0.75)])
    with bank.read() as reader:
        assert list(reader.links(seq)) == [Link(a, b, "semantic", 0.75)]
        assert reader.links_between([a, c]) == [Link(c, a, "causal", 1.0)]
        counts = reader.counts()
        assert counts.links == {"causal": 2, "semantic": 1}
        assert counts.links_by_fact_type == {"world": {"causal": 2, "semantic": 1}}
    with bank.write() as writer:
        assert writer.drop_links("causal") == 2


def test_the_numbers_of_a_bank_follow_its_content(bank: BankHandle) -> None:
    with bank.read() as reader:
        empty = reader.counts()
    assert (dict(empty.memories), empty.documents, empty.entities, empty.last_memory_write_at) == (
        {},
        0,
        0,
        None,
    )
    keys = add(
        bank,
        memory("a", document_id="d", entities=(("Anna", "P"),)),
        memory("b", fact_type="experience"),
        now=NOW + 7,
    )
    with bank.read() as reader:
        full = reader.counts()
        assert reader.counts() == full
    assert dict(full.memories) == {"world": 1, "experience": 1}
    assert (full.documents, full.entities, full.pending_vectors) == (1, 1, 2)
    assert (full.last_memory_write_at, full.last_document_at) == (NOW + 7, NOW)
    with bank.write() as writer:
        writer.delete_memories(keys)
        assert dict(writer.counts().memories) == {}


def test_small_values_are_kept_and_forgotten(bank: BankHandle) -> None:
    with bank.write() as writer:
        writer.set_meta("model", {"id": "m", "dims": 3})
    with bank.read() as reader:
        assert reader.meta("model") == {"id": "m", "dims": 3} and reader.meta("other") is None
    with bank.write() as writer:
        writer.set_meta("model", None)
        assert writer.meta("model") is None


def test_a_reader_keeps_its_snapshot_while_a_writer_commits(engine: Engine, bank: BankHandle) -> None:
    add(bank, memory("a"))
    with bank.read() as reader:
        feed = reader.index_rows(0)
        with bank.write() as writer:
            writer.put_document(document("d"))
            writer.add_memories([memory("b")], NOW)
        assert bank.seq() == 2 and reader.seq() == 1
        assert reader.memories(MemoryQuery(), ALL).total == 1 and reader.document("d") is None
        next(feed)  # left unfinished: the connection must not keep this snapshot afterwards
    with bank.read() as reader:
        assert reader.memories(MemoryQuery(), ALL).total == 2
