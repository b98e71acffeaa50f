"""Modes, and what holds for any content."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.banks.extract import ExtractSettings, ItemInput, extract
from lorebank.errors import InvalidInput, NeedsLLM

AT = datetime(2023, 5, 10, tzinfo=UTC)


@pytest.mark.parametrize("mode", ["concise", "verbose", "custom"])
def test_modes_that_need_a_model_say_so(mode: str) -> None:
    with pytest.raises(NeedsLLM, match=f"'{mode}' needs a language model.*one of local, chunks, verbatim"):
        extract(ItemInput("Alice prefers tea."), ExtractSettings(mode=mode))


def test_an_unknown_mode_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="retain_extraction_mode 'magic' is not known"):
        extract(ItemInput("Alice prefers tea."), ExtractSettings(mode="magic"))


def test_verbatim_keeps_each_chunk_with_entities_and_dates() -> None:
    text = "Nora moved to Tromsø yesterday."
    (fact,) = extract(ItemInput(text, timestamp=AT), ExtractSettings(mode="verbatim")).facts
    assert fact.text == text
    assert fact.occurred_start == datetime(2023, 5, 9, tzinfo=UTC)
    assert [e.name for e in fact.entities] == ["Nora", "Tromsø"]


def test_chunks_keep_each_chunk_and_find_nothing() -> None:
    content = "Nora moved to Tromsø yesterday. " * 20
    result = extract(ItemInput(content, timestamp=AT), ExtractSettings(mode="chunks", chunk_size=100))
    assert [fact.text for fact in result.facts] == [chunk.text for chunk in result.chunks]
    assert [fact.chunk_index for fact in result.facts] == list(range(len(result.chunks)))
    assert all(not fact.entities and fact.occurred_start is None for fact in result.facts)


LINE = st.sampled_from(
    [
        "Ann: I saw a heron.",
        "Ben: ok",
        "Ann: When?",
        "Ben: yesterday",
        "[role: user]",
        "[user:end]",
        "{",
        "[",
        "Ann:",
        '{"role": "user", "content": "x"}',
        "# Title",
        "```",
        "2023-05-07",
        "你好。",
        "\ud800",
        "\x00",
        "a: b",
        "https://a.b/c",
    ]
)
ANY = st.one_of(st.text(max_size=200), st.lists(LINE, max_size=12).map("\n".join))
JSONISH = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "text", "speaker", "timestamp", "messages"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANY | JSONISH.map(json.dumps), st.sampled_from(["local", "chunks", "verbatim"]))
def test_no_content_raises_and_the_same_content_gives_the_same_result(content: str, mode: str) -> None:
    settings = ExtractSettings(mode=mode, chunk_size=64)
    result = extract(ItemInput(content, timestamp=AT), settings)
    assert result == extract(ItemInput(content, timestamp=AT), settings)
    assert [fact.position for fact in result.facts] == list(range(len(result.facts)))
    assert all(fact.text.strip() for fact in result.facts) or mode != "local"
    assert all(cause < fact.position for fact in result.facts for cause in fact.caused_by)


def test_deep_json_is_text_and_no_error() -> None:
    content = "[" * 20_000
    assert len(extract(ItemInput(content), ExtractSettings()).chunks) == 7


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


WORD = st.sampled_from(
    [
        "heron",
        "river",
        "violin",
        "Gdynia",
        "yes",
        "no",
        "what",
        "hello",
        "thanks",
        "blue",
        "7",
        "yesterday",
        "a",
        "the",
        "and?",
        "Ok!",
    ]
)


@given(st.lists(st.lists(WORD, min_size=1, max_size=30).map(" ".join), min_size=2, max_size=12))
def test_the_whole_text_of_every_kept_turn_stands_in_one_memory(turns: list[str]) -> None:
    content = "\n".join(f"{('Ann', 'Ben')[i % 2]}: {turn}" for i, turn in enumerate(turns))
    result = extract(ItemInput(content, timestamp=AT), ExtractSettings())
    memories = [_plain(fact.text) for fact in result.facts]
    missing = [turn for turn in turns if not any(_plain(turn) in memory for memory in memories)]
    assert len(missing) <= result.dropped
    assert not any(word in turn for turn in missing for word in ("heron", "violin", "Gdynia", "7"))
