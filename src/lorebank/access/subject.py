"""The principal that a question is about: who would arrive, and in which conversation.

Nobody acts as the principal that is made here; it only tells the rules of whom they are asked.
"""

from __future__ import annotations

from dataclasses import replace

from lorebank.access.directory import AccessData
from lorebank.access.principal import UNMAPPED, Circumstances, Principal
from lorebank.access.rules import placed
from lorebank.errors import BadRequest, NotFound


def subject(
    data: AccessData,
    where: Circumstances,
    *,
    user_id: str | None = None,
    sa_id: str | None = None,
    sender: str | None = None,
) -> Principal:
    """The principal that would arrive: of several that are named the account, then the user.

    A user comes by a gateway's token where there are circumstances, because no key carries any. He need
    not be there, see `check_known`. `BadRequest` when nobody is named, or a sender without a colon.
    """
    if sa_id is not None:
        return Principal("service_account", sa_id, where)
    if user_id is not None:
        return Principal("user", user_id, where, by_token=bool(where.to_json()))
    if sender is None:
        raise BadRequest("Provide one of: sa_id, user_id, sender")
    provider, colon, sender_id = sender.partition(":")
    if not (provider and colon and sender_id):
        raise BadRequest("sender must be 'provider:id', for example 'telegram:123456'")
    where = placed(replace(where, sender=sender))
    mapped = data.channels.get((provider, sender_id))
    if mapped is None:
        return Principal("unmapped", UNMAPPED, where, by_token=True)
    return Principal("user", mapped, where, by_token=True)


def check_known(data: AccessData, principal: Principal) -> None:
    """`NotFound` for a user or an account that is not there. A disabled user is somebody all the same:
    that he is disabled is what there is to tell of him."""
    if principal.kind == "service_account" and principal.id not in data.service_accounts:
        raise NotFound(f"Service account '{principal.id}' not found")
    if principal.kind == "user" and principal.id not in data.users:
        raise NotFound(f"User '{principal.id}' not found")
