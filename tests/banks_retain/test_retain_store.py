"""Retain, end to end into a real store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from retain_bank import Bank, failing_commits

from lorebank.banks.retain.check import PENDING_TAG
from lorebank.banks.retain.edit import edit
from lorebank.banks.retain.items import Item
from lorebank.banks.retain.service import retain
from lorebank.clock import to_iso
from lorebank.errors import BadRequest, InvalidInput, NeedsLLM

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def said(text: str, **more: object) -> Item:
    return Item(text, when=NOON, **more)  # type: ignore[arg-type]


def test_a_retained_item_is_a_document_a_chunk_and_a_memory(bank: Bank) -> None:
    bank.retain(
        said("Farid repaired the bakery oven.", document_id="oven", tags=("shop",), metadata={"k": "v"})
    )
    [memory] = bank.memories()
    assert (memory.text, memory.tags, memory.metadata) == (
        "Farid repaired the bakery oven.",
        ("shop",),
        {"k": "v"},
    )
    assert memory.document_id == "oven" and memory.chunk_id == bank.chunks("oven")[0].chunk_id
    document = bank.document("oven")
    assert (
        document is not None
        and document.text == "Farid repaired the bakery oven."
        and document.memory_count == 1
    )
    assert [event.kind for event in bank.events("oven")] == ["retain"]
    assert bank.woken == ["vectors"]


def test_one_wrong_item_refuses_the_whole_request_and_is_named(bank: Bank) -> None:
    with pytest.raises(InvalidInput, match=r"items\[3\]\.content"):
        bank.retain(said("one"), said("two"), said("three"), said(" \n"))
    assert bank.memories() == [] and bank.documents() == []


def test_the_pending_mark_cannot_be_sent(bank: Bank) -> None:
    with pytest.raises(BadRequest, match=r"items\[0\]\.tags"):
        bank.retain(said("Anna moved to Bergen.", tags=(PENDING_TAG,)))
    with pytest.raises(BadRequest, match="document_tags"):
        retain(bank.handle, bank.tools, [said("Anna moved to Bergen.")], (PENDING_TAG,))


def test_undecided_tag_labels_mark_the_memory_as_pending(bank: Bank) -> None:
    bank.configure(
        entity_labels=[{"key": "mood", "tag": True, "values": [{"value": "joyful"}, {"value": "angry"}]}]
    )
    bank.retain(said("The joyful crowd cheered for Dana."), said("The train to Oslo leaves at nine."))
    tags = {memory.text[:9]: set(memory.tags) for memory in bank.memories()}
    assert "mood:joyful" in tags["The joyfu"] and PENDING_TAG not in tags["The joyfu"]
    assert PENDING_TAG in tags["The train"]


def test_retain_says_which_label_groups_rules_could_not_decide(bank: Bank) -> None:
    bank.configure(entity_labels=[{"key": "mood", "values": [{"value": "joyful"}, {"value": "angry"}]}])
    written = retain(bank.handle, bank.tools, [said("The train to Oslo leaves at nine.")])
    assert written.labels_undecided == ("mood",)
    assert retain(bank.handle, bank.tools, [said("The joyful crowd cheered.")]).labels_undecided == ()


def test_the_same_fact_three_times_is_one_memory_with_three_proofs(bank: Bank) -> None:
    for _ in range(3):
        bank.retain(said("Farid likes green tea."))
    [memory] = bank.memories()
    assert memory.proof_count == 3 and memory.state == "valid"
    assert len(bank.documents()) == 3


def test_near_identical_retains_are_one_memory_with_a_proof_each(bank: Bank) -> None:
    for text in (
        "Farid likes tea.",
        "farid likes tea.",
        "Farid  likes tea.",
        "FARID LIKES TEA.",
        " Farid likes\ttea.",
        "Farid likes tea.",
    ):
        bank.retain(said(text))
    [memory] = bank.memories()
    assert memory.proof_count == 6


def test_the_same_document_again_proves_nothing_new(bank: Bank) -> None:
    for _ in range(3):
        bank.retain(said("Farid likes green tea.", document_id="d"))
    [memory] = bank.memories()
    assert memory.proof_count == 1


def test_replacing_a_document_keeps_the_memories_of_unchanged_chunks(bank: Bank) -> None:
    bank.configure(retain_chunk_size=100)
    turns = [
        f"Mona: On trip {n} I photographed the lighthouse of place number {n} at dawn.\n" for n in range(4)
    ]
    bank.retain(said("".join(turns), document_id="d"))
    before = {memory.text: memory.id for memory in bank.memories()}
    turns[2] = "Mona: I sold my camera and bought a violin instead, which I play daily.\n"
    bank.retain(said("".join(turns), document_id="d"))
    after = {memory.text: memory.id for memory in bank.memories()}
    assert len(before) == len(after) == 4
    assert {id for text, id in after.items() if text in before} == {before[t] for t in before if t in after}
    assert len(before.keys() & after.keys()) == 3
    assert [e.kind for e in bank.events("d")] == ["retain", "retain"]
    assert (bank.events("d")[0].facts_added, bank.events("d")[0].facts_removed) == (1, 1)


def test_a_shorter_document_sweeps_the_memories_of_removed_chunks(bank: Bank) -> None:
    bank.configure(retain_chunk_size=100)
    turns = [
        f"Mona: On trip {n} I photographed the lighthouse of place number {n} at dawn.\n" for n in range(4)
    ]
    bank.retain(said("".join(turns), document_id="d"))
    bank.retain(said(turns[0], document_id="d"))
    assert len(bank.memories()) == 1 and len(bank.chunks("d")) == 1


def test_append_adds_to_the_stored_text(bank: Bank) -> None:
    bank.retain(said("Mona: I bought a violin.", document_id="d"))
    bank.retain(said("Mona: I sold my violin to Erik.", document_id="d", append=True))
    document = bank.document("d")
    assert (
        document is not None and document.text == "Mona: I bought a violin.\nMona: I sold my violin to Erik."
    )
    assert len(bank.memories()) == 2
    assert [event.kind for event in bank.events("d")] == ["append", "retain"]


def test_append_to_a_missing_document_makes_it(bank: Bank) -> None:
    bank.retain(said("Mona: I bought a violin.", document_id="d", append=True))
    assert bank.document("d") is not None and len(bank.memories()) == 1


def test_append_needs_the_stored_text(bank: Bank) -> None:
    bank.configure(store_document_text=False)
    with pytest.raises(BadRequest, match="store_document_text"):
        bank.retain(said("Mona: I bought a violin.", document_id="d", append=True))
    bank.retain(said("Mona: I bought a violin.", document_id="d"))
    bank.configure(store_document_text=True)
    with pytest.raises(BadRequest, match="without its text"):
        bank.retain(said("Mona: I bought a cello.", document_id="d", append=True))


def test_fifty_parallel_appends_all_survive(bank: Bank) -> None:
    texts = [f"Mona: Violin number {n} went to the shop in street {n}." for n in range(50)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: bank.retain(said(text, document_id="d", append=True)), texts))
    document = bank.document("d")
    assert document is not None and document.text is not None
    assert sorted(document.text.split("\n")) == sorted(texts)
    assert len(bank.memories()) == 50 and len(bank.chunks("d")) == 50
    assert sorted(memory.position for memory in bank.memories()) == list(range(50))


def test_the_same_text_appended_twice_has_two_chunks_and_two_proofs(bank: Bank) -> None:
    for _ in range(2):
        bank.retain(said("Mona: I bought a violin.", document_id="d", append=True))
    [memory] = bank.memories()
    assert memory.proof_count == 2 and len(bank.chunks("d")) == 2


def test_without_stored_text_neither_document_nor_chunk_keeps_it(bank: Bank) -> None:
    bank.configure(store_document_text=False)
    bank.retain(said("Mona bought a violin.", document_id="d"))
    document = bank.document("d")
    assert document is not None and document.text is None and document.text_length == 21
    assert [chunk.text for chunk in bank.chunks("d")] == [""]
    assert bank.memories()[0].text == "Mona bought a violin."


def test_an_unset_time_gives_a_memory_without_any_date(bank: Bank) -> None:
    bank.retain(Item("Mona bought a violin yesterday.", when=None, stated=True))
    [memory] = bank.memories()
    assert (memory.mentioned_at, memory.occurred_start, memory.occurred_end) == (None, None, None)


def test_a_stated_time_with_a_zone_comes_back_as_the_same_instant(bank: Bank) -> None:
    zone = timezone(timedelta(hours=9))
    when = datetime(2026, 3, 5, 1, 30, tzinfo=zone)
    bank.retain(Item("Mona bought a violin yesterday.", when=when, stated=True))
    [memory] = bank.memories()
    assert to_iso(memory.mentioned_at) == "2026-03-04T16:30:00+00:00"
    # Yesterday in the speaker's zone is the 4th there.
    assert to_iso(memory.occurred_start) == "2026-03-03T15:00:00+00:00"


def test_last_friday_becomes_the_date_of_that_friday(bank: Bank) -> None:
    bank.retain(Item("Mona met Erik last Friday.", when=NOON, stated=True))
    [memory] = bank.memories()
    assert to_iso(memory.occurred_start) == "2026-02-27T00:00:00+00:00" and memory.precision == "day"
    assert to_iso(memory.mentioned_at) == "2026-03-04T12:00:00+00:00"


def test_given_entities_are_named_by_the_memory(bank: Bank) -> None:
    bank.retain(said("She sold the violin.", entities=(("Mona Ekdal", "PERSON"),), resolve_entities=False))
    assert "Mona Ekdal" in bank.memories()[0].entities


def test_observation_scopes_are_kept_with_the_document(bank: Bank) -> None:
    bank.retain(said("Mona sold the violin.", document_id="d", observation_scopes=[["a"], ["b"]]))
    document = bank.document("d")
    assert document is not None and document.observation_scopes == [["a"], ["b"]]


@pytest.mark.parametrize("mode", ["chunks", "verbatim"])
def test_modes_that_keep_chunks_store_them_word_for_word(bank: Bank, mode: str) -> None:
    bank.configure(retain_extraction_mode=mode)
    text = "user: hi\nassistant: Hello! How can I help?"
    bank.retain(said(text))
    assert [memory.text for memory in bank.memories()] == [text]


@pytest.mark.parametrize("mode", ["concise", "verbose", "custom"])
def test_modes_that_need_a_language_model_say_so_and_store_nothing(bank: Bank, mode: str) -> None:
    bank.configure(retain_extraction_mode=mode)
    with pytest.raises(NeedsLLM, match=mode):
        bank.retain(said("Mona sold the violin."))
    assert bank.documents() == []


def test_an_unknown_strategy_is_refused_with_the_known_ones(bank: Bank) -> None:
    bank.configure(retain_strategies={"logs": {"retain_extraction_mode": "chunks"}})
    with pytest.raises(BadRequest, match="logs"):
        bank.retain(said("Mona sold the violin.", strategy="log"))


def test_each_item_is_extracted_under_its_own_strategy(bank: Bank) -> None:
    bank.configure(retain_strategies={"logs": {"retain_extraction_mode": "chunks"}})
    text = "Mona: I bought a violin in Bergen.\nErik: I sold my old cello to a museum."
    bank.retain(said(text, document_id="a"), said(text + " ", document_id="b", strategy="logs"))
    assert sorted(len([m for m in bank.memories() if m.document_id == d]) for d in "ab") == [1, 2]


def test_items_with_the_same_context_and_time_are_one_thread_without_gaps(bank: Bank) -> None:
    for n in range(3):
        bank.retain(
            Item(f"Mona: Violin {n} is sold.", "session 1", NOON, True, document_id=f"t{2 * n}"),
            Item(f"Erik: Cello {n} is sold.", "session 1", NOON, True, document_id=f"t{2 * n + 1}"),
        )
    order = sorted(bank.memories(), key=lambda memory: memory.position)
    assert len({memory.thread for memory in order}) == 1
    assert [(m.position, m.document_id) for m in order] == [(n, f"t{n}") for n in range(6)]


def test_unrelated_items_of_a_batch_are_no_thread(bank: Bank) -> None:
    bank.retain(said("Mona sold the violin."), said("Erik moved to Bergen."))
    assert {memory.thread for memory in bank.memories()} == {None}
    assert len(bank.documents()) == 1


def test_the_turns_of_a_named_document_are_one_thread_across_appends(bank: Bank) -> None:
    bank.retain(said("Mona: I sold the violin.\nErik: I moved to Bergen.", document_id="d"))
    bank.retain(said("Mona: I bought a harp in Turku.", document_id="d", append=True))
    order = sorted(bank.memories(), key=lambda memory: memory.position)
    assert [memory.position for memory in order] == [0, 1, 2]
    assert order[2].text.startswith("Mona: I bought") and len({m.thread for m in order}) == 1


def test_small_talk_leaves_few_memories_and_every_fact(bank: Bank) -> None:
    chatter = [
        "Hi there!",
        "Hello!",
        "How are you?",
        "Fine, thanks!",
        "Okay.",
        "Thanks a lot!",
        "Bye!",
        "See you!",
        "Good morning!",
        "Great!",
    ]
    facts = [f"My locker number in hall {n} is {n * 37 + 11}." for n in range(10)]
    turns = []
    for n in range(200):
        text = facts[n // 20] if n % 20 == 7 else chatter[n % len(chatter)]
        turns.append(f"{'Mona' if n % 2 else 'Erik'}: {text}")
    bank.retain(said("\n".join(turns), document_id="talk"))
    texts = [memory.text for memory in bank.memories()]
    assert len(texts) <= 15
    assert all(any(fact in text for text in texts) for fact in facts)


def test_a_long_document_is_retained_whole_or_not_at_all(bank: Bank) -> None:
    text = " ".join(f"In year {1900 + n} the mill number {n} was sold to family {n}." for n in range(250))
    assert len(text) > 10_000
    with failing_commits(), pytest.raises(RuntimeError):
        bank.retain(said(text, document_id="mill"))
    assert bank.documents() == [] and bank.memories() == []
    bank.retain(said(text, document_id="mill"))
    bank.retain(said(text, document_id="mill"))
    assert "".join(chunk.text for chunk in bank.chunks("mill")) == text
    assert all(memory.proof_count == 1 for memory in bank.memories())


def test_thousands_of_items_from_several_threads_meet_no_lock_error(bank: Bank) -> None:
    bank.configure(retain_extraction_mode="chunks")
    batches = [[said(f"Crate {b}-{n} stands in row {n}.") for n in range(250)] for b in range(20)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda batch: bank.retain(*batch), batches))
    assert bank.count() == 5_000


def test_an_invalidated_memory_stays_so_when_its_chunk_is_extracted_again(bank: Bank) -> None:
    bank.retain(said("Mona sold the violin.", document_id="d"))
    [memory] = bank.memories()
    edit(bank.handle, bank.tools, memory.id, {"state": "invalidated"}, "not true")
    bank.retain(said("Mona sold the violin.", document_id="d", tags=("new",)))
    [memory] = bank.memories(state=None)
    assert (memory.state, memory.invalidation_reason, memory.tags) == ("invalidated", "not true", ("new",))


def test_known_entities_are_found_in_lower_case_text(bank: Bank) -> None:
    bank.retain(said("It opened in Porto last year.", entities=(("Lumora Suite", "ORG"),)))
    bank.retain(said("we moved everything to lumora suite in spring"))
    found = {memory.text: memory.entities for memory in bank.memories()}
    assert "Lumora Suite" in found["we moved everything to lumora suite in spring"]


def test_a_second_replace_with_equal_items_folds_into_the_same_chunks(bank: Bank) -> None:
    items = [said("Mona sold a violin.", document_id="d"), said("Erik bought a harp.", document_id="d")]
    bank.retain(*items)
    ids = {memory.id for memory in bank.memories()}
    bank.retain(*[replace(item) for item in items])
    assert {memory.id for memory in bank.memories()} == ids and len(ids) == 2
