"""lorebank's own operations on access: why something is allowed or not, all keys, all that a user has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from lorebank.access.admin.keys import keys_of
from lorebank.access.admin.users import channels_of, user_of
from lorebank.access.assembling import scopes_of
from lorebank.access.directory import AccessData, Key, ServiceAccount
from lorebank.access.principal import Circumstances
from lorebank.access.subject import check_known, subject
from lorebank.clock import Micros, to_iso
from lorebank.ids import check_bank_id
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire


def explain_access(call: Call) -> Wire:
    """The decision on a question, with its reasons. Nothing is done, and no decision is recorded but the
    caller's own."""
    asked, access = call.params, call.context.access
    where = Circumstances(asked["provider"], asked["channel"], asked["topic"], asked["agent"])
    data = access.store.data
    principal = subject(data, where, user_id=asked["user_id"], sa_id=asked["sa_id"], sender=asked["sender"])
    check_known(data, principal)
    bank = call.context.banks.canonical(check_bank_id(asked["bank"]))
    # Sentences for people; a start that serves agents does without them.
    from lorebank.access.explaining import explained

    return explained(access.rules, principal, asked["action"], bank).to_json()


def list_access_keys(call: Call) -> Wire:
    """Keys with their last use and their end, by owner and age; never a secret."""
    store = call.context.access.store
    owner = _owner(call.params)
    keys = [key for key in store.data.keys.values() if owner in (None, (key.kind, key.owner_id))]
    keys.sort(key=lambda key: (key.kind, key.owner_id, key.created_at, key.id))
    uses, now = store.last_uses(), call.context.clock()
    return {"items": [_key(key, uses.get(key.id), now) for key in keys], "total": len(keys)}


def get_user_access(call: Call) -> Wire:
    """All that a user has: senders, groups, the policies that reach him and by which way, service accounts
    with what narrows them, and keys. `NotFound` for an unknown user."""
    store = call.context.access.store
    data, uses, now = store.data, store.last_uses(), call.context.clock()
    user = user_of(data, call.params["user_id"])
    groups = data.groups_of.get(user.id, ())
    accounts = (one for _, one in sorted(data.service_accounts.items()) if one.owner_user_id == user.id)
    return {
        "id": user.id,
        "display_name": user.display_name,
        "email": user.email,
        "is_active": user.is_active,
        "channels": _channels(data, user.id),
        "groups": list(groups),
        "policies": _policies(data, user.id, groups),
        "service_accounts": [_account(data, one) for one in accounts],
        "keys": [_own_key(key, uses.get(key.id), now) for key in keys_of(data, "user", user.id)],
    }


def _channels(data: AccessData, user_id: str) -> list[Wire]:
    return [{"provider": provider, "sender_id": sender} for provider, sender in channels_of(data, user_id)]


def _policies(data: AccessData, user_id: str, groups: tuple[str, ...]) -> list[Wire]:
    """The policies that hold for the user: his own, then those of each group."""
    ways: list[tuple[Literal["user", "group"], str]] = [("user", user_id)]
    ways += [("group", group) for group in groups]
    return [
        {"policy_id": one.policy_id, "through": kind, "via": id, "priority": one.priority}
        for kind, id in ways
        for one in data.attachments.get((kind, id), ())
    ]


def _account(data: AccessData, account: ServiceAccount) -> Wire:
    scopes = list(scopes_of(data, account))
    return {"id": account.id, "is_active": account.is_active, "scopes": scopes}


def _own_key(key: Key, used_at: Micros | None, now: Micros) -> Wire:
    told = _key(key, used_at, now)
    names = ("id", "description", "created_at", "expires_at", "expired", "last_used_at")
    return {"shown": key.shown} | {name: told[name] for name in names}


def _owner(asked: Mapping[str, Any]) -> tuple[str, str] | None:
    if asked["user"] is not None:
        return "user", asked["user"]
    return None if asked["service_account"] is None else ("service_account", asked["service_account"])


def _key(key: Key, used_at: Micros | None, now: Micros) -> Wire:
    return {
        "id": key.id,
        "kind": key.kind,
        "owner_id": key.owner_id,
        "api_key_prefix": key.shown,
        "description": key.description,
        "created_at": to_iso(key.created_at),
        "expires_at": to_iso(key.expires_at),
        "expired": key.expires_at is not None and key.expires_at <= now,
        "last_used_at": to_iso(used_at),
    }


OPERATIONS = (
    Operation("explain_access", "iam:users:read", Scope.SERVER, explain_access),
    Operation("list_access_keys", "iam:users:read", Scope.SERVER, list_access_keys),
    Operation("get_user_access", "iam:users:read", Scope.SERVER, get_user_access),
)
