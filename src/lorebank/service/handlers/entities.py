"""Operations on entities and tags."""

from __future__ import annotations

from lorebank.banks import entities
from lorebank.banks.entities import Pair
from lorebank.banks.filters import expanded
from lorebank.clock import to_iso
from lorebank.service import render
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.storage.ports import Page


def list_entities(call: Call) -> Wire:
    """EntityListResponse, most mentioned first."""
    page = Page(call.params["limit"], call.params["offset"])
    with call.handle.read() as reader:
        found = reader.entities(expanded(reader, call.params["tag_filter"]), page)
    return render.page("items", map(render.entity, found.rows), found.total, page)


def get_entity(call: Call) -> Wire:
    """EntityDetailResponse with the newest memories that name the entity."""
    with call.handle.read() as reader:
        tags = expanded(reader, call.params["tag_filter"])
        found = entities.detail(reader, call.params["entity_id"], tags)
    return render.entity_detail(found.entity, found.memories)


def get_entity_graph(call: Call) -> Wire:
    """EntityGraphResponse: which entities are named together."""
    limit = call.params["limit"]
    with call.handle.read() as reader:
        tags = expanded(reader, call.params["tag_filter"])
        graph = entities.graph(reader, tags, call.params["min_count"], limit)
    nodes = [{"id": e.id, "label": e.name, "mentionCount": e.mention_count} for e in graph.entities]
    return {
        "nodes": [{"data": node} for node in nodes],
        "edges": [{"data": _edge(pair)} for pair in graph.pairs],
        "total_entities": graph.total_entities,
        "total_edges": graph.total_pairs,
        "limit": limit,
    }


def _edge(pair: Pair) -> Wire:
    return {
        "id": f"{pair.first}-{pair.second}",
        "source": pair.first,
        "target": pair.second,
        "linkType": "cooccurrence",
        "weight": pair.count,
        "lastCooccurred": to_iso(pair.latest),
    }


def list_tags(call: Call) -> Wire:
    """ListTagsResponse, most used first."""
    page = Page(call.params["limit"], call.params["offset"])
    with call.handle.read() as reader:
        found = entities.tags(reader, call.params["q"], call.params["source"], page)
    rows = [{"tag": tag, "count": count} for tag, count in found.rows]
    return render.page("items", rows, found.total, page)


OPERATIONS = (
    Operation("list_entities", "bank:entities:list", Scope.BANK, list_entities),
    Operation("get_entity", "bank:entities:get", Scope.BANK, get_entity),
    Operation("get_entity_graph", "bank:entities:list", Scope.BANK, get_entity_graph),
    Operation("list_tags", "bank:tags:list", Scope.BANK, list_tags),
)
