"""Which right opens which operation: written down by hand, so that the table of operations is checked by it.

A row is an action, who is let in by less than the action itself, and its operations:

- `anybody`: no credential is needed; `everybody`: any valid credential; `users`: every user, for himself;
- `recall`, `retain`, `reflect`: whoever holds that right on the bank;
- `visitor`: a sender without a user where the bank's policy makes that action public;
- `agent`: an audience token, and nothing else. It opens nothing besides.

Where none is named only the action itself (or its family) opens the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One action."""

    action: str
    opened_by: frozenset[str]
    operations: tuple[str, ...]


def _row(action: str, opened_by: str, operations: str) -> Row:
    return Row(action, frozenset(opened_by.split()), tuple(operations.split()))


_BANKS = (
    _row("", "anybody", "health get_readiness get_liveness get_version"),
    _row("bank:list", "everybody", "list_banks"),
    _row("bank:access", "everybody", "get_bank_access"),
    _row("bank:recall", "recall visitor", "recall_memories"),
    _row("bank:retain", "retain", "retain_memories file_retain dry_run_extract_memories"),
    _row("bank:reflect", "reflect", "reflect"),
    _row("bank:read", "recall", "get_bank_profile"),
    _row("bank:memories:list", "recall", "list_memories"),
    _row("bank:memories:get", "recall", "get_memory get_observation_history"),
    _row("bank:graph", "recall", "get_graph"),
    _row("bank:documents:list", "recall", "list_documents"),
    _row(
        "bank:documents:get",
        "recall",
        "get_document list_document_chunks get_document_history get_chunk get_bank_attachment",
    ),
    _row("bank:entities:list", "recall", "list_entities get_entity_graph"),
    _row("bank:entities:get", "recall", "get_entity regenerate_entity_observations"),
    _row("bank:tags:list", "recall", "list_tags"),
    _row("bank:mental_models:list", "recall", "list_mental_models"),
    _row("bank:mental_models:get", "recall", "get_mental_model get_mental_model_history"),
    _row("bank:operations:list", "retain", "list_operations"),
    _row("bank:operations:get", "retain", "get_operation_status"),
    # Nothing implies any of these: writing, deleting, settings, numbers, copies.
    _row("bank:create", "", "create_or_update_bank create_bank_from_template"),
    _row("bank:update", "", "update_bank update_bank_disposition add_bank_background"),
    _row("bank:delete", "", "delete_bank"),
    _row("bank:aliases:read", "", "list_bank_aliases"),
    _row("bank:aliases:update", "", "create_bank_alias set_bank_alias_primary delete_bank_alias"),
    _row("bank:audit:list", "", "list_audit_logs audit_log_stats"),
    _row("bank:audit:get", "", "get_audit_log"),
    _row("bank:clone", "", "clone_bank"),
    _row(
        "bank:config:read",
        "",
        "get_bank_config export_bank_template get_bank_template_schema preview_prompt test_bank_llm",
    ),
    _row("bank:config:update", "", "update_bank_config reset_bank_config import_bank_template"),
    _row(
        "bank:consolidate",
        "",
        "trigger_consolidation recover_consolidation preview_consolidation_strategies",
    ),
    _row("bank:directives:create", "", "create_directive"),
    _row("bank:directives:delete", "", "delete_directive"),
    _row("bank:directives:get", "", "get_directive"),
    _row("bank:directives:list", "", "list_directives"),
    _row("bank:directives:update", "", "update_directive"),
    _row("bank:documents:delete", "", "delete_document"),
    _row("bank:documents:update", "", "update_document reprocess_document"),
    _row(
        "bank:export",
        "",
        "export_bank_transfer export_documents export_documents_sync_removed download_file",
    ),
    _row("bank:import", "", "import_bank_transfer import_documents"),
    _row("bank:knowledge:create", "", "create_knowledge_folder create_knowledge_page"),
    _row("bank:knowledge:delete", "", "delete_knowledge_node"),
    _row("bank:knowledge:get", "", "get_knowledge_page export_knowledge_base"),
    _row("bank:knowledge:list", "", "get_knowledge_base_tree search_knowledge_base"),
    _row("bank:knowledge:update", "", "update_knowledge_node"),
    _row("bank:llm_requests:list", "", "list_llm_requests llm_request_stats"),
    _row("bank:memories:delete", "", "clear_bank_memories"),
    _row("bank:memories:update", "", "update_memory"),
    _row("bank:mental_models:create", "", "create_mental_model"),
    _row("bank:mental_models:delete", "", "delete_mental_model"),
    _row("bank:mental_models:refresh", "", "refresh_mental_model dry_run_refresh_mental_model"),
    _row("bank:mental_models:update", "", "update_mental_model clear_mental_model"),
    _row("bank:observations:delete", "", "clear_observations clear_memory_observations"),
    _row("bank:observations:list", "", "list_observation_scopes"),
    _row("bank:operations:cancel", "", "cancel_operation"),
    _row("bank:operations:delete", "", "delete_operation"),
    _row("bank:operations:retry", "", "retry_operation"),
    _row("bank:stats", "", "get_agent_stats get_memories_timeseries"),
    _row("bank:webhooks:create", "", "create_webhook"),
    _row("bank:webhooks:delete", "", "delete_webhook"),
    _row("bank:webhooks:list", "", "list_webhooks list_webhook_deliveries"),
    _row("bank:webhooks:update", "", "update_webhook"),
)
_SERVER = (
    _row(
        "iam:audit:read",
        "",
        "list_server_audit_logs server_audit_log_stats get_server_audit_log "
        "verify_audit_log get_audit_verification",
    ),
    _row("iam:server:backup", "", "run_backup"),
    _row("iam:server:doctor", "", "run_doctor"),
    _row("iam:server:metrics", "", "metrics"),
    _row("iam:server:reembed", "", "run_reembed"),
    _row("iam:server:status", "", "get_server_status get_server_task"),
)
_CONTROL_PLANE = (
    _row("iam:me:read", "users", "get_my_profile"),
    _row("iam:api_keys:read", "", "list_my_api_keys"),
    _row("iam:api_keys:write", "", "create_my_api_key delete_my_api_key"),
    _row("iam:attachments:write", "", "upsert_policy_attachment delete_policy_attachment"),
    _row("iam:banks:read", "", "get_bank_policy"),
    _row("iam:banks:write", "", "upsert_bank_policy delete_bank_policy"),
    _row("iam:groups:read", "", "list_groups get_group list_group_members"),
    _row(
        "iam:groups:write",
        "",
        "create_group update_group delete_group add_group_member remove_group_member",
    ),
    _row("iam:policies:read", "", "list_policies get_policy list_policy_attachments"),
    _row("iam:policies:write", "", "create_policy update_policy delete_policy"),
    _row(
        "iam:service_account_keys:write",
        "",
        "create_sa_key delete_sa_key create_my_sa_key delete_my_sa_key",
    ),
    _row(
        "iam:service_accounts:read",
        "",
        "list_service_accounts get_service_account list_sa_keys "
        "list_my_service_accounts get_my_service_account list_my_sa_keys",
    ),
    _row(
        "iam:service_accounts:write",
        "",
        "create_service_account update_service_account delete_service_account "
        "create_my_service_account update_my_service_account delete_my_service_account",
    ),
    _row(
        "iam:users:read",
        "",
        "list_users get_user list_user_channels list_api_keys debug_resolve "
        "explain_access list_access_keys get_user_access",
    ),
    _row(
        "iam:users:write",
        "",
        "create_user update_user delete_user add_user_channel remove_user_channel "
        "create_api_key delete_api_key",
    ),
)

_TEMPLATES = (
    _row(
        "template:admin",
        "",
        "list_template_sources create_template_source delete_template_source list_admin_templates "
        "create_admin_template get_admin_template patch_admin_template delete_admin_template "
        "install_admin_template update_admin_template_from_source check_admin_template_update",
    ),
    _row("template:create", "", "create_my_template"),
    _row("template:install", "", "install_my_template update_my_template_from_source"),
    _row("template:list", "", "list_my_templates get_my_template check_my_template_update"),
    _row("template:manage", "", "patch_my_template delete_my_template"),
    _row(
        "template:source",
        "",
        "list_my_template_sources create_my_template_source delete_my_template_source",
    ),
)

_KNOWLEDGE = (
    _row(
        "knowledge:recall",
        "agent",
        "knowledge_search knowledge_get knowledge_recall knowledge_ontology knowledge_context "
        "knowledge_history",
    ),
    _row(
        "knowledge:save",
        "agent",
        "knowledge_restore knowledge_remember knowledge_save_page knowledge_save_claim "
        "knowledge_save_relationship knowledge_attach_file knowledge_relink",
    ),
    # Each agent and store of these lists is decided by itself.
    _row("knowledge:read", "everybody", "list_knowledge_stores get_knowledge_maintenance"),
    _row(
        "knowledge:read",
        "",
        "browse_knowledge_records browse_knowledge_record browse_knowledge_history get_knowledge_diagnostics",
    ),
    _row(
        "knowledge:admin",
        "",
        "share_knowledge_store use_shared_knowledge_store use_own_knowledge_store "
        "list_knowledge_conversations list_knowledge_grants grant_knowledge_access revoke_knowledge_access "
        "run_knowledge_maintenance check_knowledge_stores resolve_knowledge_publication "
        "accept_knowledge_folders import_knowledge_store get_knowledge_task",
    ),
    _row(
        "knowledge:host",
        "",
        "report_knowledge_host end_knowledge_invocation list_knowledge_reviews take_knowledge_review "
        "answer_knowledge_review",
    ),
)

ROWS: tuple[Row, ...] = (*_BANKS, *_SERVER, *_CONTROL_PLANE, *_TEMPLATES, *_KNOWLEDGE)
ROW_OF: Mapping[str, Row] = {name: row for row in ROWS for name in row.operations}
