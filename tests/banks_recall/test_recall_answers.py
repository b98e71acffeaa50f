"""Recall: what is found, what is shown beside it, and what is said when a part cannot work."""

from __future__ import annotations

import threading
import time

import pytest
from recall_bank import Bench, texts

from lorebank.banks.graphs import memory_graph
from lorebank.banks.recall.ask import Include, MinScores
from lorebank.storage.ports import MemoryQuery
from lorebank.tags import Leaf


def test_a_write_is_found_by_keyword_before_any_vector_exists(bench: Bench) -> None:
    bench.add("Alice prefers tea.", "Bob sold the boat.")
    assert texts(bench.ask("Who sold a boat?"))[0] == "Bob sold the boat."


def test_a_write_after_the_first_recall_is_found_at_once(bench: Bench) -> None:
    bench.add("Alice prefers tea.")
    bench.ask("tea")
    bench.add("Carol bought a kayak.")
    assert texts(bench.ask("kayak"))[0] == "Carol bought a kayak."


def test_a_deleted_memory_is_not_found_any_more(bench: Bench) -> None:
    keys = bench.add("Alice prefers tea.", "Alice prefers coffee.")
    bench.vectors_ready()
    assert len(bench.ask("Alice tea").found) == 2
    with bench.handle.write() as writer:
        writer.delete_memories(keys[:1])
    assert texts(bench.ask("Alice tea")) == ["Alice prefers coffee."]


def test_a_changed_memory_is_found_by_its_new_text_only(bench: Bench) -> None:
    (key,) = bench.add("Alice prefers tea.")
    bench.vectors_ready()
    bench.ask("tea")
    with bench.handle.write() as writer:
        writer.edit_memory(key, {"text": "Alice prefers kvass.", "terms": "alic prefer kvass"}, 1, "edited")
    bench.builder.notify(bench.handle)
    bench.vectors_ready()
    answer = bench.ask("kvass", min_scores=MinScores(keyword=0.01))
    assert texts(answer) == ["Alice prefers kvass."]
    assert answer.found[0].keyword is not None


def test_a_recall_waits_a_moment_for_the_vectors_of_what_was_just_retained(bench: Bench) -> None:
    bench.vectors_ready()
    bench.first.gate.clear()
    bench.add("Alice prefers tea.")
    threading.Timer(0.2, bench.first.gate.set).start()
    answer = bench.ask("tea", settle_s=10.0)
    assert answer.found[0].semantic is not None


def test_a_recall_does_not_wait_longer_than_it_is_told(bench: Bench) -> None:
    bench.vectors_ready()
    bench.first.gate.clear()
    bench.add("Alice prefers tea.")
    began = time.monotonic()
    answer = bench.ask("tea", settle_s=0.1)
    bench.first.gate.set()
    assert time.monotonic() - began < 10
    assert answer.found[0].semantic is None
    assert answer.found[0].keyword is not None


def test_a_failing_embedder_is_named_and_the_other_arms_answer(bench: Bench) -> None:
    bench.add("Alice prefers tea.")
    bench.vectors_ready()
    bench.first.broken = True
    answer = bench.ask("tea of a kind never asked before", trace=True)
    assert texts(answer) == ["Alice prefers tea."]
    assert answer.degraded == {"semantic": "the scripted embedder is down"}
    assert answer.trace is not None
    assert answer.trace["degraded"] == answer.degraded


def test_vectors_of_a_model_that_is_not_configured_are_named_with_the_way_out(bench: Bench) -> None:
    bench.add("Alice prefers tea.")
    bench.vectors_ready()
    bench.embedders = type(bench.embedders)(bench.embedders.others[0])
    bench.indexes = type(bench.indexes)(bench.embedders, 8)
    answer = bench.ask("tea")
    assert texts(answer) == ["Alice prefers tea."]
    assert "first@1" in answer.degraded["semantic"]
    assert "reembed" in answer.degraded["semantic"]


def test_the_cross_encoder_orders_for_budget_high_only(bench: Bench) -> None:
    story = "Alice drinks tea, and this is where it was grown"
    bench.add("Alice drinks tea", story, "a boat")
    bench.vectors_ready()
    plain, high = bench.ask("Alice drinks tea"), bench.ask("Alice drinks tea", budget="high")
    assert [f.reranker for f in plain.found] == [None, None, None]
    assert all(f.reranker is not None for f in high.found)
    assert texts(plain)[0] == "Alice drinks tea"
    assert texts(high)[0] == story


def test_what_the_cross_encoder_did_not_judge_has_no_least_score_of_it(bench: Bench) -> None:
    bench.add(*(f"tea number {n} was grown on a hill" for n in range(40)))
    bench.vectors_ready()
    found = bench.ask("tea on a hill", budget="high", min_scores=MinScores(reranker=0.0)).found
    assert 0 < len(found) < 40 and all(f.reranker is not None for f in found)


@pytest.mark.parametrize(("setting", "reranked"), [(True, True), (False, False)])
def test_a_bank_can_ask_for_the_cross_encoder_or_forbid_it(
    bench: Bench, setting: bool, reranked: bool
) -> None:
    bench.add("tea", "more tea")
    budget = "mid" if reranked else "high"
    answer = bench.ask("tea", budget=budget, config={"enable_reranking": setting})
    assert all((f.reranker is not None) == reranked for f in answer.found)


def test_a_failing_cross_encoder_is_named_and_the_fused_order_stands(bench: Bench) -> None:
    bench.add("tea", "tea and a very long story about where the tea was grown")
    bench.vectors_ready()
    bench.reranker.broken = True
    answer = bench.ask("tea", budget="high")
    assert texts(answer) == texts(bench.ask("tea"))
    assert answer.degraded == {"rerank": "the scripted reranker is down"}


def test_a_trace_tells_arms_ranks_scores_and_the_sum_for_every_result(bench: Bench) -> None:
    bench.add("Alice prefers tea.", "Bob prefers tea too.")
    bench.vectors_ready()
    answer = bench.ask("Who prefers tea?", trace=True)
    assert answer.trace is not None
    rows = answer.trace["results"]
    assert [row["id"] for row in rows] == [found.memory.id for found in answer.found]
    for row, found in zip(rows, answer.found, strict=True):
        assert {"semantic", "keyword"} <= row["arms"].keys()
        assert all(arm["rank"] >= 1 for arm in row["arms"].values())
        product = sum(row["parts"].values())
        for factor in row["multipliers"].values():
            product *= factor
        assert row["fused"] == pytest.approx(min(max(product, 0), 1), abs=1e-3)
        assert row["final"] == pytest.approx(found.final, abs=1e-6)
    assert {"semantic", "keyword", "graph", "temporal", "total"} <= answer.trace["timings_ms"].keys()


def test_arms_that_the_bank_switches_off_do_not_run(bench: Bench) -> None:
    bench.add("Alice prefers tea.")
    config = {
        "enable_text_search": False,
        "enable_graph_retrieval": False,
        "enable_temporal_retrieval": False,
    }
    answer = bench.ask("tea", trace=True, config=config)
    assert answer.trace is not None
    assert answer.trace["arms"].keys() <= {"semantic"}


def test_results_never_cost_more_than_max_tokens(bench: Bench) -> None:
    bench.add(*(f"tea number {n} with some words around it" for n in range(30)))
    for most in (0, 1, 10, 50, 99):
        answer = bench.ask("tea", max_tokens=most)
        assert sum(found.memory.tokens for found in answer.found) <= most


def test_least_scores_keep_weaker_results_out(bench: Bench) -> None:
    bench.add("Alice prefers tea.", "The boat was sold in spring.")
    bench.vectors_ready()
    every = bench.ask("tea")
    middle = (every.found[0].final + every.found[1].final) / 2
    assert len(bench.ask("tea", min_scores=MinScores(final=middle)).found) == 1


def test_what_the_grant_hides_is_in_no_part_of_an_answer(bench: Bench) -> None:
    bench.add("Alice prefers tea.", tags=("open",), entities=(("Alice", "PERSON"),))
    bench.add("Mallory hides tea.", tags=("secret",), entities=(("Mallory", "PERSON"),))
    bench.vectors_ready()
    bench.rules.filter = Leaf(("open",), "any_strict")
    include = Include(entities=500, chunks=5000, source_facts=500)
    answer = bench.ask("tea Mallory", handle=bench.open("home"), include=include, trace=True)
    assert texts(answer) == ["Alice prefers tea."]
    assert "Mallory" not in repr(answer)
    assert answer.trace is not None
    assert answer.trace["fusion"]["visible"] == 1


def test_an_asked_filter_is_added_to_the_grants(bench: Bench) -> None:
    bench.add("open tea", tags=("open",))
    bench.add("secret tea", tags=("secret",))
    bench.rules.filter = Leaf(("open",), "any_strict")
    handle = bench.open("home")
    assert texts(bench.ask("tea", handle=handle, filter=Leaf(("secret",), "any_strict"))) == []


def test_fuzzy_tags_find_what_is_spelled_nearly_alike(bench: Bench) -> None:
    bench.add("tea", tags=("kubernetes",))
    near = Leaf(("kubernets",), "any_strict", "fuzzy")
    assert texts(bench.ask("tea", filter=near)) == ["tea"]


def test_chunks_come_in_order_of_relevance_and_the_last_is_cut(bench: Bench) -> None:
    bench.add("Alice prefers tea.", "tea is what Bob drinks all day long in the office")
    answer = bench.ask("Alice tea", include=Include(chunks=8))
    assert answer.chunks[0].text == texts(answer)[0]
    assert not answer.chunks[0].truncated
    assert answer.chunks[1].truncated
    assert texts(answer)[1].startswith(answer.chunks[1].text)


def test_entities_of_the_results_fit_their_budget(bench: Bench) -> None:
    names = tuple((f"Person{n}", "PERSON") for n in range(40))
    bench.add("tea for everybody", entities=names)
    some = bench.ask("tea", include=Include(entities=20)).entities
    every = bench.ask("tea", include=Include(entities=5000)).entities
    assert 0 < len(some) < 40
    assert len(every) == 40


def test_an_observation_brings_its_source_facts_within_their_budgets(bench: Bench) -> None:
    sources = bench.add("Alice drank tea on Monday.", "Alice drank tea on Tuesday.")
    bench.add("Alice drinks tea every day.", fact_type="observation", source_keys=tuple(sources))
    kinds = frozenset({"observation"})
    full = bench.ask("tea", kinds=kinds, include=Include(source_facts=4096))
    assert {m.text for m in full.source_facts} == {
        "Alice drank tea on Monday.",
        "Alice drank tea on Tuesday.",
    }
    assert not full.source_facts_truncated
    one = bench.ask("tea", kinds=kinds, include=Include(source_facts=4096, per_observation=8))
    assert len(one.source_facts) == 1
    assert one.source_facts_truncated


def test_preferring_observations_drops_the_facts_that_they_rest_on(bench: Bench) -> None:
    sources = bench.add("Alice drank tea on Monday.", "Alice drank tea on Tuesday.")
    bench.add("Alice drinks tea every day.", fact_type="observation", source_keys=tuple(sources))
    bench.add("Bob drinks no tea.")
    found = texts(bench.ask("Who drinks tea?", prefer_observations=True))
    assert "Alice drinks tea every day." in found
    assert "Bob drinks no tea." in found
    assert not any("drank" in text for text in found)


def test_the_graph_joins_what_means_nearly_the_same_and_nothing_else(bench: Bench) -> None:
    bench.add("Alice drinks green tea", "Alice drinks green tea daily", "the boat was sold in spring")
    bench.vectors_ready()
    snapshot, _ = bench.indexes.snapshot(bench.handle)
    with bench.handle.read() as reader:
        graph = memory_graph(reader, MemoryQuery(), 100, snapshot)
        texts_of = {memory.id: memory.text for memory in graph.memories}
    joined = [{texts_of[e.source], texts_of[e.target]} for e in graph.edges if e.type == "semantic"]
    assert joined == [{"Alice drinks green tea", "Alice drinks green tea daily"}]
