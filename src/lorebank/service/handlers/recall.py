"""Recall over the wire: the request's fields to an `Ask`, the answer to a RecallResponse."""

from __future__ import annotations

from typing import Any

from lorebank.banks import config as bank_config
from lorebank.banks.config import BankConfig
from lorebank.banks.recall.ask import Answer, Ask, ChunkPart, Found, Include, MinScores
from lorebank.banks.recall.capped import capped
from lorebank.banks.recall.recall import Engine, recall
from lorebank.clock import parse_iso, to_iso, to_micros
from lorebank.service import render
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.requests.recall import RecallRequest
from lorebank.storage.rows import Entity, Memory

Wire = dict[str, Any]


def recall_memories(call: Call) -> Wire:
    """The memories that best answer the question (RecallResponse), within what the grant allows."""
    context, request = call.context, call.request
    config = bank_config.resolve(context.settings.bank_defaults, call.handle.bank.config)
    ask = capped(_ask(request, config, context.clock()), call.grant.parameters)
    if request.types == []:
        return _wire(Answer(found=()), ask)
    engine = Engine(
        indexes=context.indexes,
        embedders=context.embedders,
        reranker=context.reranker,
        metrics=context.metrics,
        settle=context.work.settle,
        settle_s=context.settings.recall_wait,
        rerank_deadline_s=context.settings.rerank_timeout,
        query_tokens=context.settings.limits.query_tokens,
    )
    return _wire(recall(engine, call.handle, config, ask), ask)


def _ask(request: RecallRequest, config: BankConfig, now: int) -> Ask:
    sent = request.model_fields_set
    window = request.temporal_window
    prefer = request.prefer_observations
    return Ask(
        query=request.query,
        now=parse_iso(request.query_timestamp, "query_timestamp") if request.query_timestamp else now,
        kinds=frozenset(request.types) if request.types else None,
        filter=request.tag_filter,
        budget=request.budget,
        max_tokens=request.max_tokens if "max_tokens" in sent else config.recall_max_tokens,
        window=None if window is None else (to_micros(window.start), to_micros(window.end)),
        min_scores=_least(request),
        prefer_observations=config.recall_prefer_observations if prefer is None else prefer,
        include=_include(request, config),
        trace=request.trace,
    )


def _least(request: RecallRequest) -> MinScores:
    least = request.min_scores
    if least is None:
        return MinScores()
    return MinScores(least.semantic, least.keyword, least.reranker, least.final)


def _include(request: RecallRequest, config: BankConfig) -> Include:
    """Entities come unless they are null; the bank may ask for chunks where the request says nothing."""
    wanted = request.include
    chunks = None if wanted.chunks is None else wanted.chunks.max_tokens
    if chunks is None and config.recall_include_chunks and "chunks" not in wanted.model_fields_set:
        chunks = config.recall_chunks_max_tokens
    facts = wanted.source_facts
    return Include(
        entities=None if wanted.entities is None else wanted.entities.max_tokens,
        chunks=chunks,
        source_facts=None if facts is None else facts.max_tokens,
        per_observation=-1 if facts is None else facts.max_tokens_per_observation,
    )


def _wire(answer: Answer, ask: Ask) -> Wire:
    """RecallResponse; parts that are empty or were not asked for are null."""
    facts = {m.id: render.recalled(m) for m in answer.source_facts}
    wire: Wire = {
        "results": [_result(item) for item in answer.found],
        "trace": answer.trace,
        "entities": {entity.name: _entity(entity, about) for entity, about in answer.entities} or None,
        "chunks": {part.chunk.chunk_id: _chunk(part) for part in answer.chunks} or None,
        "source_facts": facts or None,
        "source_facts_truncated": answer.source_facts_truncated if ask.include.source_facts else None,
    }
    if answer.degraded:
        wire["degraded"] = dict(answer.degraded)
    return wire


def _result(item: Found) -> Wire:
    return render.recalled(item.memory) | {
        "scores": {
            "final": item.final,
            "reranker": item.reranker,
            "semantic": item.semantic,
            "keyword": item.keyword,
        }
    }


def _entity(entity: Entity, about: Any) -> Wire:
    observations = [_observation(memory) for memory in about]
    return {"entity_id": entity.id, "canonical_name": entity.name, "observations": observations}


def _observation(memory: Memory) -> Wire:
    return {"text": memory.text, "mentioned_at": to_iso(memory.mentioned_at)}


def _chunk(part: ChunkPart) -> Wire:
    return {
        "id": part.chunk.chunk_id,
        "text": part.text,
        "chunk_index": part.chunk.chunk_index,
        "truncated": part.truncated,
        "attachments": None,
    }


OPERATIONS = (Operation("recall_memories", "bank:recall", Scope.BANK, recall_memories),)
