"""Users and the senders that are mapped to them."""

from __future__ import annotations

from dataclasses import replace

from lorebank.access.admin.desk import Desk, wrong_field
from lorebank.access.directory import AccessData, User
from lorebank.errors import BadRequest, Conflict, NotFound
from lorebank.ids import names_another


def user_of(data: AccessData, user_id: str) -> User:
    """The user; `NotFound` without one."""
    user = data.users.get(user_id)
    if user is None:
        raise NotFound(f"User '{user_id}' not found")
    return user


def create(desk: Desk, user: User) -> User:
    """A new user. `InvalidInput` for an id that would be taken for another principal's, `Conflict` when
    the id or the e-mail address is taken."""
    if (wrong := names_another(user.id)) is not None:
        raise wrong_field("id", wrong)
    with desk.change() as writer:
        if user.id in writer.data().users:
            raise Conflict(f"User '{user.id}' already exists")
        writer.add_user(user, desk.now)
    return user


def update(
    desk: Desk,
    user_id: str,
    *,
    display_name: str | None = None,
    email: str | None = None,
    is_active: bool | None = None,
) -> User:
    """The user after the change; None leaves a field as it is (specs, Admin API)."""
    if display_name is None and email is None and is_active is None:
        raise BadRequest("No fields to update: send display_name, email or is_active")
    with desk.change() as writer:
        user = user_of(writer.data(), user_id)
        user = replace(
            user,
            display_name=user.display_name if display_name is None else display_name,
            email=user.email if email is None else email,
            is_active=user.is_active if is_active is None else is_active,
        )
        writer.put_user(user, desk.now)
    return user


def delete(desk: Desk, user_id: str) -> None:
    """Delete a user with everything that is his; `Conflict` for the root user."""
    with desk.change() as writer:
        user_of(writer.data(), user_id)
        if user_id == desk.root:
            raise Conflict(
                f"User '{user_id}' is the root user and cannot be deleted; name another one with the setting "
                "LOREBANK_ROOT_USER, start the server again, then delete this one"
            )
        writer.delete_user(user_id)


def channels_of(data: AccessData, user_id: str) -> list[tuple[str, str]]:
    """(provider, sender id) of all senders that are mapped to the user, in order."""
    return sorted(sender for sender, owner in data.channels.items() if owner == user_id)


def add_channel(desk: Desk, user_id: str, provider: str, sender_id: str) -> None:
    """Map a sender to a user; `Conflict` when it is mapped already, to whomever."""
    if ":" in provider:
        raise wrong_field("provider", "must not contain ':': it ends the provider in a sender's name")
    with desk.change() as writer:
        data = writer.data()
        user_of(data, user_id)
        owner = data.channels.get((provider, sender_id))
        if owner is not None:
            raise Conflict(f"Channel '{provider}:{sender_id}' is already mapped to user '{owner}'")
        writer.add_channel(user_id, provider, sender_id)


def remove_channel(desk: Desk, user_id: str, provider: str, sender_id: str) -> None:
    """Remove a mapping of the user; nothing happens when there is none."""
    with desk.change() as writer:
        writer.delete_channel(user_id, provider, sender_id)
