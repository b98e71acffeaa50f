"""Memories through the port: the same fact once, editing, deleting, threads and observations."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storage_kit import ALL, NOW, SECOND, Engine, add, document, memory, texts

from lorebank.errors import Bug
from lorebank.storage.ports import BankHandle, MemoryQuery, Page
from lorebank.storage.rows import Link
from lorebank.storage.sqlite.reader_memories import fits, wildcard


def test_a_memory_comes_back_as_it_was_written(bank: BankHandle) -> None:
    new = memory(
        "Anna moved to Lisbon.",
        occurred_start=NOW - 5,
        occurred_end=NOW,
        precision="day",
        mentioned_at=NOW - 1,
        document_id="d1",
        chunk_id="c1",
        metadata={"source": "chat"},
        tags=("b", "a"),
        thread="t",
        position=3,
        entities=(("Anna", "PERSON"), ("Lisbon", "PLACE")),
    )
    (key,) = add(bank, new)
    with bank.read() as reader:
        stored = reader.memory(new.id)
        assert stored is not None and reader.memories_by_key([key]) == {key: stored}
        assert reader.next_position("t") == 4 and reader.next_position("other") == 0
    assert (stored.text, stored.context, stored.tags) == (new.text, "chat", ("a", "b"))
    assert (stored.occurred_start, stored.occurred_end, stored.precision) == (NOW - 5, NOW, "day")
    assert (stored.document_id, stored.chunk_id, stored.metadata) == ("d1", "c1", {"source": "chat"})
    assert (stored.proof_count, stored.state, stored.entities) == (1, "valid", ("Anna", "Lisbon"))
    assert stored.created_at == stored.updated_at == NOW


def test_the_same_fact_is_one_memory_with_more_proofs(bank: BankHandle) -> None:
    first = memory("Anna likes tea.", document_id="d1", chunk_id="c1")
    again = memory("ANNA  likes\ttea.", document_id="d2", chunk_id="c2")
    once_more = memory("Anna likes tea.", document_id="d2", chunk_id="c2")
    keys = add(bank, first, again)
    assert keys[0] == keys[1]
    assert add(bank, once_more) == keys[:1]
    with bank.read() as reader:
        found = reader.memories(MemoryQuery(), ALL)
        assert [(m.id, m.proof_count) for m in found.rows] == [(first.id, 2)]
        assert reader.find_duplicates([memory("new"), once_more]) == {1: keys[0]}


def test_without_a_document_every_telling_is_a_proof(bank: BankHandle) -> None:
    for _ in range(3):
        add(bank, memory("Anna likes tea."))
    with bank.read() as reader:
        assert [m.proof_count for m in reader.memories(MemoryQuery(), ALL).rows] == [3]


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Anna likes coffee."},
        {"fact_type": "experience"},
        {"tags": ("x",)},
        {"metadata": {"a": "b"}},
        {"occurred_start": NOW},
        {"occurred_end": NOW},
    ],
)
def test_facts_that_differ_stay_apart(bank: BankHandle, change: dict[str, object]) -> None:
    plain = memory("Anna likes tea.")
    assert len(set(add(bank, plain, replace(memory("Anna likes tea."), **change)))) == 2  # type: ignore[arg-type]


def test_an_invalidated_memory_is_not_proven_again(bank: BankHandle) -> None:
    (key,) = add(bank, memory("Anna likes tea."))
    with bank.write() as writer:
        writer.edit_memory(key, {"state": "invalidated", "invalidation_reason": "wrong"}, NOW, "invalidated")
    (other,) = add(bank, memory("Anna likes tea."))
    assert other != key


def test_listing_is_newest_first_and_pages_never_overlap(bank: BankHandle) -> None:
    for i in range(7):
        add(bank, memory(f"fact {i}"), now=NOW + (i // 2) * SECOND)
    with bank.read() as reader:
        whole = texts(reader.memories(MemoryQuery(), ALL))
        pages = [reader.memories(MemoryQuery(), Page(3, offset)) for offset in (0, 3, 6)]
    assert whole == [f"fact {i}" for i in reversed(range(7))]
    assert [text for page in pages for text in texts(page)] == whole
    assert {page.total for page in pages} == {7}


def test_listing_restricts_by_every_field(bank: BankHandle) -> None:
    add(bank, memory("Straße in Berlin", document_id="d1", chunk_id="c1", tags=("a",), mentioned_at=NOW))
    add(bank, memory("tea", fact_type="experience", entities=(("Anna", "PERSON"),), mentioned_at=NOW + 9))
    with bank.read() as reader:
        anna = reader.entities(None, ALL).rows[0].id

        def found(query: MemoryQuery) -> list[str]:
            listing = reader.memories(query, ALL)
            assert listing.total == len(listing.rows)
            return texts(listing)

        assert found(MemoryQuery(text="STRASSE")) == ["Straße in Berlin"]
        assert found(MemoryQuery(fact_type="experience")) == ["tea"]
        assert found(MemoryQuery(document_id="d1", state="valid")) == ["Straße in Berlin"]
        assert found(MemoryQuery(chunk_id="c1", fact_type="world")) == ["Straße in Berlin"]
        assert found(MemoryQuery(entity_id=anna)) == ["tea"]
        assert found(MemoryQuery(state="invalidated")) == []
        assert found(MemoryQuery(time_field="mentioned_at", start=NOW, end=NOW + 9)) == ["Straße in Berlin"]
        assert found(MemoryQuery(time_field="mentioned_at", start=NOW + 9)) == ["tea"]


def test_editing_keeps_the_version_before_and_drops_what_was_derived(bank: BankHandle) -> None:
    new = memory("Anna likes tea.", entities=(("Anna", "PERSON"),))
    key, other = add(bank, new, memory("other"))
    with bank.write() as writer:
        writer.put_vectors("m", [(key, writer.seq(), b"\0\0"), (other, writer.seq(), b"\0\0")])
        writer.put_links([Link(key, other, "semantic", 0.9), Link(key, other, "causal", 1.0)])
    changes = {"text": "Bea likes tea.", "entities": [("Bea", "PERSON")], "terms": "bea"}
    with bank.write() as writer:
        writer.edit_memory(key, changes, NOW + SECOND, "edited")
    with bank.read() as reader:
        edited = reader.memory(new.id)
        assert edited is not None
        assert (edited.text, edited.entities, edited.edited_at) == ("Bea likes tea.", ("Bea",), NOW + SECOND)
        (version,) = reader.memory_history(new.id)
        assert (version.at, version.change) == (NOW + SECOND, "edited")
        assert (version.before["text"], version.before["entities"]) == ("Anna likes tea.", ["Anna"])
        assert [m.key for m in reader.missing_vectors("m", 9)] == [key]
        assert [link.type for link in reader.links_between([key, other])] == ["causal"]
        assert [e.name for e in reader.entities(None, ALL).rows] == ["Bea"]


def test_invalidating_and_restoring_keeps_the_memory_and_its_reason(bank: BankHandle) -> None:
    new = memory("Anna likes tea.", entities=(("Anna", "PERSON"),))
    (key,) = add(bank, new)
    with bank.write() as writer:
        writer.edit_memory(
            key, {"state": "invalidated", "invalidation_reason": "wrong"}, NOW + 1, "invalidated"
        )
    with bank.read() as reader:
        gone = reader.memory(new.id)
        assert gone is not None
        assert (gone.state, gone.invalidation_reason, gone.invalidated_at) == (
            "invalidated",
            "wrong",
            NOW + 1,
        )
        assert reader.memories_by_key([key]) == {} and reader.entities(None, ALL).total == 0
        assert dict(reader.counts().memories) == {}
        assert gone.edited_at is None
    with bank.write() as writer:
        writer.edit_memory(key, {"state": "valid", "invalidation_reason": None}, NOW + 2, "restored")
    with bank.read() as reader:
        back = reader.memory(new.id)
        assert back is not None and back.invalidated_at is None and back.invalidation_reason is None
        assert [v.change for v in reader.memory_history(new.id)] == ["restored", "invalidated"]
        assert [e.mention_count for e in reader.entities(None, ALL).rows] == [1]


def test_editing_an_unknown_column_is_a_bug_and_changes_nothing(bank: BankHandle) -> None:
    (key,) = add(bank, memory("x"))
    before = bank.seq()
    with pytest.raises(Bug), bank.write() as writer:
        writer.edit_memory(key, {"proof_count": 7}, NOW, "edited")
    assert bank.seq() == before


def test_deleting_takes_everything_along_and_leaves_a_tombstone(bank: BankHandle) -> None:
    first = memory("Anna likes tea.", entities=(("Anna", "PERSON"),))
    key, other = add(bank, first, memory("Bea likes tea.", entities=(("Bea", "PERSON"),), caused_by=(0,)))
    seq = bank.seq()
    with bank.write() as writer:
        assert writer.delete_memories([key, 999]) == 1
        assert writer.delete_memories([key]) == 0
    with bank.read() as reader:
        assert reader.memory(first.id) is None
        assert reader.deleted_keys(seq) == [key] and list(reader.links(0)) == []
        assert [name for name, _ in reader.entity_names()] == ["Bea"]
        assert list(reader.memories_by_key([key, other])) == [other]


def test_clearing_by_type_keeps_documents_and_entities(bank: BankHandle) -> None:
    add(
        bank,
        memory("a", document_id="d1", entities=(("Anna", "PERSON"),)),
        memory("b", fact_type="experience"),
    )
    with bank.write() as writer:
        assert writer.clear_memories("world") == 1
        assert writer.clear_memories(None) == 1
    with bank.read() as reader:
        assert reader.memories(MemoryQuery(), ALL).total == 0
        assert reader.document("d1") is not None
        assert [name for name, _ in reader.entity_names()] == ["Anna"]


def test_keys_are_never_used_twice(bank: BankHandle) -> None:
    (key,) = add(bank, memory("a"))
    with bank.write() as writer:
        writer.delete_memories([key])
    assert add(bank, memory("b")) == [key + 1]


def test_whatever_changes_a_memory_drops_the_vector_of_the_next_in_its_thread(bank: BankHandle) -> None:
    def turns() -> list[int]:
        with bank.write() as writer:
            writer.clear_memories(None)
            new = [memory(f"turn {i}", thread="t", position=i, document_id=None) for i in range(4)]
            keys = list(writer.add_memories(new, NOW))
            writer.put_vectors("m", [(key, writer.seq(), b"\0\0") for key in keys])
        return keys

    def missing() -> list[int]:
        with bank.read() as reader:
            return [m.key for m in reader.missing_vectors("m", 9)]

    keys = turns()
    assert missing() == []
    with bank.write() as writer:
        writer.delete_memories([keys[0], keys[1]])
    assert missing() == [keys[2]]
    keys = turns()
    with bank.write() as writer:
        writer.edit_memory(keys[1], {"text": "changed"}, NOW, "edited")
    assert missing() == [keys[1], keys[2]]
    keys = turns()
    with bank.write() as writer:
        writer.edit_memory(keys[2], {"context": "elsewhere"}, NOW, "edited")
    assert missing() == []


def test_what_is_embedded_has_the_turn_before_it_only_under_the_same_tags(bank: BankHandle) -> None:
    add(
        bank,
        memory("one", thread="t", position=0, tags=("a",)),
        memory("two", thread="t", position=1, tags=("a",)),
        memory("three", thread="t", position=2),
        memory("alone"),
    )
    with bank.read() as reader:
        waiting = reader.missing_vectors("m", 9)
    assert [(m.text, m.previous) for m in waiting] == [
        ("one", None),
        ("two", "one"),
        ("three", None),
        ("alone", None),
    ]


def test_an_observation_goes_with_the_last_memory_that_it_rests_on(bank: BankHandle) -> None:
    a, b = memory("a"), memory("b")
    first, second = add(bank, a, b)
    observation = memory("a and b", fact_type="observation", source_keys=(first, second))
    (key,) = add(bank, observation)
    with bank.write() as writer:
        writer.delete_memories([first])
    with bank.read() as reader:
        left = reader.memory(observation.id)
        assert left is not None and left.source_ids == (b.id,) and left.proof_count == 1
        assert [row.sources for row in reader.index_rows(0) if row.key == key] == [(second,)]
    with bank.write() as writer:
        writer.delete_memories([second])
    with bank.read() as reader:
        assert reader.memory(observation.id) is None and key in reader.deleted_keys(0)


def test_time_buckets_count_valid_memories_by_type(bank: BankHandle) -> None:
    day = 86_400 * SECOND
    monday = 1_790_553_600 * SECOND  # 2026-09-28
    add(bank, memory("a"), now=monday)
    add(bank, memory("b"), memory("c", fact_type="experience"), now=monday + day + 5)
    add(bank, memory("old"), now=-day + 5)
    with bank.read() as reader:
        days = reader.time_buckets("created_at", monday, "day")
        weeks = reader.time_buckets("created_at", monday - 9 * day, "week")
        months = reader.time_buckets("created_at", -9 * day, "month")
    assert days == [
        ("2026-09-28T00:00:00+00:00", "world", 1),
        ("2026-09-29T00:00:00+00:00", "experience", 1),
        ("2026-09-29T00:00:00+00:00", "world", 1),
    ]
    assert [(start, n) for start, type, n in weeks if type == "world"] == [("2026-09-28T00:00:00+00:00", 2)]
    assert months[0] == ("1969-12-01T00:00:00+00:00", "world", 1)


def test_tags_are_listed_by_frequency_and_found_by_wildcard(bank: BankHandle) -> None:
    add(bank, memory("1", tags=("user:anna", "x")), memory("2", tags=("user:bea",)), memory("3", tags=("x",)))
    with bank.read() as reader:
        assert reader.tags(None, ALL).rows == [("x", 2), ("user:anna", 1), ("user:bea", 1)]
        assert reader.tags("USER:*", Page(1, 1)).rows == [("user:bea", 1)]
        assert reader.tags("user", ALL).total == 0


@given(st.text("ab*", min_size=1, max_size=8), st.text("ab", max_size=8))
def test_a_wildcard_stands_for_anything_and_nothing(pattern: str, tag: str) -> None:
    pieces = wildcard(pattern)
    assert pieces is not None
    expected = re.fullmatch(pattern.replace("*", ".*"), tag) is not None
    assert fits(pieces, tag) == expected


def test_a_hostile_pattern_ends(bank: BankHandle) -> None:
    """Tried place by place it would not, and nobody else would be answered until then."""
    add(bank, memory("1", tags=("a" * 2000,)))
    with bank.read() as reader:
        assert reader.tags("*a" * 900 + "*b", ALL).total == 0
        assert reader.tags("*a" * 900 + "*", ALL).total == 1


def test_put_derived_skips_a_memory_whose_text_has_changed(bank: BankHandle) -> None:
    from lorebank.storage.rows import Derived

    a, b = add(bank, memory("one"), memory("two"))
    seq = bank.seq()
    with bank.write() as writer:
        rows = [Derived(a, "one", "uno", 7, "Anna", True), Derived(b, "another", "dos", 7, None, False)]
        assert writer.put_derived(rows) == 1
    with bank.read() as reader:
        (row,) = reader.index_rows(seq)
    assert (row.key, row.terms, row.tokens, row.speaker, row.asks) == (a, "uno", 7, "Anna", True)


def test_a_failed_write_leaves_nothing(engine: Engine, bank: BankHandle) -> None:
    with pytest.raises(ZeroDivisionError), bank.write() as writer:
        writer.put_document(document("d1"))
        writer.add_memories([memory("a")], NOW)
        raise ZeroDivisionError
    with bank.read() as reader:
        assert reader.memories(MemoryQuery(), ALL).total == 0 and reader.document("d1") is None
        assert reader.seq() == bank.seq() == 0
