"""The rules of a bank's settings, of chunk ids and of file keys, without a store."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.banks import config
from lorebank.banks.chunk_ids import bank_of_chunk, chunk_id, moved
from lorebank.banks.config_keys import KEYS
from lorebank.banks.transfer.keys import bank_of_file, file_key, split_key
from lorebank.errors import BadRequest, InvalidInput
from lorebank.limits import Limits
from lorebank.service.handlers.config import export_bank_template

LIMITS = Limits()
ids = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).filter(str.strip)


def test_the_strategy_beats_the_bank_beats_the_server_beats_the_default() -> None:
    strategies = {"notes": {"retain_chunk_size": 111}}
    server = {"retain_chunk_size": 222, "recall_max_tokens": 1000}
    bank = {"retain_chunk_size": 333, "retain_strategies": strategies}
    assert config.resolve({}, {}).retain_chunk_size == 3000
    assert config.resolve(server, {}).retain_chunk_size == 222
    assert config.resolve(server, bank).retain_chunk_size == 333
    resolved = config.resolve(server, bank, "notes")
    assert (resolved.retain_chunk_size, resolved.recall_max_tokens) == (111, 1000)
    assert config.resolve(server, bank | {"retain_default_strategy": "notes"}).retain_chunk_size == 111
    with pytest.raises(BadRequest, match=r"strategy 'x' is not defined.*notes"):
        config.resolve(server, bank, "x")


def test_a_turn_may_be_as_long_as_a_chunk_unless_it_is_set() -> None:
    assert config.resolve({}, {"retain_chunk_size": 500}).retain_structured_chunk_size == 500
    assert config.resolve({}, {"retain_structured_chunk_size": 900}).retain_structured_chunk_size == 900


@pytest.mark.parametrize(
    ("settings", "level", "tokens", "expected"),
    [
        ({}, "low", 4096, 100),
        ({}, "mid", 4096, 300),
        ({}, "high", 4096, 1000),
        ({"recall_budget_function": "adaptive"}, "mid", 4096, 307),
        ({"recall_budget_function": "adaptive"}, "low", 10, 20),
        ({"recall_budget_function": "adaptive"}, "high", 100_000, 2000),
        ({"recall_budget_fixed_mid": 7}, "mid", 1, 7),
    ],
)
def test_budgets_become_candidates(settings: dict[str, Any], level: Any, tokens: int, expected: int) -> None:
    assert config.resolve({}, settings).candidates(level, tokens) == expected


def test_every_key_is_in_the_resolved_settings_and_fits_itself() -> None:
    values = config.as_dict(config.resolve({}, {}))
    assert values.keys() == KEYS.keys()
    given = {name: value for name, value in values.items() if value is not None}
    assert config.validate_updates(given, LIMITS) == given
    assert json.loads(json.dumps(values)) == values


def test_a_null_removes_an_override() -> None:
    before = {"retain_chunk_size": 500, "recall_max_tokens": 9}
    updates = config.validate_updates({"retain_chunk_size": None}, LIMITS)
    assert config.merge(before, updates, {}, LIMITS) == {"recall_max_tokens": 9}


def test_whole_floats_count_as_integers_and_others_do_not() -> None:
    assert config.validate_updates({"disposition_empathy": 4.0}, LIMITS) == {"disposition_empathy": 4}
    for wrong in (4.5, float("nan"), float("inf"), "4", True, [4]):
        with pytest.raises(BadRequest, match="disposition_empathy"):
            config.validate_updates({"disposition_empathy": wrong}, LIMITS)


def test_all_settings_together_have_a_size() -> None:
    labels = [{"key": f"k{i}", "description": "x" * 5000} for i in range(100)]
    updates = config.validate_updates({"entity_labels": labels}, LIMITS)
    with pytest.raises(BadRequest, match="config would be"):
        config.merge({}, updates, {}, LIMITS)


def test_wrong_server_defaults_are_found_at_start() -> None:
    config.check_server_defaults({"retain_chunk_size": 500}, LIMITS)
    with pytest.raises(InvalidInput, match=r"LOREBANK_BANK.*retain_chunk_size"):
        config.check_server_defaults({"retain_chunk_size": "huge"}, LIMITS)


values = st.none() | st.integers() | st.text() | st.lists(st.text())


@given(st.dictionaries(st.sampled_from(sorted(KEYS)), values))
def test_no_value_breaks_the_check(updates: dict[str, Any]) -> None:
    try:
        merged = config.merge({}, config.validate_updates(updates, LIMITS), {}, LIMITS)
    except BadRequest as exc:
        assert any(name in exc.message for name in [*KEYS, "strategy"])
    else:
        assert config.as_dict(config.resolve({}, merged)).keys() == KEYS.keys()


def test_a_template_has_a_handler_for_every_key() -> None:
    assert export_bank_template.__doc__ is not None and len(KEYS) > 50


@given(ids, ids, st.integers(0, 10**6), ids)
def test_a_chunk_id_names_its_bank_and_can_move(bank: str, document: str, part: int, other: str) -> None:
    made = chunk_id(bank, document, part)
    named = bank_of_chunk(made)
    assert named is not None and chunk_id(named, document, part).split(":", 1)[1] == made.split(":", 1)[1]
    assert moved(made, bank, other) == chunk_id(other, document, part)
    assert moved(moved(made, bank, other), other, bank) == made


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_ids(text: str) -> None:
    bank = bank_of_chunk(text)
    assert bank is None or text.startswith(chunk_id(bank, "", "")[:-2]) or ":" in text
    found = split_key(text)
    assert found is None or file_key(*found) == text


@given(ids)
def test_a_file_key_names_its_bank_in_plain_letters(bank: str) -> None:
    key = file_key(bank, "x.zip")
    assert bank_of_file(key) == bank and split_key(key) == (bank, "x.zip")
    assert all(char.isascii() and (char.isalnum() or char in "-_./") for char in key)
