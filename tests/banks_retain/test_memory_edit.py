"""Editing one memory."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from retain_bank import Bank

from lorebank.banks.retain.edit import edit
from lorebank.banks.retain.items import Item
from lorebank.clock import to_micros
from lorebank.errors import BadRequest, InvalidInput, NotFound
from lorebank.ids import new_uuid
from lorebank.search.tokenize import terms
from lorebank.tokens import count

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


@pytest.fixture
def memory_id(bank: Bank) -> str:
    bank.retain(Item("Mona met Erik yesterday in Bergen.", when=NOON, document_id="d"))
    [memory] = bank.memories()
    bank.woken.clear()
    return memory.id


def test_a_new_text_brings_its_tokens_and_terms_and_keeps_the_old_version(bank: Bank, memory_id: str) -> None:
    text = "Mona met Ada, a luthier, in Turku."
    after, history = edit(bank.handle, bank.tools, memory_id, {"text": text}, None)
    assert (after.text, after.tokens) == (text, count(text))
    assert after.edited_at is not None
    assert [(version.change, version.before["text"][:13]) for version in history] == [
        ("edited", "Mona met Erik")
    ]
    with bank.handle.read() as reader:
        [row] = [row for row in reader.index_rows(0) if row.key == after.key]
    assert row.terms == " ".join(terms(text))
    assert bank.woken == ["vectors"]
    assert bank.events("d")[0].kind == "fact_edited" and bank.events("d")[0].fact_id == memory_id


def test_a_time_that_is_cleared_is_gone_and_one_that_is_not_sent_stays(bank: Bank, memory_id: str) -> None:
    after, _ = edit(bank.handle, bank.tools, memory_id, {"occurred_start": None, "occurred_end": None}, None)
    assert (after.occurred_start, after.occurred_end, after.mentioned_at) == (None, None, to_micros(NOON))


def test_dates_in_the_wrong_order_are_refused(bank: Bank, memory_id: str) -> None:
    with pytest.raises(BadRequest, match="occurred_end"):
        edit(bank.handle, bank.tools, memory_id, {"occurred_start": to_micros(NOON) + 10**12}, None)


def test_an_invalidated_memory_can_be_restored(bank: Bank, memory_id: str) -> None:
    after, _ = edit(bank.handle, bank.tools, memory_id, {"state": "invalidated"}, "it was Ada")
    assert (after.state, after.invalidation_reason) == ("invalidated", "it was Ada")
    assert after.invalidated_at is not None and bank.memories() == []
    after, history = edit(bank.handle, bank.tools, memory_id, {"state": "valid"}, None)
    assert (after.state, after.invalidation_reason, after.invalidated_at) == ("valid", None, None)
    assert [version.change for version in history] == ["restored", "invalidated"]
    assert [event.kind for event in bank.events("d")][:2] == ["fact_restored", "fact_invalidated"]


def test_entities_are_replaced_and_keep_their_types(bank: Bank, memory_id: str) -> None:
    after, _ = edit(bank.handle, bank.tools, memory_id, {"entities": ["mona", "Luthier Guild"]}, None)
    assert [name.casefold() for name in after.entities] == ["mona", "luthier guild"]
    after, _ = edit(bank.handle, bank.tools, memory_id, {"entities": []}, None)
    assert after.entities == ()


def test_context_and_fact_type_can_change(bank: Bank, memory_id: str) -> None:
    after, _ = edit(bank.handle, bank.tools, memory_id, {"context": None, "fact_type": "experience"}, None)
    assert (after.context, after.fact_type) == ("", "experience")


def test_an_empty_text_is_refused_with_the_way_to_withdraw(bank: Bank, memory_id: str) -> None:
    with pytest.raises(InvalidInput, match="invalidated"):
        edit(bank.handle, bank.tools, memory_id, {"text": " "}, None)


def test_a_memory_that_does_not_exist_is_not_found(bank: Bank) -> None:
    with pytest.raises(NotFound):
        edit(bank.handle, bank.tools, new_uuid(), {"text": "x"}, None)
    with pytest.raises(BadRequest, match="memory_id"):
        edit(bank.handle, bank.tools, "7", {"text": "x"}, None)
