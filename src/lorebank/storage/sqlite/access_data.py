"""From the tables of the access directory to its snapshot: only what changed is read again and made anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from lorebank.access.builtins import BUILTINS
from lorebank.access.directory import AccessData, Attachment, Group, Key, Policy, ServiceAccount, User
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.sections import AccessSql

SQL = load(AccessSql, "access")
Part = Literal[
    "users",
    "channels",
    "groups",
    "groups_of",
    "policies",
    "attachments",
    "service_accounts",
    "keys",
    "bank_policies",
]
K = TypeVar("K")
V = TypeVar("V")


def loaded(db: sqlite3.Connection, before: AccessData, parts: Iterable[Part]) -> AccessData:
    """The snapshot of what `db` holds now, where only `parts` may differ from `before`.

    It is `before` itself when they do not; objects that are equal are those of `before`.
    """
    changed = {name: made for part in parts for name, made in _READ[part](db, before).items()}
    if all(made is getattr(before, name) for name, made in changed.items()):
        return before
    return replace(before, epoch=before.epoch + 1, **changed)


def load_all(db: sqlite3.Connection) -> AccessData:
    """The snapshot of everything, at the stored epoch."""
    whole = loaded(db, AccessData(epoch=0), _READ)
    return replace(whole, epoch=db.execute(SQL.epoch).fetchone()[0])


def _kept(old: Mapping[K, V], made: Iterable[tuple[K, V]]) -> Mapping[K, V]:
    """`made` as a mapping with the equal values of `old`; `old` itself when nothing differs."""
    new: dict[K, V] = {}
    same = True
    for key, value in made:
        known = old.get(key)
        if known == value and known is not None:
            value = known
        else:
            same = False
        new[key] = value
    return old if same and len(new) == len(old) else MappingProxyType(new)


def _users(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    rows = db.execute(SQL.users)
    return {
        "users": _kept(before.users, ((row[0], User(row[0], row[1], row[2], bool(row[3]))) for row in rows))
    }


def _channels(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    rows = db.execute(SQL.channels)
    return {"channels": _kept(before.channels, (((row[0], row[1]), row[2]) for row in rows))}


def _groups(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    return {"groups": _kept(before.groups, ((row[0], Group(*row)) for row in db.execute(SQL.groups)))}


def _groups_of(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    by_user = groupby(db.execute(SQL.members), key=lambda row: row[0])
    made = ((user, tuple(group for _, group in rows)) for user, rows in by_user)
    return {"groups_of": _kept(before.groups_of, made)}


def _policies(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    # The built-in ones come last: a stored one of the same id would never be looked at.
    stored = {row[0]: Policy(*row) for row in db.execute(SQL.policies)}
    return {"policies": _kept(before.policies, sorted((stored | dict(BUILTINS)).items()))}


def _attachments(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    rows = (Attachment(*row) for row in db.execute(SQL.attachments))
    by_principal = groupby(rows, key=lambda one: (one.principal_type, one.principal_id))
    made = ((who, tuple(attached)) for who, attached in by_principal)
    return {"attachments": _kept(before.attachments, made)}


def _accounts(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    rows = db.execute(SQL.service_accounts)
    made = ((row[0], ServiceAccount(row[0], row[1], row[2], bool(row[3]), row[4])) for row in rows)
    return {"service_accounts": _kept(before.service_accounts, made)}


def _keys(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    by_id = _kept(before.keys_by_id, ((row[0], Key(*row)) for row in db.execute(SQL.keys)))
    by_digest = _kept(before.keys, ((key.digest, key) for key in by_id.values()))
    return {"keys_by_id": by_id, "keys": by_digest}


def _bank_policies(db: sqlite3.Connection, before: AccessData) -> dict[str, Any]:
    return {"bank_policies": _kept(before.bank_policies, db.execute(SQL.bank_policies))}


_READ: Mapping[Part, Callable[[sqlite3.Connection, AccessData], dict[str, Any]]] = {
    "users": _users,
    "channels": _channels,
    "groups": _groups,
    "groups_of": _groups_of,
    "policies": _policies,
    "attachments": _attachments,
    "service_accounts": _accounts,
    "keys": _keys,
    "bank_policies": _bank_policies,
}
