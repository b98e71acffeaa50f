"""Whether a caller is still somebody: his user, his account, his key and his mapping are looked at anew
for every decision, so that revoking one of them reaches requests in flight."""

from __future__ import annotations

from lorebank.access.directory import AccessData, Key
from lorebank.access.principal import Principal
from lorebank.clock import Micros


def user_behind(data: AccessData, principal: Principal) -> str | None:
    """The user whose rights the principal has: himself, or an account's owner. None: nobody, or nobody
    any more."""
    if principal.kind == "service_account":
        account = data.service_accounts.get(principal.id)
        return None if account is None else account.owner_user_id
    return principal.id if principal.kind == "user" else None


def standing_problem(data: AccessData, principal: Principal, now: Micros) -> str | None:
    """Why the caller is not any more who he was; None while he is. What unmapped senders may do is decided
    by policies alone, as long as no user is mapped to them."""
    if principal.kind == "unmapped":
        return None if _mapped_to(data, principal) is None else "the sender is a user now"
    if principal.kind == "service_account":
        account = data.service_accounts.get(principal.id)
        if account is None or not account.is_active:
            return "the service account is not active"
    user = data.users.get(user_behind(data, principal) or "")
    if user is None or not user.is_active:
        owner = principal.kind == "service_account"
        return "the owner of the service account is not active" if owner else "the user is not active"
    if principal.credential is not None:
        return _key_problem(data.keys_by_id.get(principal.credential), principal, now)
    return _mapping_problem(data, principal) if principal.by_token else None


def _key_problem(key: Key | None, principal: Principal, now: Micros) -> str | None:
    if key is None or (key.kind, key.owner_id) != (principal.kind, principal.id):
        return "the key was revoked"
    return "the key has expired" if key.expires_at is not None and key.expires_at <= now else None


def _mapping_problem(data: AccessData, principal: Principal) -> str | None:
    if principal.circumstances.sender is None or _mapped_to(data, principal) == principal.id:
        return None
    return "the sender is not mapped to the user any more"


def _mapped_to(data: AccessData, principal: Principal) -> str | None:
    provider, _, sender_id = (principal.circumstances.sender or "").partition(":")
    return data.channels.get((provider, sender_id))
