"""Service accounts and their keys, of all users.

The declared actions are the fine ones; `iam:service_accounts:manage` implies them. Who holds only a
fine one reaches accounts that may no more than himself (`access.admin.escalation`).
"""

from __future__ import annotations

from lorebank.access.admin import accounts, keys
from lorebank.access.admin.accounts import KEEP
from lorebank.access.admin.policies import account_of
from lorebank.access.directory import ServiceAccount
from lorebank.errors import NotFound
from lorebank.service.guard import Call
from lorebank.service.handlers.iam_desk import account_wire, data_of, desk_of, listed_keys, minted
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

READ, WRITE = "iam:service_accounts:read", "iam:service_accounts:write"
KEYS_WRITE = "iam:service_account_keys:write"


def list_service_accounts(call: Call) -> list[Wire]:
    """All service accounts by id."""
    return [account_wire(account) for _, account in sorted(data_of(call).service_accounts.items())]


def create_service_account(call: Call) -> Wire:
    """The new account."""
    asked = call.request
    account = ServiceAccount(
        asked.id, asked.owner_user_id, asked.display_name, scoping_policy_id=asked.scoping_policy_id
    )
    return account_wire(accounts.create(desk_of(call), account))


def get_service_account(call: Call) -> Wire:
    """One account."""
    return account_wire(account_of(data_of(call), call.params["sa_id"]))


def update_service_account(call: Call) -> Wire:
    """The account after the change. An absent scoping policy stays, a null clears it."""
    asked = call.request
    scoping = asked.scoping_policy_id if "scoping_policy_id" in asked.model_fields_set else KEEP
    return account_wire(
        accounts.update(
            desk_of(call),
            call.params["sa_id"],
            display_name=asked.display_name,
            is_active=asked.is_active,
            scoping_policy_id=scoping,
        )
    )


def delete_service_account(call: Call) -> None:
    """The account is gone with its keys."""
    accounts.delete(desk_of(call), call.params["sa_id"])


def list_sa_keys(call: Call) -> list[Wire]:
    """The keys of an account; none for an unknown one."""
    return listed_keys(data_of(call), "service_account", call.params["sa_id"])


def create_sa_key(call: Call) -> Wire:
    """The new key with its secret."""
    account_id = call.params["sa_id"]
    return minted(call, "service_account", account_id, accounts.reach(desk_of(call), account_id))


def delete_sa_key(call: Call) -> None:
    """The key is revoked."""
    account_id, key_id = call.params["sa_id"], call.params["key_id"]
    desk = desk_of(call)
    if not keys.revoke(desk, "service_account", account_id, key_id, accounts.reach(desk, account_id)):
        raise NotFound(f"Key '{key_id}' not found")


OPERATIONS = (
    Operation("list_service_accounts", READ, Scope.SERVER, list_service_accounts),
    Operation("create_service_account", WRITE, Scope.SERVER, create_service_account),
    Operation("get_service_account", READ, Scope.SERVER, get_service_account),
    Operation("update_service_account", WRITE, Scope.SERVER, update_service_account),
    Operation("delete_service_account", WRITE, Scope.SERVER, delete_service_account),
    Operation("list_sa_keys", READ, Scope.SERVER, list_sa_keys),
    Operation("create_sa_key", KEYS_WRITE, Scope.SERVER, create_sa_key),
    Operation("delete_sa_key", KEYS_WRITE, Scope.SERVER, delete_sa_key),
)
