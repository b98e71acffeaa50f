"""What needs a language model. Each of these answers 400 until one can be configured."""

from __future__ import annotations

from lorebank.http.binding import bind

_MODEL = "~/mental-models/{mental_model_id}"
_BASE = "~/knowledge-base"

BINDINGS = (
    bind("POST", "~/reflect", "reflect"),
    bind("POST", "~/prompts/preview", "preview_prompt"),
    bind("POST", "~/health/llm", "test_bank_llm"),
    bind("GET", "~/mental-models", "list_mental_models"),
    bind("POST", "~/mental-models", "create_mental_model"),
    bind("GET", _MODEL, "get_mental_model"),
    bind("PATCH", _MODEL, "update_mental_model"),
    bind("DELETE", _MODEL, "delete_mental_model"),
    bind("GET", f"{_MODEL}/history", "get_mental_model_history"),
    bind("POST", f"{_MODEL}/refresh", "refresh_mental_model"),
    bind("POST", f"{_MODEL}/dry-run-refresh", "dry_run_refresh_mental_model"),
    bind("POST", f"{_MODEL}/clear", "clear_mental_model"),
    bind("GET", f"{_BASE}/tree", "get_knowledge_base_tree"),
    bind("POST", f"{_BASE}/folders", "create_knowledge_folder"),
    bind("POST", f"{_BASE}/pages", "create_knowledge_page"),
    bind("GET", f"{_BASE}/export", "export_knowledge_base"),
    bind("GET", f"{_BASE}/search", "search_knowledge_base"),
    bind("GET", f"{_BASE}/pages/{{page_id}}", "get_knowledge_page"),
    bind("PATCH", f"{_BASE}/nodes/{{node_id}}", "update_knowledge_node"),
    bind("DELETE", f"{_BASE}/nodes/{{node_id}}", "delete_knowledge_node"),
    bind("GET", "~/directives", "list_directives"),
    bind("POST", "~/directives", "create_directive"),
    bind("GET", "~/directives/{directive_id}", "get_directive"),
    bind("PATCH", "~/directives/{directive_id}", "update_directive"),
    bind("DELETE", "~/directives/{directive_id}", "delete_directive"),
    bind("GET", "~/attachments/{attachment_id}", "get_bank_attachment"),
    bind("DELETE", "~/observations", "clear_observations"),
    bind("GET", "~/observations/scopes", "list_observation_scopes"),
    bind("POST", "~/consolidation-strategies/preview", "preview_consolidation_strategies"),
    bind("POST", "~/consolidation/recover", "recover_consolidation"),
    bind("DELETE", "~/memories/{memory_id}/observations", "clear_memory_observations"),
    bind("POST", "~/consolidate", "trigger_consolidation"),
    bind("POST", "~/webhooks", "create_webhook"),
    bind("GET", "~/webhooks", "list_webhooks"),
    bind("DELETE", "~/webhooks/{webhook_id}", "delete_webhook"),
    bind("PATCH", "~/webhooks/{webhook_id}", "update_webhook"),
    bind("GET", "~/webhooks/{webhook_id}/deliveries", "list_webhook_deliveries"),
    bind("GET", "~/llm-requests", "list_llm_requests"),
    bind("GET", "~/llm-requests/stats", "llm_request_stats"),
)
