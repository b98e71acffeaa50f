"""Users, the senders that are mapped to them, and their API keys."""

from __future__ import annotations

from lorebank.access.admin import keys, users
from lorebank.access.directory import User
from lorebank.service.guard import Call
from lorebank.service.handlers.iam_desk import data_of, desk_of, listed_keys, minted
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

READ, WRITE = "iam:users:read", "iam:users:write"


def user_wire(user: User) -> Wire:
    """UserResponse."""
    return {
        "id": user.id,
        "display_name": user.display_name,
        "email": user.email,
        "is_active": user.is_active,
    }


def list_users(call: Call) -> list[Wire]:
    """All users by id."""
    return [user_wire(user) for _, user in sorted(data_of(call).users.items())]


def create_user(call: Call) -> Wire:
    """The new user."""
    asked = call.request
    user = User(asked.id, asked.display_name, asked.email, asked.is_active)
    return user_wire(users.create(desk_of(call), user))


def get_user(call: Call) -> Wire:
    """One user."""
    return user_wire(users.user_of(data_of(call), call.params["user_id"]))


def update_user(call: Call) -> Wire:
    """The user after the change."""
    asked = call.request
    return user_wire(
        users.update(
            desk_of(call),
            call.params["user_id"],
            display_name=asked.display_name,
            email=asked.email,
            is_active=asked.is_active,
        )
    )


def delete_user(call: Call) -> None:
    """Nothing is left of the user."""
    users.delete(desk_of(call), call.params["user_id"])


def list_user_channels(call: Call) -> list[Wire]:
    """The senders of a user; none for an unknown one."""
    return channels_wire(call, call.params["user_id"])


def channels_wire(call: Call, user_id: str) -> list[Wire]:
    """The senders of a user, in order."""
    return [
        {"provider": provider, "sender_id": sender_id}
        for provider, sender_id in users.channels_of(data_of(call), user_id)
    ]


def add_user_channel(call: Call) -> Wire:
    """The new mapping."""
    asked = call.request
    users.add_channel(desk_of(call), call.params["user_id"], asked.provider, asked.sender_id)
    return {"provider": asked.provider, "sender_id": asked.sender_id}


def remove_user_channel(call: Call) -> None:
    """The mapping is gone, if it was there."""
    params = call.params
    users.remove_channel(desk_of(call), params["user_id"], params["provider"], params["sender_id"])


def list_api_keys(call: Call) -> list[Wire]:
    """The keys of a user; none for an unknown one."""
    return listed_keys(data_of(call), "user", call.params["user_id"])


def create_api_key(call: Call) -> Wire:
    """The new key with its secret."""
    return minted(call, "user", call.params["user_id"])


def delete_api_key(call: Call) -> None:
    """The key is revoked, if it was there."""
    keys.revoke(desk_of(call), "user", call.params["user_id"], call.params["key_id"])


OPERATIONS = (
    Operation("list_users", READ, Scope.SERVER, list_users),
    Operation("create_user", WRITE, Scope.SERVER, create_user),
    Operation("get_user", READ, Scope.SERVER, get_user),
    Operation("update_user", WRITE, Scope.SERVER, update_user),
    Operation("delete_user", WRITE, Scope.SERVER, delete_user),
    Operation("list_user_channels", READ, Scope.SERVER, list_user_channels),
    Operation("add_user_channel", WRITE, Scope.SERVER, add_user_channel),
    Operation("remove_user_channel", WRITE, Scope.SERVER, remove_user_channel),
    Operation("list_api_keys", READ, Scope.SERVER, list_api_keys),
    Operation("create_api_key", WRITE, Scope.SERVER, create_api_key),
    Operation("delete_api_key", WRITE, Scope.SERVER, delete_api_key),
)
