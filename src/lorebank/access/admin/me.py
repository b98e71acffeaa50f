"""Who `me` is: the user himself, or the owner of the service account that asks."""

from __future__ import annotations

from lorebank.access.admin.users import user_of
from lorebank.access.directory import AccessData, User, owner_of
from lorebank.access.principal import Principal
from lorebank.errors import Forbidden


def myself(data: AccessData, principal: Principal) -> User:
    """The user who asks with a credential of his own; `Forbidden` for everybody else, service accounts
    included: their keys are managed through the account."""
    if principal.kind != "user":
        raise Forbidden("this is for users only: use an API key of a user")
    return user_of(data, principal.id)


def my_user(data: AccessData, principal: Principal) -> str:
    """The id of the user whose service accounts `me` means."""
    return owner_of(data, principal.kind, principal.id)
