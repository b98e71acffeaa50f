"""The access directory: users, groups, policies, service accounts, keys. One immutable snapshot at a time.

The ports here are implemented by storage. A snapshot is replaced, never changed; every change
raises the access epoch after the new snapshot is in place (DESIGN, Access).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol

from lorebank.clock import Micros
from lorebank.errors import Corrupt, Forbidden, printable

PrincipalType = Literal["user", "group", "service_account"]
KeyKind = Literal["user", "service_account"]
DEFAULT_GROUP = "_default"
"""The group whose policies apply to unmapped senders (issue 3)."""
_EMPTY: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class User:
    """A person. A user who is not active has no valid credential, and nor have his service accounts."""

    id: str
    display_name: str
    email: str | None = None
    is_active: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """A set of users that policies are attached to; it has no rights of its own."""

    id: str
    display_name: str


def stored_document(text: str, what: str) -> Any:
    """The JSON that is stored of a document; `Corrupt` that names `what` it is when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise Corrupt(f"{what} cannot be read; put its document anew, or delete it", cause=exc) from exc


@dataclass(frozen=True, slots=True)
class Policy:
    """An access policy. `text` is the JSON of what was sent, so that it is echoed verbatim."""

    id: str
    display_name: str
    text: str
    is_builtin: bool = False

    @property
    def document(self) -> Any:
        """What was sent. `Corrupt` when what is stored is no JSON."""
        return stored_document(self.text, f"the policy '{printable(self.id)}'")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A policy at a principal; `priority` decides between single-value parameters only."""

    policy_id: str
    principal_type: PrincipalType
    principal_id: str
    priority: int = 0


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A machine identity of one user."""

    id: str
    owner_user_id: str
    display_name: str
    is_active: bool = True
    scoping_policy_id: str | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """An API key as it is stored: the SHA-256 of the secret, never the secret.

    `shown` is the part that listings show. `expires_at` None: never.
    """

    id: str
    kind: KeyKind
    owner_id: str
    digest: str
    shown: str
    description: str | None
    created_at: Micros
    expires_at: Micros | None = None


@dataclass(frozen=True, slots=True)
class AccessData:
    """Everything that decides, at one epoch. Mappings are by id unless the name says otherwise.

    `policies` holds the built-in ones too. `groups_of` maps a user to his groups, sorted;
    `attachments` maps (principal type, principal id) to what is attached there, by policy id;
    `bank_policies` maps a bank id to the JSON text of its document; `channels` maps (provider, sender
    id) to a user id; `keys` maps a digest to its key, `keys_by_id` the key's id.
    """

    epoch: int
    users: Mapping[str, User] = field(default_factory=lambda: _EMPTY)
    channels: Mapping[tuple[str, str], str] = field(default_factory=lambda: _EMPTY)
    groups: Mapping[str, Group] = field(default_factory=lambda: _EMPTY)
    groups_of: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _EMPTY)
    policies: Mapping[str, Policy] = field(default_factory=lambda: _EMPTY)
    attachments: Mapping[tuple[PrincipalType, str], tuple[Attachment, ...]] = field(
        default_factory=lambda: _EMPTY
    )
    service_accounts: Mapping[str, ServiceAccount] = field(default_factory=lambda: _EMPTY)
    keys: Mapping[str, Key] = field(default_factory=lambda: _EMPTY)
    keys_by_id: Mapping[str, Key] = field(default_factory=lambda: _EMPTY)
    bank_policies: Mapping[str, str] = field(default_factory=lambda: _EMPTY)


class AccessWriter(Protocol):
    """One transaction on the access directory. All or nothing; durable at its end.

    `put_…` inserts or replaces; `add_…` raises `Conflict` where the thing exists; `delete_…`
    returns whether it was there. Whether the other ends exist is checked by `access.admin`, which
    calls these; storage refuses with `Conflict` what would break a reference all the same.
    """

    def data(self) -> AccessData:
        """What this transaction would leave behind if it ended now."""

    def add_user(self, user: User, now: Micros) -> None:
        """A new user; `Conflict` when the id or the e-mail address is taken."""

    def put_user(self, user: User, now: Micros) -> None:
        """Replace a user's fields; `Conflict` when the e-mail address is another user's."""

    def delete_user(self, user_id: str) -> bool:
        """Delete a user with his channels, keys, memberships, attachments and service accounts (and
        their keys and attachments): nothing is left that a new user of that id would inherit."""

    def add_channel(self, user_id: str, provider: str, sender_id: str) -> None:
        """Map a sender to a user; `Conflict` when it is mapped, to whomever."""

    def delete_channel(self, user_id: str, provider: str, sender_id: str) -> bool:
        """Remove a mapping of that user."""

    def add_group(self, group: Group, now: Micros) -> None:
        """A new group; `Conflict` when the id is taken."""

    def put_group(self, group: Group, now: Micros) -> None:
        """Replace a group's fields."""

    def delete_group(self, group_id: str) -> bool:
        """Delete a group with its memberships and attachments."""

    def put_member(self, group_id: str, user_id: str) -> None:
        """Make a user a member; nothing happens when he is one."""

    def delete_member(self, group_id: str, user_id: str) -> bool:
        """Remove a membership."""

    def add_policy(self, policy: Policy, now: Micros) -> None:
        """A new policy; `Conflict` when the id is taken."""

    def put_policy(self, policy: Policy, now: Micros) -> None:
        """Replace a policy."""

    def delete_policy(self, policy_id: str) -> bool:
        """Delete a policy; `Conflict` while it is attached or scopes an account."""

    def put_attachment(self, attachment: Attachment) -> None:
        """Attach, or change the priority."""

    def delete_attachment(self, policy_id: str, principal_type: PrincipalType, principal_id: str) -> bool:
        """Detach."""

    def add_service_account(self, account: ServiceAccount, now: Micros) -> None:
        """A new account; `Conflict` when the id is taken."""

    def put_service_account(self, account: ServiceAccount, now: Micros) -> None:
        """Replace an account's fields (never its owner)."""

    def delete_service_account(self, account_id: str) -> bool:
        """Delete an account with its keys and attachments."""

    def add_key(self, key: Key) -> None:
        """Store a key."""

    def delete_key(self, kind: KeyKind, owner_id: str, key_id: str) -> bool:
        """Revoke a key of that owner."""

    def put_bank_policy(self, bank_id: str, text: str, now: Micros) -> None:
        """Insert or replace a bank's policy; the bank need not exist."""

    def delete_bank_policy(self, bank_id: str) -> bool:
        """Remove a bank's policy."""


Check = Callable[[AccessData, AccessData], None]


class AccessStore(Protocol):
    """The stored access directory."""

    @property
    def data(self) -> AccessData:
        """The snapshot in force; a new one is in place before the epoch is raised and `change` returns."""

    def change(self, check: Check) -> AbstractContextManager[AccessWriter]:
        """One change at a time. `check(before, after)` runs inside the transaction, before the commit:
        what it raises undoes the change. `Unavailable` when the disk refuses."""

    def note_use(self, key_id: str, now: Micros) -> None:
        """Remember when a key was last used; kept in memory and written from time to time, without
        raising the epoch."""

    def last_uses(self) -> Mapping[str, Micros]:
        """key id -> last use, as far as known."""

    def claim_token(self, token_id: str, body_digest: str, expires_at: Micros, now: Micros) -> bool:
        """Note that a token id was used with that request. True for its first use and for a repeat
        with the same digest; False for a repeat with another. Survives a restart; forgotten after
        `expires_at` (DESIGN section 4)."""


def nothing_more(before: AccessData, after: AccessData) -> None:
    """The check of changes that need none."""


def owner_of(data: AccessData, kind: str, id: str) -> str:
    """The user that a caller's rights come from: himself, or an account's owner; `Forbidden` without one."""
    if kind == "user" and id in data.users:
        return id
    account = data.service_accounts.get(id) if kind == "service_account" else None
    if account is None:
        raise Forbidden("only users and service accounts may do this")
    return account.owner_user_id
