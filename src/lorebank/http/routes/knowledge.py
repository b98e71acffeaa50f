"""Knowledge stores: the tools of agents, what operators see and assign, and what a gateway reports."""

from __future__ import annotations

from lorebank.http.binding import Binding, bind
from lorebank.service.requests import knowledge as saving
from lorebank.service.requests import knowledge_operator as operator
from lorebank.service.requests import knowledge_read as reading
from lorebank.service.requests.base import RequestModel

KNOWLEDGE = "/v1/lorebank/knowledge"
TOOLS = f"{KNOWLEDGE}/tools"
AGENT = f"{KNOWLEDGE}/agents/{{agent_id}}"
HOST = f"{KNOWLEDGE}/host"
_TAGS = ("knowledge",)


def _tool(name: str, body: type[RequestModel]) -> Binding:
    return bind("POST", f"{TOOLS}/{name}", name, body=body, tags=_TAGS)


BINDINGS = (
    _tool("knowledge_search", reading.SearchRequest),
    _tool("knowledge_get", reading.GetRequest),
    _tool("knowledge_recall", reading.RecallRequest),
    _tool("knowledge_ontology", reading.OntologyRequest),
    _tool("knowledge_context", reading.ContextRequest),
    _tool("knowledge_history", reading.HistoryRequest),
    _tool("knowledge_restore", reading.RestoreRequest),
    _tool("knowledge_remember", saving.RememberRequest),
    _tool("knowledge_save_page", saving.SavePageRequest),
    _tool("knowledge_save_claim", saving.SaveClaimRequest),
    _tool("knowledge_save_relationship", saving.SaveRelationshipRequest),
    _tool("knowledge_relink", operator.RelinkRequest),
    bind("POST", f"{TOOLS}/knowledge_attach_file", "knowledge_attach_file", form="attachment", tags=_TAGS),
    bind("GET", f"{KNOWLEDGE}/stores", "list_knowledge_stores", tags=_TAGS),
    bind("POST", f"{AGENT}/share", "share_knowledge_store", body=operator.ShareRequest, tags=_TAGS),
    bind(
        "POST",
        f"{AGENT}/use-shared",
        "use_shared_knowledge_store",
        body=operator.UseSharedRequest,
        tags=_TAGS,
    ),
    bind("POST", f"{AGENT}/use-own", "use_own_knowledge_store", tags=_TAGS),
    bind("GET", f"{AGENT}/conversations", "list_knowledge_conversations", tags=_TAGS),
    bind("GET", f"{AGENT}/grants", "list_knowledge_grants", tags=_TAGS),
    bind("PUT", f"{AGENT}/grants", "grant_knowledge_access", body=operator.GrantRequest, tags=_TAGS),
    bind(
        "POST", f"{AGENT}/grants/revoke", "revoke_knowledge_access", body=operator.RevokeRequest, tags=_TAGS
    ),
    bind("GET", f"{AGENT}/records", "browse_knowledge_records", query=operator.BrowseQuery, tags=_TAGS),
    bind("GET", f"{AGENT}/records/{{record_id}}", "browse_knowledge_record", tags=_TAGS),
    bind("GET", f"{AGENT}/records/{{record_id}}/history", "browse_knowledge_history", tags=_TAGS),
    bind("GET", f"{AGENT}/diagnostics", "get_knowledge_diagnostics", tags=_TAGS),
    bind("GET", f"{KNOWLEDGE}/maintenance", "get_knowledge_maintenance", tags=_TAGS),
    bind(
        "POST",
        f"{KNOWLEDGE}/maintenance/run",
        "run_knowledge_maintenance",
        body=operator.RunMaintenanceRequest,
        status=202,
        tags=_TAGS,
    ),
    bind(
        "POST",
        f"{KNOWLEDGE}/check",
        "check_knowledge_stores",
        body=operator.CheckRequest,
        status=202,
        tags=_TAGS,
    ),
    bind(
        "POST",
        f"{KNOWLEDGE}/import",
        "import_knowledge_store",
        body=operator.ImportRequest,
        status=202,
        tags=_TAGS,
    ),
    bind("GET", f"{KNOWLEDGE}/tasks/{{task_id}}", "get_knowledge_task", tags=_TAGS),
    bind(
        "POST",
        f"{KNOWLEDGE}/stores/{{vault_id}}/resolve",
        "resolve_knowledge_publication",
        body=operator.ResolveRequest,
        tags=_TAGS,
    ),
    bind("POST", f"{HOST}/report", "report_knowledge_host", body=operator.HostReportRequest, tags=_TAGS),
    bind(
        "POST",
        f"{HOST}/invocations/end",
        "end_knowledge_invocation",
        body=operator.EndInvocationRequest,
        tags=_TAGS,
    ),
    bind("GET", f"{HOST}/reviews", "list_knowledge_reviews", tags=_TAGS),
    bind("POST", f"{HOST}/reviews/{{review_id}}/take", "take_knowledge_review", tags=_TAGS),
    bind(
        "POST",
        f"{HOST}/reviews/{{review_id}}/answer",
        "answer_knowledge_review",
        body=operator.AnswerReviewRequest,
        tags=_TAGS,
    ),
)
