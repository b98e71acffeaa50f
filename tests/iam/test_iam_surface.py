"""The whole surface of the admin API, transcribed from the wire contract."""

from __future__ import annotations

from typing import Any

import pytest
from iam_server import SHAPES, Server, path

from lorebank.http.openapi import describe
from lorebank.http.routes.all import BINDINGS
from lorebank.service.operations import Scope
from lorebank.service.table import OPERATIONS

ROOT = "/ext/hindclaw"
TABLE = """
GET    /users                                              list_users                iam:users:read 200
POST   /users                                              create_user               iam:users:write 201
GET    /users/{user_id}                                    get_user                  iam:users:read 200
PUT    /users/{user_id}                                    update_user               iam:users:write 200
DELETE /users/{user_id}                                    delete_user               iam:users:write 204
GET    /users/{user_id}/channels                           list_user_channels        iam:users:read 200
POST   /users/{user_id}/channels                           add_user_channel          iam:users:write 201
DELETE /users/{user_id}/channels/{provider}/{sender_id}    remove_user_channel       iam:users:write 204
GET    /users/{user_id}/api-keys                           list_api_keys             iam:users:read 200
POST   /users/{user_id}/api-keys                           create_api_key            iam:users:write 201
DELETE /users/{user_id}/api-keys/{key_id}                  delete_api_key            iam:users:write 204
GET    /groups                                             list_groups               iam:groups:read 200
POST   /groups                                             create_group              iam:groups:write 201
GET    /groups/{group_id}                                  get_group                 iam:groups:read 200
PUT    /groups/{group_id}                                  update_group              iam:groups:write 200
DELETE /groups/{group_id}                                  delete_group              iam:groups:write 204
GET    /groups/{group_id}/members                          list_group_members        iam:groups:read 200
POST   /groups/{group_id}/members                          add_group_member          iam:groups:write 201
DELETE /groups/{group_id}/members/{user_id}                remove_group_member       iam:groups:write 204
GET    /policies                                           list_policies             iam:policies:read 200
POST   /policies                                           create_policy             iam:policies:write 201
GET    /policies/{policy_id}                               get_policy                iam:policies:read 200
PUT    /policies/{policy_id}                               update_policy             iam:policies:write 200
DELETE /policies/{policy_id}                               delete_policy             iam:policies:write 204
GET    /policy-attachments                                 list_policy_attachments   iam:policies:read 200
PUT    /policy-attachments                                 upsert_policy_attachment  iam:attachments:write 200
DELETE /policy-attachments/{policy_id}/{principal_type}/{principal_id} delete_policy_attachment iam:attachments:write 204
GET    /service-accounts                                   list_service_accounts     iam:service_accounts:read 200
POST   /service-accounts                                   create_service_account    iam:service_accounts:write 201
GET    /service-accounts/{sa_id}                           get_service_account       iam:service_accounts:read 200
PUT    /service-accounts/{sa_id}                           update_service_account    iam:service_accounts:write 200
DELETE /service-accounts/{sa_id}                           delete_service_account    iam:service_accounts:write 204
GET    /service-accounts/{sa_id}/keys                      list_sa_keys              iam:service_accounts:read 200
POST   /service-accounts/{sa_id}/keys                      create_sa_key             iam:service_account_keys:write 201
DELETE /service-accounts/{sa_id}/keys/{key_id}             delete_sa_key             iam:service_account_keys:write 204
GET    /banks/{bank_id}/policy                             get_bank_policy           iam:banks:read 200
PUT    /banks/{bank_id}/policy                             upsert_bank_policy        iam:banks:write 200
DELETE /banks/{bank_id}/policy                             delete_bank_policy        iam:banks:write 204
GET    /debug/resolve                                      debug_resolve             iam:users:read 200
POST   /banks                                              create_bank_from_template bank:create 200 Banks
GET    /me                                                 get_my_profile            iam:me:read 200
GET    /me/api-keys                                        list_my_api_keys          iam:api_keys:read 200
POST   /me/api-keys                                        create_my_api_key         iam:api_keys:write 201
DELETE /me/api-keys/{key_id}                               delete_my_api_key         iam:api_keys:write 204
GET    /me/service-accounts                                list_my_service_accounts  iam:service_accounts:read 200
POST   /me/service-accounts                                create_my_service_account iam:service_accounts:write 201
GET    /me/service-accounts/{sa_id}                        get_my_service_account    iam:service_accounts:read 200
PUT    /me/service-accounts/{sa_id}                        update_my_service_account iam:service_accounts:write 200
DELETE /me/service-accounts/{sa_id}                        delete_my_service_account iam:service_accounts:write 204
GET    /me/service-accounts/{sa_id}/keys                   list_my_sa_keys           iam:service_accounts:read 200
POST   /me/service-accounts/{sa_id}/keys                   create_my_sa_key          iam:service_account_keys:write 201
DELETE /me/service-accounts/{sa_id}/keys/{key_id}          delete_my_sa_key          iam:service_account_keys:write 204
GET    /me/template-sources                                list_my_template_sources  template:source 200
POST   /me/template-sources                                create_my_template_source template:source 201
DELETE /me/template-sources/{name}                         delete_my_template_source template:source 204
GET    /admin/template-sources                             list_template_sources     template:admin 200
POST   /admin/template-sources                             create_template_source    template:admin 201
DELETE /admin/template-sources/{name}                      delete_template_source    template:admin 204
GET    /me/templates                                       list_my_templates         template:list 200 Templates
POST   /me/templates                                       create_my_template        template:create 200 Templates
GET    /me/templates/{template_id}                         get_my_template           template:list 200 Templates
PATCH  /me/templates/{template_id}                         patch_my_template         template:manage 200 Templates
DELETE /me/templates/{template_id}                         delete_my_template        template:manage 204 Templates
POST   /me/templates/{template_id}/install                 install_my_template       template:install 200 Templates
POST   /me/templates/{template_id}/update                  update_my_template_from_source template:install 200 Templates
GET    /me/templates/{template_id}/check-update            check_my_template_update  template:list 200 Templates
GET    /admin/templates                                    list_admin_templates      template:admin 200 Templates,Admin
POST   /admin/templates                                    create_admin_template     template:admin 200 Templates,Admin
GET    /admin/templates/{template_id}                      get_admin_template        template:admin 200 Templates,Admin
PATCH  /admin/templates/{template_id}                      patch_admin_template      template:admin 200 Templates,Admin
DELETE /admin/templates/{template_id}                      delete_admin_template     template:admin 204 Templates,Admin
POST   /admin/templates/{template_id}/install              install_admin_template    template:admin 200 Templates,Admin
POST   /admin/templates/{template_id}/update               update_admin_template_from_source template:admin 200 Templates,Admin
GET    /admin/templates/{template_id}/check-update         check_admin_template_update template:admin 200 Templates,Admin
"""  # noqa: E501
ROWS = [line.split() for line in TABLE.strip().splitlines()]
LATER = [row for row in ROWS if "template" in row[2]]


def test_all_74_operations_are_bound_with_their_action_status_and_tags() -> None:
    assert len(ROWS) == 74
    found = {
        (
            one.method,
            one.shown_path.removeprefix(ROOT),
            one.operation_id,
            OPERATIONS[one.operation].action,
            str(one.status),
            ",".join(one.tags),
        )
        for one in BINDINGS
        if one.path.startswith(ROOT)
    }
    assert found == {(*row[:5], row[5] if len(row) > 5 else "") for row in ROWS}


def test_all_are_decided_on_the_server() -> None:
    assert {OPERATIONS[row[2]].scope for row in ROWS} == {Scope.SERVER}


def test_the_description_has_their_names_parameters_and_bodies() -> None:
    paths = describe(BINDINGS)["paths"]
    for method, where, name, _, status, *tags in ROWS:
        one: dict[str, Any] = paths[ROOT + where][method.lower()]
        assert one["operationId"] == name and status in one["responses"]
        assert one.get("tags", []) == (tags[0].split(",") if tags else [])
        in_path = {each["name"] for each in one["parameters"] if each["in"] == "path"}
        assert in_path == {part[1:-1] for part in where.split("/") if part.startswith("{")}
    assert paths[f"{ROOT}/users"]["post"]["requestBody"]["required"] is True
    assert paths[f"{ROOT}/users/{{user_id}}/api-keys"]["post"]["requestBody"]["required"] is False


def test_required_fields_are_those_of_the_contract() -> None:
    schemas = describe(BINDINGS)["components"]["schemas"]
    required = {
        "CreateUserRequest": {"id", "display_name"},
        "UpdateUserRequest": set(),
        "AddChannelRequest": {"provider", "sender_id"},
        "CreateApiKeyRequest": set(),
        "CreateGroupRequest": {"id", "display_name"},
        "UpdateGroupRequest": set(),
        "AddMemberRequest": {"user_id"},
        "CreatePolicyRequest": {"id", "display_name", "document"},
        "UpdatePolicyRequest": set(),
        "UpsertPolicyAttachmentRequest": {"policy_id", "principal_type", "principal_id"},
        "CreateServiceAccountRequest": {"id", "owner_user_id", "display_name"},
        "UpdateServiceAccountRequest": set(),
        "CreateMyServiceAccountRequest": {"id", "display_name"},
        "UpdateMyServiceAccountRequest": {"display_name"},
        "UpsertBankPolicyRequest": {"document"},
    }
    for name, fields in required.items():
        assert set(schemas[name].get("required", [])) == fields, name


@pytest.mark.parametrize("row", LATER, ids=[row[2] for row in LATER])
def test_templates_say_that_they_come_later(server: Server, row: list[str]) -> None:
    if row[2] != "create_bank_from_template":
        server.attach("template:admin", "user", "root")
    where = ROOT + row[1].format(name="x", template_id="x")
    sent = {"body": {"bank_id": "x"}} if row[0] in ("POST", "PATCH") else {}
    assert "not part of this release" in server.refused(400, row[0], where, **sent)


def test_no_answer_without_a_valid_key(server: Server) -> None:
    for method, where, *_ in ROWS:
        filled = ROOT + where
        for key in (None, "hc_u_root_0", "eyJ0.e.x"):
            told = server.refused(401, method, filled, key=key)
            assert told
        assert server.ask(method, filled, key=None).headers["www-authenticate"] == "Bearer"


def test_the_shapes_of_the_answers_are_the_wires_own() -> None:
    assert len(SHAPES["access"]) == 12
    assert path("users", "a/b c") == f"{ROOT}/users/a%2Fb%20c"
