"""Knowledge stores: the tools of agents, what operators see and assign, and what a gateway reports."""

from __future__ import annotations

from typing import Any

from lorebank.http import binding
from lorebank.http.binding import Binding, Late

KNOWLEDGE = "/v1/lorebank/knowledge"
TOOLS = f"{KNOWLEDGE}/tools"
AGENT = f"{KNOWLEDGE}/agents/{{agent_id}}"
HOST = f"{KNOWLEDGE}/host"
_TAGS = ("knowledge",)


def _reading(model: str) -> Late:
    return Late("knowledge_read", model)


def _saving(model: str) -> Late:
    return Late("knowledge", model)


def _operator(model: str) -> Late:
    return Late("knowledge_operator", model)


def bind(method: str, path: str, operation: str, *, query: Late | None = None, **more: Any) -> Binding:
    """A binding that refuses query parameters that it does not know: none chooses an agent or store."""
    return binding.bind(method, path, operation, query=query or Late("strict", "StrictQuery"), **more)


def _tool(name: str, body: Late) -> Binding:
    return bind("POST", f"{TOOLS}/{name}", name, body=body, tags=_TAGS)


BINDINGS = (
    _tool("knowledge_search", _reading("SearchRequest")),
    _tool("knowledge_get", _reading("GetRequest")),
    _tool("knowledge_recall", _reading("RecallRequest")),
    _tool("knowledge_ontology", _reading("OntologyRequest")),
    _tool("knowledge_context", _reading("ContextRequest")),
    _tool("knowledge_history", _reading("HistoryRequest")),
    _tool("knowledge_restore", _reading("RestoreRequest")),
    _tool("knowledge_remember", _saving("RememberRequest")),
    _tool("knowledge_save_page", _saving("SavePageRequest")),
    _tool("knowledge_save_claim", _saving("SaveClaimRequest")),
    _tool("knowledge_save_relationship", _saving("SaveRelationshipRequest")),
    _tool("knowledge_relink", _operator("RelinkRequest")),
    bind("POST", f"{TOOLS}/knowledge_attach_file", "knowledge_attach_file", form="attachment", tags=_TAGS),
    bind("GET", f"{KNOWLEDGE}/stores", "list_knowledge_stores", tags=_TAGS),
    bind("POST", f"{AGENT}/share", "share_knowledge_store", body=_operator("ShareRequest"), tags=_TAGS),
    bind(
        "POST",
        f"{AGENT}/use-shared",
        "use_shared_knowledge_store",
        body=_operator("UseSharedRequest"),
        tags=_TAGS,
    ),
    bind("POST", f"{AGENT}/use-own", "use_own_knowledge_store", tags=_TAGS),
    bind("GET", f"{AGENT}/conversations", "list_knowledge_conversations", tags=_TAGS),
    bind("GET", f"{AGENT}/grants", "list_knowledge_grants", tags=_TAGS),
    bind("PUT", f"{AGENT}/grants", "grant_knowledge_access", body=_operator("GrantRequest"), tags=_TAGS),
    bind(
        "POST",
        f"{AGENT}/grants/revoke",
        "revoke_knowledge_access",
        body=_operator("RevokeRequest"),
        tags=_TAGS,
    ),
    bind("GET", f"{AGENT}/records", "browse_knowledge_records", query=_operator("BrowseQuery"), tags=_TAGS),
    bind("GET", f"{AGENT}/records/{{record_id}}", "browse_knowledge_record", tags=_TAGS),
    bind("GET", f"{AGENT}/records/{{record_id}}/history", "browse_knowledge_history", tags=_TAGS),
    bind("GET", f"{AGENT}/diagnostics", "get_knowledge_diagnostics", tags=_TAGS),
    bind("GET", f"{KNOWLEDGE}/maintenance", "get_knowledge_maintenance", tags=_TAGS),
    bind(
        "POST",
        f"{KNOWLEDGE}/maintenance/run",
        "run_knowledge_maintenance",
        body=_operator("RunMaintenanceRequest"),
        status=202,
        tags=_TAGS,
    ),
    bind(
        "POST",
        f"{KNOWLEDGE}/check",
        "check_knowledge_stores",
        body=_operator("CheckRequest"),
        status=202,
        tags=_TAGS,
    ),
    bind(
        "POST",
        f"{KNOWLEDGE}/import",
        "import_knowledge_store",
        body=_operator("ImportRequest"),
        status=202,
        tags=_TAGS,
    ),
    bind("GET", f"{KNOWLEDGE}/tasks/{{task_id}}", "get_knowledge_task", tags=_TAGS),
    bind(
        "POST",
        f"{KNOWLEDGE}/stores/{{vault_id}}/resolve",
        "resolve_knowledge_publication",
        body=_operator("ResolveRequest"),
        tags=_TAGS,
    ),
    bind(
        "POST",
        f"{KNOWLEDGE}/stores/{{vault_id}}/accept-folders",
        "accept_knowledge_folders",
        tags=_TAGS,
    ),
    bind("POST", f"{HOST}/report", "report_knowledge_host", body=_operator("HostReportRequest"), tags=_TAGS),
    bind(
        "POST",
        f"{HOST}/invocations/end",
        "end_knowledge_invocation",
        body=_operator("EndInvocationRequest"),
        tags=_TAGS,
    ),
    bind("GET", f"{HOST}/reviews", "list_knowledge_reviews", tags=_TAGS),
    bind("POST", f"{HOST}/reviews/{{review_id}}/take", "take_knowledge_review", tags=_TAGS),
    bind(
        "POST",
        f"{HOST}/reviews/{{review_id}}/answer",
        "answer_knowledge_review",
        body=_operator("AnswerReviewRequest"),
        tags=_TAGS,
    ),
)


def missing_tool(path: str) -> str:
    """What to say of a path below that of the tools that is none of them; empty for other paths. The names
    are no secret: the API description, which needs no credential, has them too."""
    if not path.startswith(f"{TOOLS}/"):
        return ""
    names = (one.operation for one in BINDINGS if one.path.startswith(f"{TOOLS}/"))
    return f"there is no such knowledge tool; the tools are: {', '.join(names)}"
