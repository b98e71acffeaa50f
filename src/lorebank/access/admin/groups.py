"""Groups and their members."""

from __future__ import annotations

from dataclasses import replace

from lorebank.access.admin.desk import Desk
from lorebank.access.admin.users import user_of
from lorebank.access.directory import AccessData, Group
from lorebank.errors import BadRequest, Conflict, NotFound


def group_of(data: AccessData, group_id: str) -> Group:
    """The group; `NotFound` without one."""
    group = data.groups.get(group_id)
    if group is None:
        raise NotFound(f"Group '{group_id}' not found")
    return group


def create(desk: Desk, group: Group) -> Group:
    """A new group; `Conflict` when the id is taken."""
    with desk.change() as writer:
        if group.id in writer.data().groups:
            raise Conflict(f"Group '{group.id}' already exists")
        writer.add_group(group, desk.now)
    return group


def update(desk: Desk, group_id: str, display_name: str | None) -> Group:
    """The group after the change."""
    if display_name is None:
        raise BadRequest("No fields to update: send display_name")
    with desk.change() as writer:
        group = replace(group_of(writer.data(), group_id), display_name=display_name)
        writer.put_group(group, desk.now)
    return group


def delete(desk: Desk, group_id: str) -> None:
    """Delete a group with its memberships and attachments."""
    with desk.change() as writer:
        group_of(writer.data(), group_id)
        writer.delete_group(group_id)


def members_of(data: AccessData, group_id: str) -> list[str]:
    """The ids of the members, in order."""
    return sorted(user for user, groups in data.groups_of.items() if group_id in groups)


def add_member(desk: Desk, group_id: str, user_id: str) -> None:
    """Make a user a member; nothing happens when he is one."""
    with desk.change() as writer:
        data = writer.data()
        group_of(data, group_id)
        user_of(data, user_id)
        writer.put_member(group_id, user_id)


def remove_member(desk: Desk, group_id: str, user_id: str) -> None:
    """Remove a membership; nothing happens when there is none."""
    with desk.change() as writer:
        writer.delete_member(group_id, user_id)
