"""How to ask each route of the API about a bank: one entry an operation, so that a new route needs one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from urllib.parse import quote

from live_server import Client, File, bank_path, until

from lorebank.http.binding import Binding

QUESTION = "Who keeps the spare key of the heron cottage?"


@dataclass(frozen=True)
class Names:
    """What a bank holds that paths can name."""

    bank: str
    memory_id: str
    document_id: str
    chunk_id: str
    entity_id: str
    operation_id: str
    file_key: str
    archive: bytes
    log_id: str = "1"


def names_of(client: Client, bank: str, document_id: str) -> Names:
    """The names of a bank that has memories, entities, an ended operation and an export."""
    started = client.request("POST", bank_path(bank, "/transfer/export")).ok()
    done = client.completed(bank, started["operation_id"])
    url = str(done["result_metadata"]["download_url"])
    (memory, *_) = client.memories(bank, document_id=document_id)
    return Names(
        bank=bank,
        memory_id=memory["id"],
        document_id=document_id,
        chunk_id=memory["chunk_id"],
        entity_id=client.bank(bank, "/entities")["items"][0]["id"],
        operation_id=started["operation_id"],
        file_key=url.removeprefix("/v1/default/files/download/"),
        archive=client.request("GET", url).body,
        log_id=client.bank(bank, "/audit-logs")["items"][0]["id"],
    )


@dataclass(frozen=True)
class Ask:
    """One request of an operation, without its path."""

    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    files: tuple[File, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


_ONE = (Ask(),)
_TYPES = ("world", "experience", "observation")
_MATCHES = ("any", "all", "any_strict", "all_strict", "exact")


def _recalls(names: Names) -> Iterator[Ask]:
    """Every budget, result type, way of matching tags, and part of an answer."""
    everything = {
        "trace": True,
        "max_tokens": 200_000,
        "include": {"entities": {}, "chunks": {}, "source_facts": {}},
        "query_timestamp": "2026-05-20T08:00:00Z",
    }
    for budget, kind in product(("low", "mid", "high"), (None, *_TYPES)):
        yield Ask(body={"query": QUESTION, "budget": budget, "types": kind and [kind], **everything})
    for match in _MATCHES:
        yield Ask(body={"query": QUESTION, "tags": ["shared"], "tags_match": match, **everything})
    window = {"start": "2026-05-01T00:00:00Z", "end": "2026-05-31T00:00:00Z"}
    yield Ask(body={"query": "What happened in May 2026?", "temporal_window": window, **everything})
    yield Ask(body={"query": "What did Mara do last Friday?", "prefer_observations": True, **everything})
    groups = [{"or": [{"tags": ["shared"]}, {"not": {"tags": ["other"]}}]}]
    yield Ask(body={"query": QUESTION, "tag_groups": groups, **everything})


def _transfer(names: Names) -> Iterator[Ask]:
    files = (File("file", "bank.zip", names.archive, "application/zip"),)
    yield Ask(query={"mode": "merge", "target_bank_id": names.bank}, files=files)
    yield Ask(
        query={"mode": "merge", "target_bank_id": names.bank, "document_conflict": "new-id"}, files=files
    )


def _listing(names: Names) -> Iterator[Ask]:
    yield Ask()
    yield from (Ask(query={"type": kind}) for kind in _TYPES)
    yield from (Ask(query={"tags": "shared", "tags_match": match}) for match in _MATCHES)
    yield Ask(query={"q": "heron"})
    yield Ask(query={"state": "invalidated"})
    yield Ask(query={"document_id": names.document_id})
    yield Ask(query={"entity_id": names.entity_id})
    yield Ask(query={"time_field": "created_at", "start_date": "2000-01-01T00:00:00Z"})


Asks = Callable[[Names], Iterator[Ask]]

#: operation -> its requests. Routes that only say that they need a language model take none of these.
ASKS: Mapping[str, Asks] = {
    "recall_memories": _recalls,
    "retain_memories": lambda names: iter(
        (
            Ask(body={"items": [{"content": "Mara waters the mint."}]}),
            Ask(
                body={"items": [{"content": "Mara waters the basil.", "document_id": "walk"}], "async": True}
            ),
        )
    ),
    "file_retain": lambda names: iter(
        (Ask(files=(File("files", "a.txt", b"Mara sweeps the porch."),), fields={"request": "{}"}),)
    ),
    "list_memories": _listing,
    "dry_run_extract_memories": lambda names: iter((Ask(body={"content": "Mara keeps the spare key."}),)),
    "update_memory": lambda names: iter((Ask(body={"context": "about keys"}),)),
    "get_graph": lambda names: iter((Ask(), Ask(query={"document_id": names.document_id}))),
    "list_documents": lambda names: iter(
        Ask(query={"q": q, "tags_match": match}) for q in ("", "heron") for match in ("any", "any_strict")
    ),
    "update_document": lambda names: iter((Ask(body={"tags": ["shared", "walked"]}),)),
    "list_banks": lambda names: iter((Ask(query={"q": names.bank}),)),
    "create_or_update_bank": lambda names: iter((Ask(body={"mission": "Keep house."}),)),
    "update_bank": lambda names: iter((Ask(body={"name": "House"}),)),
    "update_bank_config": lambda names: iter((Ask(body={"updates": {"reflect_mission": "Keep."}}),)),
    "get_agent_stats": lambda names: iter((Ask(), Ask(query={"refresh": "true"}))),
    "get_memories_timeseries": lambda names: iter(
        Ask(query={"period": "1d", "time_field": field}) for field in ("created_at", "mentioned_at")
    ),
    "create_bank_alias": lambda names: iter((Ask(body={"alias": names.bank + "-too"}),)),
    "set_bank_alias_primary": lambda names: iter((Ask(body={"primary": True}),)),
    "import_bank_template": lambda names: iter((Ask(body={"version": "1", "bank": {}}),)),
    "get_operation_status": lambda names: iter((Ask(query={"include_payload": "true"}),)),
    "list_operations": lambda names: iter((Ask(), Ask(query={"status": "completed"}))),
    "list_entities": lambda names: iter((Ask(), Ask(query={"tags": "shared", "tags_match": "all"}))),
    "list_tags": lambda names: iter((Ask(), Ask(query={"q": "*"}))),
    "import_documents": lambda names: iter(
        Ask(query={"on_conflict": how}, files=(File("file", "b.zip", names.archive, "application/zip"),))
        for how in ("skip", "replace")
    ),
    "export_documents": lambda names: iter((Ask(query={"document_id": names.document_id}),)),
    "import_bank_transfer": _transfer,
    "clone_bank": lambda names: iter((Ask(query={"target_bank_id": names.bank + "-clone"}),)),
    **dict.fromkeys(
        (
            "clear_bank_memories",
            "get_memory",
            "get_observation_history",
            "list_document_chunks",
            "get_document_history",
            "reprocess_document",
            "get_document",
            "delete_document",
            "get_chunk",
            "delete_bank",
            "get_bank_profile",
            "get_bank_config",
            "reset_bank_config",
            "list_bank_aliases",
            "delete_bank_alias",
            "export_bank_template",
            "cancel_operation",
            "retry_operation",
            "delete_operation",
            "get_entity_graph",
            "get_entity",
            "export_bank_transfer",
            "download_file",
            "get_bank_access",
            "list_audit_logs",
            "audit_log_stats",
            "get_audit_log",
        ),
        lambda names: iter(_ONE),
    ),
}

#: Routes about the server, not about a bank; they hold no content at all.
SERVER = frozenset(
    {
        "health",
        "get_readiness",
        "get_liveness",
        "get_version",
        "metrics",
        "get_bank_template_schema",
        "get_server_status",
        "get_server_task",
        "run_doctor",
        "run_backup",
        "run_reembed",
    }
)

WALKED: Mapping[str, str] = {
    "user_id": "walk-user",
    "group_id": "walk-group",
    "policy_id": "walk-policy",
    "principal_type": "user",
    "principal_id": "walk-user",
    "sa_id": "walk-robot",
    "provider": "web",
    "sender_id": "walk-1",
    "policy_bank_id": "walk",
    "name": "walk-source",
    "template_id": "walk-template",
    "key_id": "0123456789abcdef",
    "task_id": "0123456789abcdef",
    "agent_id": "walk-agent",
    "record_id": "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b",
    "vault_id": "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b",
    "review_id": "0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b",
}
"""What paths outside of banks name. None of it exists before a walk makes it."""
OWN = {"sa_id": "walk-own-robot"}
"""The same for what is the caller's own."""

#: What takes content away comes last, and the bank at the very end.
LATE = ("clear_bank_memories", "delete_document", "delete_operation", "delete_bank_alias", "delete_bank")


def in_order(bindings: tuple[Binding, ...]) -> list[Binding]:
    """The bindings in an order in which each finds something to answer."""
    return sorted(bindings, key=lambda b: LATE.index(b.operation) if b.operation in LATE else -1)


def path_of(binding: Binding, names: Names) -> str:
    """The path of a binding with the bank's names in it."""
    values = {
        "bank_id": names.bank,
        "memory_id": names.memory_id,
        "document_id": names.document_id,
        "chunk_id": names.chunk_id,
        "entity_id": names.entity_id,
        "operation_id": names.operation_id,
        "key": names.file_key,
        "alias": names.bank + "-too",
        "log_id": names.log_id,
        **WALKED,
        **(OWN if "/me/" in binding.path else {}),
    }

    def value(found: re.Match[str]) -> str:
        return quote(values.get(found[1].removesuffix(":path"), names.memory_id), safe="")

    return re.sub(r"\{([^}]+)\}", value, binding.path)


def send(client: Client, binding: Binding, path: str, ask: Ask) -> tuple[int, bytes]:
    """Send one request, wait for the job that it may start, and return status and everything told."""
    answer = client.request(
        binding.method,
        path,
        ask.body,
        query=ask.query,
        files=list(ask.files) if ask.files else None,
        fields=ask.fields,
    )
    told = answer.body + repr(answer.headers).encode()
    if answer.status in (200, 202) and b'"operation_id' in answer.body:
        told += _outcome(client, path, answer.json())
    return answer.status, told


def _outcome(client: Client, path: str, answer: Any) -> bytes:
    """What the jobs that a request started tell when they have ended, and what they export."""
    bank = re.match(r"(/v1/default/banks/[^/]+)", path)
    ids = (
        [answer.get("operation_id"), *(answer.get("operation_ids") or [])] if isinstance(answer, dict) else []
    )
    told = b""
    for operation in filter(None, ids if bank else []):
        status = f"{bank[1]}/operations/{operation}" if bank else ""

        def look(status: str = status) -> Any:
            found = client.request("GET", status, query={"include_payload": "true"})
            return found if b'"pending"' not in found.body and b'"processing"' not in found.body else None

        ended = until(look, status)
        told += ended.body
        url = (ended.json().get("result_metadata") or {}).get("download_url")
        if url:
            told += client.request("GET", url).body
    return told
