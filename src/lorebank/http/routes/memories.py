"""Memories: retain, recall, list, look at, change, clear. `list` and `recall` come before the ids."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.requests.memories import UpdateMemoryRequest
from lorebank.service.requests.queries import ClearMemoriesQuery, GraphQuery, ListMemoriesQuery
from lorebank.service.requests.recall import RecallRequest
from lorebank.service.requests.retain import DryRunExtractRequest, RetainRequest

BINDINGS = (
    bind("POST", "~/memories/recall", "recall_memories", body=RecallRequest),
    bind("POST", "~/memories", "retain_memories", body=RetainRequest),
    bind("DELETE", "~/memories", "clear_bank_memories", query=ClearMemoriesQuery),
    bind("POST", "~/files/retain", "file_retain", form="files"),
    bind("GET", "~/memories/list", "list_memories", query=ListMemoriesQuery),
    bind("POST", "~/memories/dry-run-extract", "dry_run_extract_memories", body=DryRunExtractRequest),
    bind("GET", "~/memories/{memory_id}", "get_memory"),
    bind("PATCH", "~/memories/{memory_id}", "update_memory", body=UpdateMemoryRequest),
    bind("GET", "~/memories/{memory_id}/history", "get_observation_history"),
    bind("GET", "~/graph", "get_graph", query=GraphQuery),
)
