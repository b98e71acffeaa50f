"""How to ask the routes of access administration and of the server's audit log: one entry an operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from access_admin import document, statement
from wire_walk import Ask

from lorebank.http.binding import Binding

_NAMED = {"display_name": "Walk"}
_POLICY = document(statement("bank:recall", banks=("walk",)))
_TEMPLATE = {"id": "walk-template", "name": "Walk", "manifest": {"version": "1"}}
_SOURCE = {"url": "https://templates.example.com/walk"}
_KEY: Mapping[str, Any] = {"description": "walked"}
_BODIES: Mapping[str, Any] = {
    "create_user": {"id": "walk-user", **_NAMED},
    "update_user": _NAMED,
    "add_user_channel": {"provider": "web", "sender_id": "walk-1"},
    "create_api_key": _KEY,
    "create_group": {"id": "walk-group", **_NAMED},
    "update_group": _NAMED,
    "add_group_member": {"user_id": "walk-user"},
    "create_policy": {"id": "walk-policy", **_NAMED, "document": _POLICY},
    "update_policy": {"document": _POLICY},
    "upsert_policy_attachment": {
        "policy_id": "walk-policy", "principal_type": "user", "principal_id": "walk-user",
    },
    "create_service_account": {"id": "walk-robot", "owner_user_id": "walk-user", **_NAMED},
    "update_service_account": _NAMED,
    "create_sa_key": _KEY,
    "upsert_bank_policy": {"document": {"version": "2026-03-24", "default_strategy": "walk"}},
    "verify_audit_log": {},
    "create_my_api_key": _KEY,
    "create_my_service_account": {"id": "walk-own-robot", **_NAMED},
    "update_my_service_account": _NAMED,
    "create_my_sa_key": _KEY,
    "create_bank_from_template": {"bank_id": "walk-bank", "template": "server/walk-template"},
    "create_my_template_source": _SOURCE,
    "create_template_source": _SOURCE,
    "create_my_template": _TEMPLATE,
    "create_admin_template": _TEMPLATE,
    "patch_my_template": {"name": "Walk"},
    "patch_admin_template": {"name": "Walk"},
    "install_my_template": {"source_name": "walk-source"},
    "install_admin_template": {"source_name": "walk-source"},
}  # fmt: skip
_QUERIES: Mapping[str, Mapping[str, str]] = {
    "list_policy_attachments": {"policy_id": "walk-policy"},
    "debug_resolve": {"bank": "walk", "user_id": "walk-user"},
    "explain_access": {"bank": "walk", "user_id": "walk-user"},
}
_PLAIN = (
    "list_users", "get_user", "delete_user", "list_user_channels", "remove_user_channel", "list_api_keys",
    "delete_api_key", "list_groups", "get_group", "delete_group", "list_group_members", "remove_group_member",
    "list_policies", "get_policy", "delete_policy", "list_policy_attachments", "delete_policy_attachment",
    "list_service_accounts", "get_service_account", "delete_service_account", "list_sa_keys", "delete_sa_key",
    "get_bank_policy", "delete_bank_policy", "debug_resolve", "get_my_profile", "list_my_api_keys",
    "delete_my_api_key", "list_my_service_accounts", "get_my_service_account", "delete_my_service_account",
    "list_my_sa_keys", "delete_my_sa_key", "list_my_template_sources", "delete_my_template_source",
    "list_template_sources", "delete_template_source", "list_my_templates", "get_my_template",
    "delete_my_template", "update_my_template_from_source", "check_my_template_update",
    "list_admin_templates", "get_admin_template", "delete_admin_template",
    "update_admin_template_from_source", "check_admin_template_update", "explain_access", "list_access_keys",
    "get_user_access", "list_server_audit_logs", "server_audit_log_stats", "get_server_audit_log",
    "get_audit_verification",
)  # fmt: skip

ADMIN_ASKS: Mapping[str, Ask] = {
    name: Ask(query=_QUERIES.get(name, {}), body=_BODIES.get(name)) for name in (*_BODIES, *_PLAIN)
}
"""operation -> its request."""

FIRST = ("POST", "PUT", "PATCH", "GET", "DELETE")


def in_making_order(bindings: Iterable[Binding]) -> list[Binding]:
    """These routes in an order in which each finds what it names: made first, taken away last in reverse."""
    ours = [one for one in bindings if one.operation in ADMIN_ASKS]
    kept = [one for method in FIRST[:-1] for one in ours if one.method == method]
    return kept + [one for one in reversed(ours) if one.method == "DELETE"]
