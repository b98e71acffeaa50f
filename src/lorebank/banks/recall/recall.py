"""One recall, from the question to the answer: embed, search, reorder, fit the budget, add the parts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lorebank import tokens
from lorebank.banks.config import BankConfig
from lorebank.banks.embedders import Embedders
from lorebank.banks.indexes import Indexes
from lorebank.banks.recall import parts, trace
from lorebank.banks.recall.ask import Answer, Ask, Found, Include, MinScores
from lorebank.errors import Unavailable
from lorebank.metrics import Metrics
from lorebank.models.ports import Vector
from lorebank.models.service import EmbedService, RerankService
from lorebank.search import (
    ARMS,
    Arm,
    Hit,
    Reranked,
    SearchQuery,
    SearchResult,
    SearchSettings,
    Snapshot,
    blend,
    embed_text,
    fit,
    search,
)
from lorebank.storage.ports import BankHandle, BankReader
from lorebank.storage.rows import Memory
from lorebank.tags import TagFilter, both, expand_fuzzy, matches, needs_fuzzy

_SECOND = 1_000_000
# A question waits this long for its vector at most; then the other arms answer alone.
_EMBED_DEADLINE_S = 2.0
_SETTINGS = SearchSettings()
# Searching is Python between many short native calls: more than two at once only take turns at the
# interpreter's lock, and lose time with every turn (measured: 8 clients get a third more answers).
_TURNS = threading.BoundedSemaphore(2)
# With more memories than this without a vector, waiting a moment would not help.
_SETTLE_AT_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Engine:
    """The parts of the server that a recall works with."""

    indexes: Indexes
    embedders: Embedders
    reranker: RerankService
    metrics: Metrics
    settle: Callable[[BankHandle, float], None]
    rerank_deadline_s: float
    settle_s: float
    query_tokens: int


@dataclass(slots=True)
class _Notes:
    """What happened on the way: stage times and what could not work."""

    timings: dict[str, float] = field(default_factory=dict)
    degraded: dict[str, str] = field(default_factory=dict)

    def clock(self, stage: str, began: float) -> None:
        self.timings[stage] = (time.perf_counter() - began) * 1000


def recall(engine: Engine, handle: BankHandle, config: BankConfig, ask: Ask) -> Answer:
    """The memories of the bank that best answer the question and fit `max_tokens`.

    An arm or stage that fails is named in `degraded`; the others answer. What the grant's filter or
    the asked filter hides takes no part in any stage.
    """
    began = time.perf_counter()
    notes = _Notes()
    snapshot, model_id = _settled(engine, handle, notes)
    text = _cut(ask.query, engine.query_tokens)
    vector = _vector(engine.embedders.find(model_id), model_id, snapshot, text, notes)
    visible = _expanded(snapshot, both(handle.grant.filter, ask.filter))
    query = _search_query(ask, config, text, vector, visible)
    with _TURNS:
        result = search(snapshot, query, _SETTINGS)
    notes.timings.update(result.timings)
    for arm in result.degraded:
        # Why there is no vector was noted where it was asked for; the search only knows that there is none.
        notes.degraded.setdefault(arm, result.reasons.get(arm, "failed"))
    with handle.read() as reader:
        ranked = _ranked(engine, reader, config, ask, text, result, notes)
        with _TURNS:
            found = _hydrated(reader, result, ranked, visible, ask)
            answer = _with_parts(reader, found, ask.include, notes)
    notes.clock("total", began)
    _observe(engine.metrics, notes)
    if not ask.trace:
        return answer
    return replace(answer, trace=trace.build(ask, result, found, notes.timings, notes.degraded))


def _settled(engine: Engine, handle: BankHandle, notes: _Notes) -> tuple[Snapshot, str]:
    """The bank's index; vectors of what was retained just now are given a moment to arrive.

    Somebody who retains and asks at once shall find by meaning what he retained. Behind a long
    import nobody waits: the other arms answer for what has no vector yet.
    """
    began = time.perf_counter()
    snapshot, model_id = engine.indexes.snapshot(handle)
    notes.clock("index", began)
    waiting = snapshot.passages - snapshot.embedded
    if snapshot.dimension is None or not 0 < waiting <= _SETTLE_AT_MOST or not engine.settle_s:
        return snapshot, model_id
    service = engine.embedders.find(model_id)
    if service is None or service.status.state != "ready":
        return snapshot, model_id
    began = time.perf_counter()
    engine.settle(handle, engine.settle_s)
    notes.clock("settle", began)
    return engine.indexes.snapshot(handle)


def _cut(query: str, most: int) -> str:
    """The question as far as it is searched; over-long ones are cut, not refused (specs, Recall)."""
    if len(query.encode("utf-8", "replace")) <= most:  # a token has at least one byte
        return query
    return tokens.truncate(query, most)


def _vector(
    service: EmbedService | None, model_id: str, snapshot: Snapshot, text: str, notes: _Notes
) -> Vector | None:
    if snapshot.dimension is None:
        return None
    if service is None:
        notes.degraded["semantic"] = (
            f"the vectors of this bank come from the model {model_id}, "
            "which is not configured; run 'lorebank reembed'"
        )
        return None
    began = time.perf_counter()
    try:
        ready = service.status.state == "ready"
        return service.embed_query(text, _EMBED_DEADLINE_S if ready else 0.05)
    except Unavailable as exc:
        notes.degraded["semantic"] = exc.message
        return None
    finally:
        notes.clock("embed", began)


def _expanded(snapshot: Snapshot, asked: TagFilter | None) -> TagFilter | None:
    if asked is None or not needs_fuzzy(asked):
        return asked
    return expand_fuzzy(asked, snapshot.tagsets.all_tags())


def _search_query(
    ask: Ask, config: BankConfig, text: str, vector: Vector | None, visible: TagFilter | None
) -> SearchQuery:
    window = None if ask.window is None else (ask.window[0] / _SECOND, ask.window[1] / _SECOND)
    return SearchQuery(
        text=text,
        now=ask.now / _SECOND,
        vector=vector,
        kinds=ask.kinds,
        tag_filter=visible,
        window=window,
        per_arm=config.candidates(ask.budget, ask.max_tokens),
        arms=_arms(config),
        min_semantic=ask.min_scores.semantic,
        min_keyword=ask.min_scores.keyword,
        prefer_observations=ask.prefer_observations,
    )


def _arms(config: BankConfig) -> frozenset[Arm]:
    arms: set[Arm] = {"semantic"}
    if config.enable_text_search:
        arms.add("keyword")
    if config.enable_graph_retrieval:
        arms.add("graph")
    if config.enable_temporal_retrieval:
        arms.add("temporal")
    return frozenset(arms)


def _wants_rerank(config: BankConfig, ask: Ask) -> bool:
    """The cross-encoder works for budget `high`, or where the bank asks for it; false forbids it."""
    if config.enable_reranking is None:
        return ask.budget == "high"
    return config.enable_reranking


def _ranked(
    engine: Engine,
    reader: BankReader,
    config: BankConfig,
    ask: Ask,
    text: str,
    result: SearchResult,
    notes: _Notes,
) -> list[Reranked]:
    """The search's hits in final order, cut to the token budget, without those below the least scores."""
    logits: Sequence[float] = ()
    if _wants_rerank(config, ask) and len(result):
        began = time.perf_counter()
        logits = _logits(engine, reader, text, result, notes)
        notes.clock("rerank", began)
    if not len(logits):
        return _kept(result, ask)
    order = [
        ranked
        for ranked in blend(result.scores.tolist(), logits, _SETTINGS.rerank_weight)
        if _above(ask.min_scores, ranked)
    ]
    costs = result.tokens.tolist()
    return [order[place] for place in fit([costs[item.place] for item in order], ask.max_tokens)]


def _kept(result: SearchResult, ask: Ask) -> list[Reranked]:
    """As `_ranked` without a cross-encoder: the scores fall, so those above the least are the first."""
    least = ask.min_scores.final
    above = len(result) if least is None else int((result.scores >= least).sum())
    return [
        Reranked(place, None, float(result.scores[place]))
        for place in fit(result.tokens[:above].tolist(), ask.max_tokens)
    ]


def _above(least: MinScores, ranked: Reranked) -> bool:
    """Where the cross-encoder judged, what it did not get to see is below any `min_scores.reranker`."""
    return (least.final is None or ranked.score >= least.final) and (
        least.reranker is None or (ranked.reranker is not None and ranked.reranker >= least.reranker)
    )


def _logits(
    engine: Engine, reader: BankReader, text: str, result: SearchResult, notes: _Notes
) -> Sequence[float]:
    """The cross-encoder's judgement of the best hits, each read with the turn before it; none when it
    does not answer in time.
    """
    pool = _SETTINGS.rerank_pool
    keys, before = result.keys[:pool].tolist(), result.previous[:pool].tolist()
    stored = reader.memories_by_key(sorted({key for key in (*keys, *before) if key >= 0}))
    texts = [
        _with_previous(stored.get(key), stored.get(near)) for key, near in zip(keys, before, strict=True)
    ]
    try:
        logits: list[float] = engine.reranker.score(text, texts, engine.rerank_deadline_s).tolist()
    except Unavailable as exc:
        notes.degraded["rerank"] = exc.message
        return ()
    return logits


def _with_previous(memory: Memory | None, previous: Memory | None) -> str:
    if memory is None:
        return ""
    return embed_text(memory.text, None if previous is None else previous.text)


def _hydrated(
    reader: BankReader, result: SearchResult, ranked: Sequence[Reranked], visible: TagFilter | None, ask: Ask
) -> list[Found]:
    """The rows of what was ranked, read again and checked again: a row may have changed since."""
    places = [item.place for item in ranked]
    keys = result.keys[places].tolist() if places else []
    rows = reader.memories_by_key(keys)
    hits: Sequence[Hit | None] = result.at(places) if ask.trace else [None] * len(places)
    found: list[Found] = []
    left = ask.max_tokens
    for item, key, hit in zip(ranked, keys, hits, strict=True):
        memory = rows.get(key)
        if memory is None or not _may_show(memory, visible, ask) or memory.tokens > left:
            continue
        left -= memory.tokens
        semantic, keyword = _known(result.semantic[item.place]), _known(result.keyword[item.place])
        found.append(Found(memory, item.score, item.reranker, semantic, keyword, hit))
    return found


def _known(score: Any) -> float | None:
    """A score as a number, None where the arm has none for the passage."""
    number = float(score)
    return None if number != number else number


def _may_show(memory: Memory, visible: TagFilter | None, ask: Ask) -> bool:
    return (visible is None or matches(visible, memory.tags)) and (
        ask.kinds is None or memory.fact_type in ask.kinds
    )


def _with_parts(reader: BankReader, found: Sequence[Found], include: Include, notes: _Notes) -> Answer:
    began = time.perf_counter()
    chunks = () if include.chunks is None else parts.chunk_parts(reader, found, include.chunks)
    entities = () if include.entities is None else parts.entity_parts(reader, found, include.entities)
    facts: Sequence[Memory] = ()
    cut = False
    if include.source_facts is not None:
        facts, cut = parts.source_fact_parts(reader, found, include.source_facts, include.per_observation)
    notes.clock("parts", began)
    return Answer(found, entities, chunks, facts, cut, degraded=dict(notes.degraded))


def _observe(metrics: Metrics, notes: _Notes) -> None:
    for stage, ms in notes.timings.items():
        if stage in ARMS:
            metrics.arms.observe(ms / 1000, stage)
        else:
            metrics.stages.observe(ms / 1000, "recall", stage)
    for stage in notes.degraded:
        metrics.degraded.add(stage)
