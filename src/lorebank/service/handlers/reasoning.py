"""What the API has but this release answers with a sentence: language model work, and retired routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from lorebank.errors import Gone, NeedsLLM
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope

Refusal = Callable[[Call], NoReturn]


def _needs_llm(what: str) -> Refusal:
    sentence = (
        f"{what} need a language model and come with a later release; retain and recall work without one"
    )

    def refuse(call: Call) -> NoReturn:
        raise NeedsLLM(sentence)

    return refuse


def _gone(instead: str) -> Refusal:
    def refuse(call: Call) -> NoReturn:
        raise Gone(f"this route was retired in Hindsight 1.1.0; {instead}")

    return refuse


def _each(refusal: Refusal, *pairs: tuple[str, str]) -> tuple[Operation, ...]:
    """One operation for each (name, action); refused by bank name, so that no bank is opened for it."""
    return tuple(Operation(name, action, Scope.BANK_NAME, refusal) for name, action in pairs)


OPERATIONS = (
    *_each(_needs_llm("reflections"), ("reflect", "bank:reflect")),
    *_each(
        _needs_llm("mental models"),
        ("list_mental_models", "bank:mental_models:list"),
        ("create_mental_model", "bank:mental_models:create"),
        ("get_mental_model", "bank:mental_models:get"),
        ("update_mental_model", "bank:mental_models:update"),
        ("delete_mental_model", "bank:mental_models:delete"),
        ("get_mental_model_history", "bank:mental_models:get"),
        ("refresh_mental_model", "bank:mental_models:refresh"),
        ("dry_run_refresh_mental_model", "bank:mental_models:refresh"),
        ("clear_mental_model", "bank:mental_models:update"),
    ),
    *_each(
        _needs_llm("knowledge pages"),
        ("get_knowledge_base_tree", "bank:knowledge:list"),
        ("create_knowledge_folder", "bank:knowledge:create"),
        ("create_knowledge_page", "bank:knowledge:create"),
        ("export_knowledge_base", "bank:knowledge:get"),
        ("search_knowledge_base", "bank:knowledge:list"),
        ("get_knowledge_page", "bank:knowledge:get"),
        ("update_knowledge_node", "bank:knowledge:update"),
        ("delete_knowledge_node", "bank:knowledge:delete"),
    ),
    *_each(
        _needs_llm("directives"),
        ("list_directives", "bank:directives:list"),
        ("create_directive", "bank:directives:create"),
        ("get_directive", "bank:directives:get"),
        ("update_directive", "bank:directives:update"),
        ("delete_directive", "bank:directives:delete"),
    ),
    *_each(
        _needs_llm("observations"),
        ("clear_observations", "bank:observations:delete"),
        ("list_observation_scopes", "bank:observations:list"),
        ("clear_memory_observations", "bank:observations:delete"),
        ("preview_consolidation_strategies", "bank:consolidate"),
        ("recover_consolidation", "bank:consolidate"),
        ("trigger_consolidation", "bank:consolidate"),
    ),
    *_each(
        _needs_llm("webhooks on consolidation"),
        ("create_webhook", "bank:webhooks:create"),
        ("list_webhooks", "bank:webhooks:list"),
        ("delete_webhook", "bank:webhooks:delete"),
        ("update_webhook", "bank:webhooks:update"),
        ("list_webhook_deliveries", "bank:webhooks:list"),
    ),
    *_each(_needs_llm("attachments of memories"), ("get_bank_attachment", "bank:documents:get")),
    *_each(_needs_llm("prompt previews"), ("preview_prompt", "bank:config:read")),
    *_each(_needs_llm("health checks of a bank's models"), ("test_bank_llm", "bank:config:read")),
    *_each(
        _needs_llm("traces of model calls"),
        ("list_llm_requests", "bank:llm_requests:list"),
        ("llm_request_stats", "bank:llm_requests:list"),
    ),
    *_each(
        _gone("set the disposition with PATCH on the bank's config"),
        ("update_bank_disposition", "bank:update"),
    ),
    *_each(
        _gone("set the mission with PATCH on the bank's config"),
        ("add_bank_background", "bank:update"),
    ),
    *_each(
        _gone("an entity's facts come with recall and with GET on the entity"),
        ("regenerate_entity_observations", "bank:entities:get"),
    ),
    *_each(
        _gone("start an export with POST on document-transfer/export"),
        ("export_documents_sync_removed", "bank:export"),
    ),
)
