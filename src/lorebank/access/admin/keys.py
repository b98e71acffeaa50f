"""Making and revoking API keys. The secret is in the answer to whoever made the key, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass

from lorebank.access.admin.desk import Desk, wrong_field
from lorebank.access.admin.policies import account_of
from lorebank.access.admin.users import user_of
from lorebank.access.directory import AccessData, Check, Key, KeyKind, nothing_more
from lorebank.access.keys import new_secret, stored_key
from lorebank.clock import Micros


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key at the one moment when its secret is known."""

    key: Key
    secret: str


def keys_of(data: AccessData, kind: KeyKind, owner_id: str) -> list[Key]:
    """The keys of an owner, oldest first."""
    found = (key for key in data.keys.values() if (key.kind, key.owner_id) == (kind, owner_id))
    return sorted(found, key=lambda key: (key.created_at, key.id))


def mint(
    desk: Desk,
    kind: KeyKind,
    owner_id: str,
    *,
    description: str | None,
    expires_at: Micros | None,
    also: Check = nothing_more,
) -> NewKey:
    """A new key for an existing owner. `InvalidInput` for an expiry that has passed."""
    if expires_at is not None and expires_at <= desk.now:
        raise wrong_field("expires_at", "must be in the future")
    secret = new_secret(kind, owner_id)
    key = stored_key(secret, kind, owner_id, desk.now, description=description, expires_at=expires_at)
    with desk.change(also) as writer:
        check_owner(writer.data(), kind, owner_id)
        writer.add_key(key)
    return NewKey(key, secret)


def check_owner(data: AccessData, kind: KeyKind, owner_id: str) -> None:
    """`NotFound` when there is no such owner."""
    if kind == "user":
        user_of(data, owner_id)
    else:
        account_of(data, owner_id)


def revoke(desk: Desk, kind: KeyKind, owner_id: str, key_id: str, also: Check = nothing_more) -> bool:
    """Revoke a key of that owner; whether there was one."""
    with desk.change(also) as writer:
        return writer.delete_key(kind, owner_id, key_id)
