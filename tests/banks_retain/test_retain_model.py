"""Whatever is retained, appended and replaced in whatever order: the bank holds what a plain dict says."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from retain_bank import Bank

from lorebank.banks.retain.items import Item

WORDS = ("violin", "harp", "cello", "flute", "organ", "drum", "lyre", "horn")
TURNS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
STEPS = st.lists(st.tuples(st.sampled_from("xyz"), st.booleans(), TURNS), min_size=1, max_size=8)


def turn(word: str) -> str:
    """A turn long enough that each is a chunk of its own."""
    return f"Mona: The {word} of the hall of mirrors was carried by hand to the {word} museum of old Turku.\n"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_the_bank_holds_exactly_what_the_sequence_of_writes_says(
    steps: list[tuple[str, bool, list[str]]],
) -> None:
    expected: dict[str, list[str]] = {}
    with TemporaryDirectory() as folder:
        bank = Bank(Path(folder) / "data")
        bank.configure(retain_chunk_size=110)
        for document, append, words in steps:
            bank.retain(Item("".join(map(turn, words)), document_id=document, append=append))
            expected[document] = (expected.get(document, []) if append else []) + words
        proofs: dict[str, int] = {}
        for words in expected.values():
            for word in words:
                proofs[turn(word).strip()] = proofs.get(turn(word).strip(), 0) + 1
        assert {memory.text: memory.proof_count for memory in bank.memories()} == proofs
        for document, words in expected.items():
            chunks = bank.chunks(document)
            assert [chunk.text.strip() for chunk in chunks] == [turn(word).strip() for word in words]
            assert [chunk.chunk_index for chunk in chunks] == list(range(len(words)))
        bank.close()
