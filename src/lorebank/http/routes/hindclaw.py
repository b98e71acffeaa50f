"""HindClaw's admin API: users, groups, policies, service accounts, keys, bank policies, templates."""

from __future__ import annotations

from collections.abc import Iterator

from lorebank.http.binding import Binding, bind
from lorebank.service.requests.iam import (
    AddChannelRequest,
    AddMemberRequest,
    AttachmentsQuery,
    CreateApiKeyRequest,
    CreateGroupRequest,
    CreateMyServiceAccountRequest,
    CreatePolicyRequest,
    CreateServiceAccountRequest,
    CreateUserRequest,
    ResolveQuery,
    UpdateGroupRequest,
    UpdateMyServiceAccountRequest,
    UpdatePolicyRequest,
    UpdateServiceAccountRequest,
    UpdateUserRequest,
    UpsertBankPolicyRequest,
    UpsertPolicyAttachmentRequest,
)

ROOT = "/ext/hindclaw"
_USER = f"{ROOT}/users/{{user_id}}"
_GROUP = f"{ROOT}/groups/{{group_id}}"
_POLICY = f"{ROOT}/policies/{{policy_id}}"
_ATTACHMENTS = f"{ROOT}/policy-attachments"
_ACCOUNT = f"{ROOT}/service-accounts/{{sa_id}}"
_BANK_POLICY = f"{ROOT}/banks/{{policy_bank_id}}/policy"
_ME = f"{ROOT}/me"
_MY_ACCOUNT = f"{_ME}/service-accounts/{{sa_id}}"


def _templates(path: str, one: str, many: str, tags: tuple[str, ...]) -> Iterator[Binding]:
    template = f"{path}/{{template_id}}"
    yield bind("GET", path, f"list_{many}", tags=tags)
    yield bind("POST", path, f"create_{one}", tags=tags)
    yield bind("GET", template, f"get_{one}", tags=tags)
    yield bind("PATCH", template, f"patch_{one}", tags=tags)
    yield bind("DELETE", template, f"delete_{one}", tags=tags, status=204)
    yield bind("POST", f"{template}/install", f"install_{one}", tags=tags)
    yield bind("POST", f"{template}/update", f"update_{one}_from_source", tags=tags)
    yield bind("GET", f"{template}/check-update", f"check_{one}_update", tags=tags)


def _sources(path: str, infix: str) -> Iterator[Binding]:
    yield bind("GET", path, f"list_{infix}template_sources")
    yield bind("POST", path, f"create_{infix}template_source", status=201)
    yield bind("DELETE", f"{path}/{{name}}", f"delete_{infix}template_source", status=204)


BINDINGS = (
    bind("GET", f"{ROOT}/users", "list_users"),
    bind("POST", f"{ROOT}/users", "create_user", body=CreateUserRequest, status=201),
    bind("GET", _USER, "get_user"),
    bind("PUT", _USER, "update_user", body=UpdateUserRequest),
    bind("DELETE", _USER, "delete_user", status=204),
    bind("GET", f"{_USER}/channels", "list_user_channels"),
    bind("POST", f"{_USER}/channels", "add_user_channel", body=AddChannelRequest, status=201),
    bind("DELETE", f"{_USER}/channels/{{provider}}/{{sender_id}}", "remove_user_channel", status=204),
    bind("GET", f"{_USER}/api-keys", "list_api_keys"),
    bind("POST", f"{_USER}/api-keys", "create_api_key", body=CreateApiKeyRequest, status=201),
    bind("DELETE", f"{_USER}/api-keys/{{key_id}}", "delete_api_key", status=204),
    bind("GET", f"{ROOT}/groups", "list_groups"),
    bind("POST", f"{ROOT}/groups", "create_group", body=CreateGroupRequest, status=201),
    bind("GET", _GROUP, "get_group"),
    bind("PUT", _GROUP, "update_group", body=UpdateGroupRequest),
    bind("DELETE", _GROUP, "delete_group", status=204),
    bind("GET", f"{_GROUP}/members", "list_group_members"),
    bind("POST", f"{_GROUP}/members", "add_group_member", body=AddMemberRequest, status=201),
    bind("DELETE", f"{_GROUP}/members/{{user_id}}", "remove_group_member", status=204),
    bind("GET", f"{ROOT}/policies", "list_policies"),
    bind("POST", f"{ROOT}/policies", "create_policy", body=CreatePolicyRequest, status=201),
    bind("GET", _POLICY, "get_policy"),
    bind("PUT", _POLICY, "update_policy", body=UpdatePolicyRequest),
    bind("DELETE", _POLICY, "delete_policy", status=204),
    bind("GET", _ATTACHMENTS, "list_policy_attachments", query=AttachmentsQuery),
    bind("PUT", _ATTACHMENTS, "upsert_policy_attachment", body=UpsertPolicyAttachmentRequest),
    bind(
        "DELETE",
        f"{_ATTACHMENTS}/{{policy_id}}/{{principal_type}}/{{principal_id}}",
        "delete_policy_attachment",
        status=204,
    ),
    bind("GET", f"{ROOT}/service-accounts", "list_service_accounts"),
    bind(
        "POST",
        f"{ROOT}/service-accounts",
        "create_service_account",
        body=CreateServiceAccountRequest,
        status=201,
    ),
    bind("GET", _ACCOUNT, "get_service_account"),
    bind("PUT", _ACCOUNT, "update_service_account", body=UpdateServiceAccountRequest),
    bind("DELETE", _ACCOUNT, "delete_service_account", status=204),
    bind("GET", f"{_ACCOUNT}/keys", "list_sa_keys"),
    bind("POST", f"{_ACCOUNT}/keys", "create_sa_key", body=CreateApiKeyRequest, status=201),
    bind("DELETE", f"{_ACCOUNT}/keys/{{key_id}}", "delete_sa_key", status=204),
    bind("GET", _BANK_POLICY, "get_bank_policy"),
    bind("PUT", _BANK_POLICY, "upsert_bank_policy", body=UpsertBankPolicyRequest),
    bind("DELETE", _BANK_POLICY, "delete_bank_policy", status=204),
    bind("GET", f"{ROOT}/debug/resolve", "debug_resolve", query=ResolveQuery),
    bind("GET", _ME, "get_my_profile"),
    bind("GET", f"{_ME}/api-keys", "list_my_api_keys"),
    bind("POST", f"{_ME}/api-keys", "create_my_api_key", body=CreateApiKeyRequest, status=201),
    bind("DELETE", f"{_ME}/api-keys/{{key_id}}", "delete_my_api_key", status=204),
    bind("GET", f"{_ME}/service-accounts", "list_my_service_accounts"),
    bind(
        "POST",
        f"{_ME}/service-accounts",
        "create_my_service_account",
        body=CreateMyServiceAccountRequest,
        status=201,
    ),
    bind("GET", _MY_ACCOUNT, "get_my_service_account"),
    bind("PUT", _MY_ACCOUNT, "update_my_service_account", body=UpdateMyServiceAccountRequest),
    bind("DELETE", _MY_ACCOUNT, "delete_my_service_account", status=204),
    bind("GET", f"{_MY_ACCOUNT}/keys", "list_my_sa_keys"),
    bind("POST", f"{_MY_ACCOUNT}/keys", "create_my_sa_key", body=CreateApiKeyRequest, status=201),
    bind("DELETE", f"{_MY_ACCOUNT}/keys/{{key_id}}", "delete_my_sa_key", status=204),
    bind("POST", f"{ROOT}/banks", "create_bank_from_template", tags=("Banks",)),
    *_sources(f"{_ME}/template-sources", "my_"),
    *_sources(f"{ROOT}/admin/template-sources", ""),
    *_templates(f"{_ME}/templates", "my_template", "my_templates", ("Templates",)),
    *_templates(f"{ROOT}/admin/templates", "admin_template", "admin_templates", ("Templates", "Admin")),
)
