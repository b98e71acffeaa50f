"""Memories out of one bank and into another, exactly as they were."""

from __future__ import annotations

import pytest
from storage_kit import ALL, NOW, Engine, add, chunk, document, memory

from lorebank.clock import now
from lorebank.errors import Bug
from lorebank.storage.ports import BankHandle, DocumentQuery, MemoryQuery
from lorebank.storage.rows import StoredMemory


def comparable(stored: StoredMemory) -> tuple[object, ...]:
    """All of it but the key, which each store makes itself."""
    row = stored.memory
    return (
        repr(row).split(", ", 1)[1],
        stored.terms,
        stored.speaker,
        stored.asks,
        stored.sources,
        stored.history,
    )


def test_a_bank_loaded_from_a_dump_equals_it(engine: Engine, bank: BankHandle) -> None:
    first = memory(
        "a", document_id="d1", chunk_id="c1", entities=(("Anna", "PERSON"),), speaker="Anna", asks=True
    )
    (key,) = add(bank, first)
    add(
        bank, memory("A", document_id="d2", chunk_id="c2"), memory("b", tags=("x",)), memory("b", tags=("x",))
    )
    add(bank, memory("a twice", fact_type="observation", source_keys=(key,)))
    with bank.write() as writer:
        writer.edit_memory(key, {"context": "other"}, NOW + 1, "edited")
        writer.edit_memory(key, {"state": "invalidated", "invalidation_reason": "no"}, NOW + 2, "invalidated")
    with bank.read() as reader:
        dump = list(reader.dump_memories())
        documents = [reader.document(d.id) for d in reader.documents(DocumentQuery(), ALL).rows]
        chunks = [c for d in documents if d for c in reader.chunks(d.id, ALL).rows]
        entities = reader.entities_of([key])[key]
    assert dump[0].sources == (("d1", "c1"), ("d2", "c2")) and len(dump[0].history) == 2
    copy = engine.bank("copy")
    with copy.write() as writer:
        for one in documents:
            assert one is not None
            writer.put_document(one)
        writer.put_chunks(chunks)
        writer.load_entities(entities)
        keys = writer.load_memories(dump)
    with copy.read() as reader:
        loaded = list(reader.dump_memories())
        assert [comparable(s) for s in loaded] == [comparable(s) for s in dump]
        assert [s.memory.key for s in loaded] == list(keys)
        assert [s.entity_ids for s in loaded] == [s.entity_ids for s in dump]
        assert reader.memory_history(first.id)[0].change == "invalidated"
    assert list(copy.check()) == []


def test_an_entity_that_is_there_already_keeps_its_id(engine: Engine, bank: BankHandle) -> None:
    add(bank, memory("a", entities=(("Anna", "PERSON"),)))
    with bank.read() as reader:
        dump, (anna,) = list(reader.dump_memories()), reader.entities(None, ALL).rows
    other = engine.bank("other")
    add(other, memory("b", entities=(("ANNA", "PERSON"),)))
    with other.write() as writer:
        writer.load_entities([anna])
        writer.load_memories(dump)
    with other.read() as reader:
        (kept,) = reader.entities(None, ALL).rows
        assert (kept.name, kept.mention_count) == ("ANNA", 2) and kept.id != anna.id
    assert list(other.check()) == []


def test_an_export_appears_whole_or_not_at_all(bank: BankHandle) -> None:
    with bank.write_export("a-1.zip") as file:
        file.write(b"half")
        assert bank.read_export("a-1.zip") is None
        file.write(b" and half")
    with pytest.raises(ZeroDivisionError), bank.write_export("b.zip") as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert bank.read_export("b.zip") is None and bank.read_export("../state.sqlite") is None
    stored = bank.read_export("a-1.zip")
    assert stored is not None
    with stored:
        assert stored.read() == b"half and half"
    with pytest.raises(Bug), bank.write_export("../x"):
        pass
    assert bank.drop_exports(NOW - 10**15) == 0
    assert bank.drop_exports(now() + 10**9) == 1
    assert bank.read_export("a-1.zip") is None


def test_compacting_takes_exports_and_deleted_bytes_away(engine: Engine, bank: BankHandle) -> None:
    canary = "xylophonezebra"
    with bank.write() as writer:
        writer.put_document(document("d", text=f"{canary} " * 500))
        writer.put_chunks([chunk("c", "d")])
        writer.put_blob("stray", canary.encode())
        new = memory(
            canary, document_id="d", chunk_id="c", entities=((canary, "PERSON"),), metadata={"m": canary}
        )
        (key,) = writer.add_memories([new, memory("stays")], NOW)[:1]
        writer.edit_memory(key, {"text": f"{canary} changed"}, NOW, "edited")
    with bank.write_export("x.zip") as file:
        file.write(canary.encode())
    with bank.write() as writer:
        writer.delete_document("d")
    bank.compact()
    with bank.read() as reader:
        assert [m.text for m in reader.memories(MemoryQuery(), ALL).rows] == ["stays"]
    leaks = [
        path.name
        for path in engine.directory.path.rglob("*")
        if path.is_file()
        for form in (canary.encode(), canary.encode("utf-16-le"))
        if form in path.read_bytes()
    ]
    assert leaks == []
