"""Service accounts, for administrators and for the users who own them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lorebank.access.admin.desk import Desk
from lorebank.access.admin.escalation import check_not_wider
from lorebank.access.admin.policies import account_of, policy_of
from lorebank.access.admin.users import user_of
from lorebank.access.directory import AccessData, Check, ServiceAccount
from lorebank.access.principal import Principal
from lorebank.errors import BadRequest, Conflict, NotFound


@dataclass(frozen=True, slots=True)
class Keep:
    """Stands for: leave the field as it is, where None means to clear it."""


KEEP = Keep()


def owned_by(data: AccessData, user_id: str) -> list[ServiceAccount]:
    """The accounts of a user, by id."""
    found = (account for account in data.service_accounts.values() if account.owner_user_id == user_id)
    return sorted(found, key=lambda account: account.id)


def own(data: AccessData, user_id: str, account_id: str) -> ServiceAccount:
    """An account of that user; `NotFound` for a missing one and for another user's alike."""
    account = data.service_accounts.get(account_id)
    if account is None or account.owner_user_id != user_id:
        raise NotFound(f"Service account '{account_id}' not found")
    return account


def reach(desk: Desk, account_id: str) -> Check:
    """Before the commit: neither the account as it was nor as it becomes is wider than the caller."""

    def check(before: AccessData, after: AccessData) -> None:
        for data in (before, after):
            if account_id in data.service_accounts:
                check_not_wider(
                    desk.rules, desk.caller, before, data, Principal("service_account", account_id)
                )

    return check


def create(desk: Desk, account: ServiceAccount) -> ServiceAccount:
    """A new account; owner and scoping policy must exist. `Forbidden` when the owner may more than the
    caller, unless the caller manages all accounts."""

    def check(before: AccessData, after: AccessData) -> None:
        check_not_wider(desk.rules, desk.caller, before, after, Principal("user", account.owner_user_id))

    with desk.change(check) as writer:
        _add(desk, writer.data(), account)
        writer.add_service_account(account, desk.now)
    return account


def create_own(desk: Desk, account: ServiceAccount) -> ServiceAccount:
    """A new account of the caller's own user."""
    with desk.change(reach(desk, account.id)) as writer:
        _add(desk, writer.data(), account)
        writer.add_service_account(account, desk.now)
    return account


def _add(desk: Desk, data: AccessData, account: ServiceAccount) -> None:
    user_of(data, account.owner_user_id)
    if account.scoping_policy_id is not None:
        policy_of(data, account.scoping_policy_id)
    if account.id in data.service_accounts:
        raise Conflict(f"Service account '{account.id}' already exists")


def update(
    desk: Desk,
    account_id: str,
    *,
    display_name: str | None = None,
    is_active: bool | None = None,
    scoping_policy_id: str | Keep | None = KEEP,
) -> ServiceAccount:
    """The account after the change; the owner never changes."""
    if display_name is None and is_active is None and isinstance(scoping_policy_id, Keep):
        raise BadRequest("No fields to update: send display_name, scoping_policy_id or is_active")
    with desk.change(reach(desk, account_id)) as writer:
        data = writer.data()
        account = account_of(data, account_id)
        if isinstance(scoping_policy_id, str):
            policy_of(data, scoping_policy_id)
        account = replace(
            account,
            display_name=account.display_name if display_name is None else display_name,
            is_active=account.is_active if is_active is None else is_active,
            scoping_policy_id=(
                account.scoping_policy_id if isinstance(scoping_policy_id, Keep) else scoping_policy_id
            ),
        )
        writer.put_service_account(account, desk.now)
    return account


def delete(desk: Desk, account_id: str) -> None:
    """Delete an account with its keys and attachments."""
    with desk.change(reach(desk, account_id)) as writer:
        account_of(writer.data(), account_id)
        writer.delete_service_account(account_id)
