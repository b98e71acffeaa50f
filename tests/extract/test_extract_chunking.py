"""Chunks lose nothing and break only where they may."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorebank.banks.extract import ExtractSettings, ItemInput, extract
from lorebank.banks.extract.split import pieces, sentences
from lorebank.search import asks, speaker_of

WORDS = ["tea", "a longer word", "Dr. Smith came.", "\n", "\n\n", "。", "你好！", "x" * 40, " ", "One, two; "]
PROSE = st.one_of(st.text(max_size=300), st.lists(st.sampled_from(WORDS), max_size=60).map("".join))


@given(PROSE, st.integers(1, 80))
def test_pieces_joined_are_the_text_and_none_is_too_long(text: str, size: int) -> None:
    cut = pieces(text, size)
    assert "".join(cut) == text
    assert all(len(piece) <= size for piece in cut)


@given(PROSE)
def test_sentences_joined_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


@given(PROSE, st.integers(20, 120))
def test_chunks_of_text_joined_are_the_content_and_facts_name_a_chunk(text: str, size: int) -> None:
    result = extract(ItemInput(text), ExtractSettings(chunk_size=size))
    assert "".join(chunk.text for chunk in result.chunks) == text
    assert [chunk.index for chunk in result.chunks] == list(range(len(result.chunks)))
    assert all(0 <= fact.chunk_index < len(result.chunks) for fact in result.facts)


RUNS = (
    ".",
    "!?",
    ". ",
    "…",
    '."',
    "\n",
    "\n ",
    "\u3000",
    "[",
    "[a",
    "]",
    "a",
    "A ",
    "0.",
    "a.",
    "*",
    "-",
    "|",
    "Aa: ",
)


@pytest.mark.parametrize("run", RUNS)
def test_a_hostile_run_of_characters_ends(run: str) -> None:
    """A pattern that tries every place of a run anew holds up the whole server: here for hours."""
    text = f"x{run * (200_000 // len(run))}y"
    result = extract(ItemInput(text), ExtractSettings())
    assert "".join(chunk.text for chunk in result.chunks) == text
    for fact in result.facts:
        asks(fact.text)
        speaker_of(fact.text)


def test_sentences_end_where_readers_end_them() -> None:
    assert sentences("Dr. Smith came at 5 p.m. on foot. He left! Why? 你好。再见！") == [
        "Dr. Smith came at 5 p.m. on foot. ",
        "He left! ",
        "Why? ",
        "你好。",
        "再见！",
    ]


def test_a_hash_is_that_of_the_text() -> None:
    (chunk,) = extract(ItemInput("Łódź has trams."), ExtractSettings()).chunks
    assert chunk.hash == hashlib.sha256("Łódź has trams.".encode()).hexdigest()


def test_a_lone_surrogate_does_not_stop_the_hash() -> None:
    assert len(extract(ItemInput("broken \ud800 text"), ExtractSettings()).chunks[0].hash) == 64


def test_a_transcript_is_cut_between_turns() -> None:
    lines = [f"{('Ann', 'Ben')[i % 2]}: line {i} about the harbour and its boats." for i in range(40)]
    result = extract(ItemInput("\n".join(lines)), ExtractSettings(chunk_size=200))
    assert all(chunk.text.startswith(("Ann:", "Ben:")) for chunk in result.chunks)
    assert all(len(chunk.text) <= 200 for chunk in result.chunks)
    assert all(fact.text in result.chunks[fact.chunk_index].text for fact in result.facts)


def test_json_turns_are_written_again_as_json() -> None:
    turns = [{"role": "user", "content": f"Fact {i} about the harbour and its boats."} for i in range(40)]
    result = extract(ItemInput(json.dumps(turns)), ExtractSettings(chunk_size=300))
    assert [turn for chunk in result.chunks for turn in json.loads(chunk.text)] == turns
    assert all(len(chunk.text) <= 300 for chunk in result.chunks)
    chunks = result.chunks
    assert all(fact.text.removeprefix("User: ") in chunks[fact.chunk_index].text for fact in result.facts)


def test_jsonl_is_cut_between_lines() -> None:
    lines = [json.dumps({"role": "user", "content": f"Fact {i} about the harbour."}) for i in range(30)]
    result = extract(ItemInput("\n".join(lines)), ExtractSettings(chunk_size=300))
    assert [line for chunk in result.chunks for line in chunk.text.splitlines()] == lines


def test_a_long_json_turn_is_kept_whole_up_to_its_own_limit_and_cut_above() -> None:
    said = ("The harbour is deep. " * 60, "Boats come at noon.")
    turns = [{"role": "user", "content": text} for text in said]
    content = json.dumps(turns)
    kept = extract(ItemInput(content), ExtractSettings(chunk_size=400, structured_chunk_size=5000))
    assert json.loads(kept.chunks[0].text) == [turns[0]]
    cut = extract(ItemInput(content), ExtractSettings(chunk_size=400))
    parts = [turn for chunk in cut.chunks for turn in json.loads(chunk.text)]
    assert "".join(part["content"] for part in parts[:-1]) == turns[0]["content"]
    assert all(part["role"] == "user" for part in parts)
    assert all(len(chunk.text) <= 400 for chunk in cut.chunks)
