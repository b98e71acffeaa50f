"""Vectors: made in the background, true to their text, and changed to another model online."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from recall_bank import Bench, texts

from lorebank.banks import reembed
from lorebank.banks.embedders import ACTIVE_MODEL, active_model
from lorebank.banks.rebuild import rebuild
from lorebank.banks.vectors import build


def models(bench: Bench) -> dict[str, int]:
    with bench.handle.read() as reader:
        return dict(reader.vector_models())


def test_memories_of_a_dead_process_get_their_vectors_without_a_new_write(tmp_path: Path) -> None:
    before = Bench(tmp_path / "data")
    before.add("Alice prefers tea.", "Bob sold the boat.")
    before.close()
    after = Bench(tmp_path / "data")
    after.vectors_ready()
    assert models(after) == {"first@1": 2}
    after.close()


def test_a_turn_is_embedded_with_the_turn_before_it_in_its_conversation(bench: Bench) -> None:
    bench.add("Alice: Where did you go?", thread="t", position=0)
    bench.add("Bob: To the lake.", thread="t", position=1)
    bench.vectors_ready()
    assert "Alice: Where did you go?\nBob: To the lake." in bench.first.seen


def test_a_turn_with_other_tags_lends_nothing_to_the_vector_of_the_next(bench: Bench) -> None:
    bench.add("Alice: The code is 4711.", thread="t", position=0, tags=("secret",))
    bench.add("Bob: Thank you for telling me about it.", thread="t", position=1, tags=("open",))
    bench.vectors_ready()
    assert sorted(bench.first.seen) == ["Alice: The code is 4711.", "Bob: Thank you for telling me about it."]


def test_deleting_a_turn_makes_the_vector_of_the_next_anew_without_it(bench: Bench) -> None:
    first, _ = (
        bench.add("Alice: The code is 4711.", thread="t", position=0)[0],
        bench.add("Bob: Thank you for telling me about it.", thread="t", position=1),
    )
    bench.vectors_ready()
    with bench.handle.write() as writer:
        writer.delete_memories([first])
    bench.builder.notify(bench.handle)
    bench.vectors_ready()
    assert bench.first.seen[-1] == "Bob: Thank you for telling me about it."
    assert models(bench) == {"first@1": 1}


def test_an_embedder_that_comes_back_finds_the_backlog_by_itself(bench: Bench) -> None:
    bench.first.broken = True
    bench.add("Alice prefers tea.")
    bench.builder.start()
    assert bench.builder.drain(10)
    assert models(bench) == {}
    assert list(bench.builder.failures.values()) == ["the scripted embedder is down"]
    bench.first.broken = False
    for _ in range(400):
        if models(bench):
            break
        time.sleep(0.02)
    assert models(bench) == {"first@1": 1}
    assert bench.builder.drain(10)
    assert not bench.builder.failures


def test_old_vectors_answer_until_the_new_ones_are_complete(bench: Bench) -> None:
    bench.add("Alice prefers tea.", "Bob sold the boat.")
    bench.vectors_ready()
    bench.second.gate.clear()
    assert reembed.aim(bench.handle, "second@1")
    bench.builder.notify(bench.handle)
    found = bench.ask("Who prefers tea?").found
    assert all(item.semantic is not None for item in found)
    assert not reembed.switch(bench.handle, "second@1")
    bench.second.gate.set()
    bench.vectors_ready()
    assert models(bench) == {"second@1": 2}
    answer = bench.ask("Who prefers tea?")
    assert texts(answer)[0] == "Alice prefers tea."
    assert answer.found[0].semantic is not None
    assert not answer.degraded


def test_a_killed_reembed_goes_on_after_the_restart(tmp_path: Path) -> None:
    before = Bench(tmp_path / "data")
    before.add("Alice prefers tea.")
    before.vectors_ready()
    reembed.aim(before.handle, "second@1")
    before.close()
    after = Bench(tmp_path / "data")
    after.vectors_ready()
    assert models(after) == {"second@1": 1}
    with after.handle.read() as reader:
        assert reembed.target(reader) is None
        assert reader.meta(ACTIVE_MODEL) == "second@1"
    after.close()


def test_another_configured_model_does_not_mix_with_a_banks_vectors(tmp_path: Path) -> None:
    before = Bench(tmp_path / "data")
    before.add("Alice prefers tea.")
    before.vectors_ready()
    before.close()
    after = Bench(tmp_path / "data", second_model=True)
    after.add("Bob sold the boat.")
    after.vectors_ready()
    assert models(after) == {"first@1": 2}
    with after.handle.read() as reader:
        assert active_model(reader, after.embedders) == "first@1"
    fresh = after.open("other")
    after.add("Carol paints.", handle=fresh)
    after.vectors_ready()
    with fresh.read() as reader:
        assert reader.vector_models() == {"second@1": 1}
    after.close()


def test_turning_back_from_a_half_made_reembed_leaves_nothing_waiting(bench: Bench) -> None:
    bench.add("Alice prefers tea.", "Bob sold the boat.")
    bench.vectors_ready()
    reembed.aim(bench.handle, "second@1")
    with bench.handle.write() as writer:
        one = writer.missing_vectors("second@1", 1)[0]
        writer.put_vectors("second@1", [(one.key, one.seq, bytes(2 * 16))])
    assert models(bench) == {"first@1": 2, "second@1": 1}
    assert not reembed.aim(bench.handle, "first@1")
    assert models(bench) == {"first@1": 2}
    with bench.handle.read() as reader:
        assert reader.counts().pending_vectors == 0
        assert reembed.target(reader) is None


def test_a_batch_in_hand_is_not_stored_after_the_bank_has_turned_back(bench: Bench) -> None:
    bench.add("Alice prefers tea.")
    bench.vectors_ready()
    reembed.aim(bench.handle, "second@1")
    bench.second.gate.clear()
    work = threading.Thread(
        target=build, args=(bench.handle, bench.embedders.others[0], threading.Event()), daemon=True
    )
    work.start()
    reembed.aim(bench.handle, "first@1")
    bench.second.gate.set()
    work.join(10)
    assert not work.is_alive()
    assert models(bench) == {"first@1": 1}


def test_aiming_at_the_model_that_answers_already_changes_nothing(bench: Bench) -> None:
    bench.add("Alice prefers tea.")
    bench.vectors_ready()
    assert not reembed.aim(bench.handle, "first@1")
    assert models(bench) == {"first@1": 1}


def test_rebuilding_mends_terms_from_the_text_without_a_model_call(bench: Bench) -> None:
    (key,) = bench.add("Alice prefers tea.")
    bench.vectors_ready()
    with bench.handle.write() as writer:
        writer.edit_memory(key, {"terms": "nothing", "tokens": 99}, 1, "edited")
    calls = len(bench.first.seen)
    assert rebuild(bench.handle) == 1
    bench.indexes.drop(bench.handle.store_id)
    answer = bench.ask("tea")
    assert answer.found[0].keyword is not None
    assert answer.found[0].memory.tokens == 4
    assert len(bench.first.seen) == calls
