"""What the handlers of the admin API share: the caller's desk, and keys as the wire has them."""

from __future__ import annotations

from lorebank.access.admin.desk import Desk
from lorebank.access.admin.keys import NewKey, keys_of, mint
from lorebank.access.directory import AccessData, Check, Key, KeyKind, ServiceAccount, nothing_more
from lorebank.clock import to_micros
from lorebank.service.guard import Call
from lorebank.service.render import Wire


def desk_of(call: Call) -> Desk:
    """Where this caller's change is made."""
    context = call.context
    return Desk(
        store=context.access.store,
        rules=context.access.rules,
        resolver=context.resolver,
        grant=call.grant,
        bank_named=context.banks.canonical,
        root=context.settings.root_user,
        now=context.clock(),
    )


def data_of(call: Call) -> AccessData:
    """The access directory as it is now."""
    return call.context.access.store.data


def listed_keys(data: AccessData, kind: KeyKind, owner_id: str) -> list[Wire]:
    """The keys of an owner; nothing of the secret but its beginning."""
    return [_listed(key) for key in keys_of(data, kind, owner_id)]


def _listed(key: Key) -> Wire:
    return {"id": key.id, "api_key_prefix": key.shown, "description": key.description}


def minted(call: Call, kind: KeyKind, owner_id: str, also: Check = nothing_more) -> Wire:
    """Make the key that the request describes; the only answer that ever holds its secret."""
    request = call.request
    expires_at = None if request.expires_at is None else to_micros(request.expires_at)
    made: NewKey = mint(
        desk_of(call), kind, owner_id, description=request.description, expires_at=expires_at, also=also
    )
    return {"id": made.key.id, "api_key": made.secret, "description": made.key.description}


def account_wire(account: ServiceAccount) -> Wire:
    """ServiceAccountResponse."""
    return {
        "id": account.id,
        "owner_user_id": account.owner_user_id,
        "display_name": account.display_name,
        "is_active": account.is_active,
        "scoping_policy_id": account.scoping_policy_id,
    }
