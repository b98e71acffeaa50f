"""What a user manages of his own: profile, API keys, service accounts and their keys."""

from __future__ import annotations

from lorebank.access.actions import OWN_PROFILE
from lorebank.access.admin import accounts, keys, me
from lorebank.access.directory import ServiceAccount
from lorebank.errors import NotFound
from lorebank.service.guard import Call
from lorebank.service.handlers.iam_accounts import KEYS_WRITE, READ, WRITE
from lorebank.service.handlers.iam_desk import account_wire, data_of, desk_of, listed_keys, minted
from lorebank.service.handlers.iam_users import channels_wire, user_wire
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

OWN_KEYS_READ, OWN_KEYS_WRITE = "iam:api_keys:read", "iam:api_keys:write"


def get_my_profile(call: Call) -> Wire:
    """The caller's user record with his senders."""
    user = me.myself(data_of(call), call.grant.principal)
    return user_wire(user) | {"channels": channels_wire(call, user.id)}


def list_my_api_keys(call: Call) -> list[Wire]:
    """The caller's keys."""
    return listed_keys(data_of(call), "user", _my_id(call))


def create_my_api_key(call: Call) -> Wire:
    """A new key with its secret."""
    return minted(call, "user", _my_id(call))


def delete_my_api_key(call: Call) -> None:
    """The key is revoked, if it was there."""
    keys.revoke(desk_of(call), "user", _my_id(call), call.params["key_id"])


def _my_id(call: Call) -> str:
    return me.myself(data_of(call), call.grant.principal).id


# service accounts


def list_my_service_accounts(call: Call) -> list[Wire]:
    """The accounts of the caller's user, by id."""
    data = data_of(call)
    return [account_wire(one) for one in accounts.owned_by(data, me.my_user(data, call.grant.principal))]


def create_my_service_account(call: Call) -> Wire:
    """The new account."""
    asked = call.request
    owner = me.my_user(data_of(call), call.grant.principal)
    account = ServiceAccount(asked.id, owner, asked.display_name, scoping_policy_id=asked.scoping_policy_id)
    return account_wire(accounts.create_own(desk_of(call), account))


def get_my_service_account(call: Call) -> Wire:
    """One own account."""
    return account_wire(_my_account(call))


def update_my_service_account(call: Call) -> Wire:
    """The account under its new name."""
    account = _my_account(call)
    return account_wire(accounts.update(desk_of(call), account.id, display_name=call.request.display_name))


def delete_my_service_account(call: Call) -> None:
    """The account is gone with its keys."""
    accounts.delete(desk_of(call), _my_account(call).id)


def list_my_sa_keys(call: Call) -> list[Wire]:
    """The keys of an own account."""
    return listed_keys(data_of(call), "service_account", _my_account(call).id)


def create_my_sa_key(call: Call) -> Wire:
    """The new key with its secret."""
    account = _my_account(call)
    return minted(call, "service_account", account.id, accounts.reach(desk_of(call), account.id))


def delete_my_sa_key(call: Call) -> None:
    """The key is revoked."""
    account, key_id = _my_account(call), call.params["key_id"]
    desk = desk_of(call)
    if not keys.revoke(desk, "service_account", account.id, key_id, accounts.reach(desk, account.id)):
        raise NotFound(f"Key '{key_id}' not found")


def _my_account(call: Call) -> ServiceAccount:
    data = data_of(call)
    return accounts.own(data, me.my_user(data, call.grant.principal), call.params["sa_id"])


OPERATIONS = (
    Operation("get_my_profile", OWN_PROFILE, Scope.SERVER, get_my_profile),
    Operation("list_my_api_keys", OWN_KEYS_READ, Scope.SERVER, list_my_api_keys),
    Operation("create_my_api_key", OWN_KEYS_WRITE, Scope.SERVER, create_my_api_key),
    Operation("delete_my_api_key", OWN_KEYS_WRITE, Scope.SERVER, delete_my_api_key),
    Operation("list_my_service_accounts", READ, Scope.SERVER, list_my_service_accounts),
    Operation("create_my_service_account", WRITE, Scope.SERVER, create_my_service_account),
    Operation("get_my_service_account", READ, Scope.SERVER, get_my_service_account),
    Operation("update_my_service_account", WRITE, Scope.SERVER, update_my_service_account),
    Operation("delete_my_service_account", WRITE, Scope.SERVER, delete_my_service_account),
    Operation("list_my_sa_keys", READ, Scope.SERVER, list_my_sa_keys),
    Operation("create_my_sa_key", KEYS_WRITE, Scope.SERVER, create_my_sa_key),
    Operation("delete_my_sa_key", KEYS_WRITE, Scope.SERVER, delete_my_sa_key),
)
