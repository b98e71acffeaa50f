"""One transaction on the access directory: SQL, and which parts of the snapshot it touches."""

from __future__ import annotations

import sqlite3
from typing import Any

from lorebank.access.builtins import BUILTINS
from lorebank.access.directory import (
    AccessData,
    Attachment,
    Group,
    Key,
    KeyKind,
    Policy,
    PrincipalType,
    ServiceAccount,
    User,
)
from lorebank.clock import Micros
from lorebank.errors import Conflict
from lorebank.storage.sqlite.access_data import SQL, Part, loaded

_NO_OTHER_END = "what this refers to does not exist (any more)"
_BUILT_IN = "the policy '{}' is built in and cannot be changed"


class SqlAccessWriter:
    """An `AccessWriter`; the port's docstrings are the contract."""

    def __init__(self, db: sqlite3.Connection, before: AccessData) -> None:
        self._db = db
        self._before = before
        self._parts: dict[Part, None] = {}
        self._now: AccessData | None = before

    def data(self) -> AccessData:
        if self._now is None:
            self._now = loaded(self._db, self._before, self._parts)
        return self._now

    # users and what maps to them

    def add_user(self, user: User, now: Micros) -> None:
        taken = "the e-mail address is another user's"
        if user.id in self.data().users:
            taken = f"the user id '{user.id}' is taken"
        self._put(SQL.insert_user, ("users",), taken, **_user(user), now=now)

    def put_user(self, user: User, now: Micros) -> None:
        taken = "the e-mail address is another user's"
        self._put(SQL.put_user, ("users",), taken, **_user(user), now=now)

    def delete_user(self, user_id: str) -> bool:
        touched: tuple[Part, ...] = (
            *("users", "channels", "groups_of", "attachments"),
            *("service_accounts", "keys"),
        )
        return self._delete(SQL.delete_user, touched, id=user_id)

    def add_channel(self, user_id: str, provider: str, sender_id: str) -> None:
        taken = f"the sender '{sender_id}' of '{provider}' is mapped to a user already"
        row = {"provider": provider, "sender_id": sender_id, "user_id": user_id}
        self._put(SQL.insert_channel, ("channels",), taken, **row)

    def delete_channel(self, user_id: str, provider: str, sender_id: str) -> bool:
        row = {"provider": provider, "sender_id": sender_id, "user_id": user_id}
        return self._delete(SQL.delete_channel, ("channels",), **row)

    # groups

    def add_group(self, group: Group, now: Micros) -> None:
        taken = f"the group id '{group.id}' is taken"
        row = {"id": group.id, "display_name": group.display_name, "now": now}
        self._put(SQL.insert_group, ("groups",), taken, **row)

    def put_group(self, group: Group, now: Micros) -> None:
        row = {"id": group.id, "display_name": group.display_name, "now": now}
        self._put(SQL.put_group, ("groups",), _NO_OTHER_END, **row)

    def delete_group(self, group_id: str) -> bool:
        return self._delete(SQL.delete_group, ("groups", "groups_of", "attachments"), id=group_id)

    def put_member(self, group_id: str, user_id: str) -> None:
        row = {"group_id": group_id, "user_id": user_id}
        self._put(SQL.put_member, ("groups_of",), _NO_OTHER_END, **row)

    def delete_member(self, group_id: str, user_id: str) -> bool:
        return self._delete(SQL.delete_member, ("groups_of",), group_id=group_id, user_id=user_id)

    # policies and where they are attached

    def add_policy(self, policy: Policy, now: Micros) -> None:
        taken = f"the policy id '{policy.id}' is taken"
        if policy.id in BUILTINS:
            raise Conflict(taken)
        self._put(SQL.insert_policy, ("policies",), taken, **_policy(policy), now=now)

    def put_policy(self, policy: Policy, now: Micros) -> None:
        if policy.id in BUILTINS:
            raise Conflict(_BUILT_IN.format(policy.id))
        self._put(SQL.put_policy, ("policies",), _NO_OTHER_END, **_policy(policy), now=now)

    def delete_policy(self, policy_id: str) -> bool:
        if policy_id in BUILTINS:
            raise Conflict(_BUILT_IN.format(policy_id))
        attached, scoping = self._db.execute(SQL.policy_users, {"id": policy_id}).fetchone()
        if attached or scoping:
            raise Conflict(
                f"the policy '{policy_id}' is in use: attached to {attached} principals and scoping "
                f"{scoping} service accounts; take it from them first"
            )
        return self._delete(SQL.delete_policy, ("policies",), id=policy_id)

    def put_attachment(self, attachment: Attachment) -> None:
        self._need_policy(attachment.policy_id)
        self._need_principal(attachment.principal_type, attachment.principal_id)
        row = {name: getattr(attachment, name) for name in Attachment.__slots__}
        self._put(SQL.put_attachment, ("attachments",), _NO_OTHER_END, **row)

    def delete_attachment(self, policy_id: str, principal_type: PrincipalType, principal_id: str) -> bool:
        row = {"policy_id": policy_id, "principal_type": principal_type, "principal_id": principal_id}
        return self._delete(SQL.delete_attachment, ("attachments",), **row)

    # service accounts and keys

    def add_service_account(self, account: ServiceAccount, now: Micros) -> None:
        self._put_account(SQL.insert_account, account, now)

    def put_service_account(self, account: ServiceAccount, now: Micros) -> None:
        self._put_account(SQL.put_account, account, now)

    def delete_service_account(self, account_id: str) -> bool:
        return self._delete(SQL.delete_account, ("service_accounts", "attachments", "keys"), id=account_id)

    def add_key(self, key: Key) -> None:
        self._need_principal(key.kind, key.owner_id)
        row = {name: getattr(key, name) for name in Key.__slots__}
        self._put(SQL.insert_key, ("keys",), "a key of this id or with this secret is there already", **row)

    def delete_key(self, kind: KeyKind, owner_id: str, key_id: str) -> bool:
        return self._delete(SQL.delete_key, ("keys",), id=key_id, kind=kind, owner_id=owner_id)

    # bank policies

    def put_bank_policy(self, bank_id: str, text: str, now: Micros) -> None:
        row = {"bank_id": bank_id, "text": text, "now": now}
        self._put(SQL.put_bank_policy, ("bank_policies",), _NO_OTHER_END, **row)

    def delete_bank_policy(self, bank_id: str) -> bool:
        return self._delete(SQL.delete_bank_policy, ("bank_policies",), bank_id=bank_id)

    # values that no snapshot holds

    def meta(self, name: str) -> str | None:
        """A small value beside the directory; None when it was never set."""
        row = self._db.execute(SQL.meta, {"name": name}).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, name: str, value: str) -> None:
        """Store one; the snapshot stays the same."""
        self._db.execute(SQL.set_meta, {"name": name, "value": value})

    def _put_account(self, sql: str, account: ServiceAccount, now: Micros) -> None:
        if account.scoping_policy_id is not None:
            self._need_policy(account.scoping_policy_id)
        row = {name: getattr(account, name) for name in ServiceAccount.__slots__}
        taken = f"the service account id '{account.id}' is taken"
        self._put(sql, ("service_accounts",), taken, **row | {"is_active": int(account.is_active)}, now=now)

    def _need_policy(self, policy_id: str) -> None:
        if policy_id in BUILTINS:
            return
        if self._db.execute(SQL.policy_exists, {"id": policy_id}).fetchone() is None:
            raise Conflict(f"there is no policy '{policy_id}'")

    def _need_principal(self, type: PrincipalType, id: str) -> None:
        if self._db.execute(SQL.principal_exists, {"type": type, "id": id}).fetchone() is None:
            raise Conflict(f"there is no {type.replace('_', ' ')} '{id}'")

    def _put(self, sql: str, parts: tuple[Part, ...], taken: str, **row: Any) -> None:
        self._touch(parts)
        try:
            self._db.execute(sql, row)
        except sqlite3.IntegrityError as exc:
            no_other_end = exc.sqlite_errorname == "SQLITE_CONSTRAINT_FOREIGNKEY"
            raise Conflict(_NO_OTHER_END if no_other_end else taken, cause=exc) from exc

    def _delete(self, sql: str, parts: tuple[Part, ...], **row: Any) -> bool:
        there = self._db.execute(sql, row).rowcount > 0
        if there:
            self._touch(parts)
        return there

    def _touch(self, parts: tuple[Part, ...]) -> None:
        self._parts |= dict.fromkeys(parts)
        self._now = None


def _user(user: User) -> dict[str, Any]:
    row = {name: getattr(user, name) for name in User.__slots__}
    return row | {"is_active": int(user.is_active)}


def _policy(policy: Policy) -> dict[str, Any]:
    return {"id": policy.id, "display_name": policy.display_name, "text": policy.text}
