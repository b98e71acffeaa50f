"""Entities and tags of a bank."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.requests.queries import EntityGraphQuery, GroupTagged, ListEntitiesQuery, ListTagsQuery

BINDINGS = (
    bind("GET", "~/entities", "list_entities", query=ListEntitiesQuery),
    bind("GET", "~/entities/graph", "get_entity_graph", query=EntityGraphQuery),
    bind("GET", "~/entities/{entity_id}", "get_entity", query=GroupTagged),
    bind("POST", "~/entities/{entity_id}/regenerate", "regenerate_entity_observations"),
    bind("GET", "~/tags", "list_tags", query=ListTagsQuery),
)
