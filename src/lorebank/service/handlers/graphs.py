"""The operation that draws a bank's memories as a graph."""

from __future__ import annotations

from lorebank.banks.filters import expanded
from lorebank.banks.graphs import Edge, memory_graph
from lorebank.clock import to_iso
from lorebank.service import render
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.storage.ports import MemoryQuery
from lorebank.storage.rows import Memory

_LABEL_CHARS = 50
_NO_ENTITIES = "None"
_NO_CONTEXT = "N/A"


def get_graph(call: Call) -> Wire:
    """GraphDataResponse: the newest matching memories, their links, and a table of them."""
    params = call.params
    snapshot, _ = call.context.indexes.snapshot(call.handle)
    with call.handle.read() as reader:
        query = MemoryQuery(
            fact_type=params["type"],
            text=params["q"] or None,
            state="valid",
            document_id=params["document_id"],
            chunk_id=params["chunk_id"],
            tags=expanded(reader, params["tag_filter"]),
        )
        graph = memory_graph(reader, query, params["limit"], snapshot)
    return {
        "nodes": [{"data": _node(memory)} for memory in graph.memories],
        "edges": [{"data": _edge(edge)} for edge in graph.edges],
        "table_rows": [_row(memory) for memory in graph.memories],
        "total_units": graph.total,
        "limit": params["limit"],
    }


def _node(memory: Memory) -> Wire:
    text = memory.text
    return {
        "id": memory.id,
        "label": text if len(text) <= _LABEL_CHARS else text[: _LABEL_CHARS - 1] + "…",
        "text": text,
        "date": render.date_of(memory),
        "context": memory.context,
        "entities": render.joined(memory.entities) or _NO_ENTITIES,
    }


def _edge(edge: Edge) -> Wire:
    suffix = f"-{edge.entity}" if edge.entity else ""
    return {
        "id": f"{edge.source}-{edge.target}-{edge.type}{suffix}",
        "source": edge.source,
        "target": edge.target,
        "linkType": edge.type,
        "weight": edge.weight,
        "entityName": edge.entity,
    }


def _row(memory: Memory) -> Wire:
    return {
        "id": memory.id,
        "text": memory.text,
        "context": memory.context or _NO_CONTEXT,
        "occurred_start": to_iso(memory.occurred_start),
        "occurred_end": to_iso(memory.occurred_end),
        "mentioned_at": to_iso(memory.mentioned_at),
        "date": render.date_of(memory) or None,
        "entities": render.joined(memory.entities) or _NO_ENTITIES,
        "document_id": memory.document_id,
        "chunk_id": memory.chunk_id,
        "fact_type": memory.fact_type,
        "tags": list(memory.tags),
        "created_at": to_iso(memory.created_at),
        "proof_count": memory.proof_count,
    }


OPERATIONS = (Operation("get_graph", "bank:graph", Scope.BANK, get_graph),)
