"""The root user and its key: made at the first start, kept in step with the settings at every other."""

from __future__ import annotations

from pathlib import Path

from lorebank.access.builtins import IAM_ADMIN, KNOWLEDGE_ADMIN, ROOT_POLICIES
from lorebank.access.directory import AccessData, Attachment, Key, User, nothing_more
from lorebank.access.keys import digest, new_secret, stored_key
from lorebank.clock import Micros
from lorebank.storage.sqlite.access_store import RegistryAccess
from lorebank.storage.sqlite.access_writer import SqlAccessWriter
from lorebank.storage.sqlite.files import plain_text, remove_file, write_private

ROOT_KEY_FILE = "root.key"
_ROOT_USER = "root_user"
_GIVEN = "root_policies:"
_GIVEN_KNOWLEDGE = "root_knowledge:"
"""Noted when the root user got the policy that came with knowledge stores."""


def root_key_id(user_id: str) -> str:
    """The id of the root user's key (specs, Data model)."""
    return f"{user_id}-root-key"


def ensure_root(
    access: RegistryAccess, folder: Path, user_id: str, key: str | None, now: Micros
) -> tuple[str | None, bool]:
    """See to it that there is a root user with a key; the secret when one was made now, and whether
    anything was changed.

    A given `key` replaces the stored one. Without one the first start makes a key and puts it into
    `root.key`; later starts keep what there is. The user gets its policies once in its life: what an
    admin takes from it stays taken. One of an earlier version gets the one on knowledge when it still
    rules the control plane: nobody else could give it, because nobody would have it. A `root.key` that no
    longer opens anything is removed. Raises `Conflict` when the given key is somebody else's.
    """
    data = access.data
    old = data.keys_by_id.get(root_key_id(access.meta(_ROOT_USER) or user_id))
    new, made = _wanted(folder, old, user_id, key, now)
    fresh = user_id not in data.users or access.meta(_GIVEN + user_id) is None
    fresh = fresh or _lacks_knowledge(access, data, user_id)
    changed = fresh or new is not old or access.meta(_ROOT_USER) != user_id
    if changed:
        with access.change(nothing_more) as writer:
            _write(writer, user_id, old, new, now)
    _remove_outdated_file(folder / ROOT_KEY_FILE, access.data)
    return made, changed


def _wanted(
    folder: Path, old: Key | None, user_id: str, key: str | None, now: Micros
) -> tuple[Key, str | None]:
    """The key that shall be stored, and its secret when it is made here."""
    if key is not None and old is not None and (old.digest, old.owner_id) == (digest(key), user_id):
        return old, None
    if key is not None:
        return _key(key, user_id, now), None
    if old is None:
        made = new_secret("user", user_id)
        # The file first: a key that is stored but written nowhere would lock its owner out.
        write_private(folder / ROOT_KEY_FILE, made + "\n")
        return _key(made, user_id, now), made
    if old.owner_id == user_id:
        return old, None
    moved = {name: getattr(old, name) for name in Key.__slots__}
    return Key(**moved | {"id": root_key_id(user_id), "owner_id": user_id}), None


def _key(secret: str, user_id: str, now: Micros) -> Key:
    return stored_key(secret, "user", user_id, now, key_id=root_key_id(user_id), description="root key")


def _write(writer: SqlAccessWriter, user_id: str, old: Key | None, new: Key, now: Micros) -> None:
    if user_id not in writer.data().users:
        writer.add_user(User(user_id, user_id), now)
    if writer.meta(_GIVEN + user_id) is None:
        for policy_id in ROOT_POLICIES:
            writer.put_attachment(Attachment(policy_id, "user", user_id))
        writer.set_meta(_GIVEN + user_id, "given")
        writer.set_meta(_GIVEN_KNOWLEDGE + user_id, "given")
    if _lacks_knowledge(writer, writer.data(), user_id):
        writer.put_attachment(Attachment(KNOWLEDGE_ADMIN, "user", user_id))
        writer.set_meta(_GIVEN_KNOWLEDGE + user_id, "given")
    if new is not old:
        if old is not None:
            writer.delete_key(old.kind, old.owner_id, old.id)
        writer.add_key(new)
    writer.set_meta(_ROOT_USER, user_id)


def _lacks_knowledge(stored: RegistryAccess | SqlAccessWriter, data: AccessData, user_id: str) -> bool:
    """Whether the policy on knowledge has to be given now."""
    held = {one.policy_id for one in data.attachments.get(("user", user_id), ())}
    return IAM_ADMIN in held and stored.meta(_GIVEN_KNOWLEDGE + user_id) is None


def _remove_outdated_file(file: Path, data: AccessData) -> None:
    written = plain_text(file)
    if written is not None and digest(written.strip()) not in data.keys:
        remove_file(file)
