"""Entities through the port: one for each name, counted over what the caller may see."""

from __future__ import annotations

import unicodedata

from storage_kit import ALL, NOW, add, memory

from lorebank.storage.ports import BankHandle, Page
from lorebank.tags import Leaf


def test_composed_and_decomposed_names_in_any_case_are_one_entity(bank: BankHandle) -> None:
    composed = unicodedata.normalize("NFC", "Zoë Müller")
    decomposed = unicodedata.normalize("NFD", "zoë  MÜLLER")
    add(bank, memory("a", entities=((composed, "PERSON"), (decomposed, "OTHER"))))
    add(bank, memory("b", entities=((decomposed, "PERSON"),)))
    with bank.read() as reader:
        (one,) = reader.entities(None, ALL).rows
        assert (one.name, one.type, one.mention_count) == (composed, "PERSON", 2)
        assert reader.entity_names() == [(composed, "PERSON")]


def test_entities_come_most_mentioned_first_with_the_times_of_their_mentions(bank: BankHandle) -> None:
    add(bank, memory("a", entities=(("Anna", "PERSON"), ("Bea", "PERSON")), mentioned_at=NOW - 9))
    add(bank, memory("b", entities=(("Bea", "PERSON"),), tags=("x",)), now=NOW + 9)
    with bank.read() as reader:
        listing = reader.entities(None, ALL)
        assert [(e.name, e.mention_count, e.first_seen, e.last_seen) for e in listing.rows] == [
            ("Bea", 2, NOW - 9, NOW + 9),
            ("Anna", 1, NOW - 9, NOW - 9),
        ]
        assert reader.entities(None, Page(1, 1)).rows == [listing.rows[1]]
        tagged = reader.entities(Leaf(("x",)), ALL)
        assert [(e.name, e.mention_count, e.first_seen) for e in tagged.rows] == [("Bea", 1, NOW + 9)]
        assert tagged.total == 1
        bea, anna = (e.id for e in listing.rows)
        assert reader.entity(anna, None) == listing.rows[1]
        assert reader.entity(anna, Leaf(("x",))) is None and reader.entity("none", None) is None
        assert texts_of(reader.entity_memories(bea, None, 9)) == ["b", "a"]
        assert texts_of(reader.entity_memories(bea, Leaf(("x",)), 9)) == ["b"]
        assert texts_of(reader.entity_memories(bea, None, 1)) == ["b"]


def test_entities_of_memories_are_in_order_of_mention(bank: BankHandle) -> None:
    keys = add(
        bank,
        memory("a", entities=(("Bea", "P"), ("Anna", "P"))),
        memory("b"),
        memory("c", entities=(("Anna", "P"),)),
    )
    with bank.read() as reader:
        found = reader.entities_of(keys)
        rows = {row.key: row.entities for row in reader.index_rows(0)}
    assert {key: [e.name for e in named] for key, named in found.items()} == {
        keys[0]: ["Bea", "Anna"],
        keys[2]: ["Anna"],
    }
    assert found[keys[0]][1].mention_count == 2
    assert rows == {key: tuple(e.key for e in found.get(key, ())) for key in keys}


def test_pairs_count_the_memories_that_name_both(bank: BankHandle) -> None:
    both = (("Anna", "P"), ("Bea", "P"))
    add(bank, memory("a", entities=both), memory("b", entities=both, mentioned_at=NOW + 5))
    add(bank, memory("c", entities=(("Anna", "P"), ("Cleo", "P"))))
    with bank.read() as reader:
        ids = {e.name: e.id for e in reader.entities(None, ALL).rows}
        pairs = reader.entity_pairs(None, 1, 9)
        assert list(pairs.rows) == [(ids["Anna"], ids["Bea"], 2, NOW + 5), (ids["Anna"], ids["Cleo"], 1, NOW)]
        assert reader.entity_pairs(None, 2, 9).total == 1
        assert (reader.entity_pairs(None, 1, 0).rows, reader.entity_pairs(None, 1, 0).total) == ([], 2)
        assert reader.entity_pairs(Leaf(("none",)), 1, 9).total == 0


def texts_of(memories: object) -> list[str]:
    return [m.text for m in memories]  # type: ignore[attr-defined]


def test_blank_names_are_no_entities(bank: BankHandle) -> None:
    add(bank, memory("a", entities=(("  ", "P"), ("Anna", "P"))))
    with bank.read() as reader:
        assert [e.name for e in reader.entities(None, ALL).rows] == ["Anna"]
