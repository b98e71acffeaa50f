"""Groups and their members."""

from __future__ import annotations

from lorebank.access.admin import groups
from lorebank.access.directory import Group
from lorebank.service.guard import Call
from lorebank.service.handlers.iam_desk import data_of, desk_of
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

READ, WRITE = "iam:groups:read", "iam:groups:write"


def _wire(group: Group) -> Wire:
    return {"id": group.id, "display_name": group.display_name}


def list_groups(call: Call) -> list[Wire]:
    """All groups by id."""
    return [_wire(group) for _, group in sorted(data_of(call).groups.items())]


def create_group(call: Call) -> Wire:
    """The new group."""
    return _wire(groups.create(desk_of(call), Group(call.request.id, call.request.display_name)))


def get_group(call: Call) -> Wire:
    """One group."""
    return _wire(groups.group_of(data_of(call), call.params["group_id"]))


def update_group(call: Call) -> Wire:
    """The group after the change."""
    return _wire(groups.update(desk_of(call), call.params["group_id"], call.request.display_name))


def delete_group(call: Call) -> None:
    """The group is gone with its memberships and attachments."""
    groups.delete(desk_of(call), call.params["group_id"])


def list_group_members(call: Call) -> list[Wire]:
    """The members by id; none for an unknown group."""
    return [{"user_id": user_id} for user_id in groups.members_of(data_of(call), call.params["group_id"])]


def add_group_member(call: Call) -> Wire:
    """The membership, new or not."""
    group_id, user_id = call.params["group_id"], call.request.user_id
    groups.add_member(desk_of(call), group_id, user_id)
    return {"group_id": group_id, "user_id": user_id}


def remove_group_member(call: Call) -> None:
    """The membership is gone, if it was there."""
    groups.remove_member(desk_of(call), call.params["group_id"], call.params["user_id"])


OPERATIONS = (
    Operation("list_groups", READ, Scope.SERVER, list_groups),
    Operation("create_group", WRITE, Scope.SERVER, create_group),
    Operation("get_group", READ, Scope.SERVER, get_group),
    Operation("update_group", WRITE, Scope.SERVER, update_group),
    Operation("delete_group", WRITE, Scope.SERVER, delete_group),
    Operation("list_group_members", READ, Scope.SERVER, list_group_members),
    Operation("add_group_member", WRITE, Scope.SERVER, add_group_member),
    Operation("remove_group_member", WRITE, Scope.SERVER, remove_group_member),
)
