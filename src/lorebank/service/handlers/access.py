"""lorebank's own operations on access: why something is allowed or not, and all keys at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorebank.access.directory import Key
from lorebank.access.explaining import explained, subject
from lorebank.access.principal import Circumstances
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
    principal = subject(
        access.store.data, where, user_id=asked["user_id"], sa_id=asked["sa_id"], sender=asked["sender"]
    )
    bank = call.context.banks.canonical(check_bank_id(asked["bank"]))
    return explained(access.rules, principal, asked["action"], bank).to_json()


def list_access_keys(call: Call) -> Wire:
    """Keys with their last use and their end, by owner and age; never a secret."""
    store = call.context.access.store
    owner = _owner(call.params)
    keys = [key for key in store.data.keys.values() if owner in (None, (key.kind, key.owner_id))]
    keys.sort(key=lambda key: (key.kind, key.owner_id, key.created_at, key.id))
    uses, now = store.last_uses(), call.context.clock()
    return {"items": [_key(key, uses.get(key.id), now) for key in keys], "total": len(keys)}


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
)
