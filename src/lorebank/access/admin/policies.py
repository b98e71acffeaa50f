"""Policies and where they are attached. Documents are kept as sent, so that they are echoed verbatim."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lorebank.access.admin.desk import Desk, wrong_field
from lorebank.access.admin.groups import group_of
from lorebank.access.admin.users import user_of
from lorebank.access.directory import AccessData, Attachment, Policy, ServiceAccount
from lorebank.access.policy.document import parse_policy
from lorebank.access.policy.naming import named_banks
from lorebank.access.policy.values import PolicyDocument
from lorebank.errors import BadRequest, Conflict, FieldProblem, InvalidInput, NotFound

MAX_DOCUMENT_BYTES = 1_048_576
_MAX_NAMED = 10


def document_text(document: Any) -> str:
    """The JSON that is kept of a document; `InvalidInput` when it is larger than 1 MiB."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) > MAX_DOCUMENT_BYTES:
        raise wrong_field("document", f"must be at most {MAX_DOCUMENT_BYTES} bytes as JSON", "too_long")
    return text


def policy_of(data: AccessData, policy_id: str) -> Policy:
    """The policy, built-in ones included; `NotFound` without one."""
    policy = data.policies.get(policy_id)
    if policy is None:
        raise NotFound(f"Policy '{policy_id}' not found")
    return policy


def create(desk: Desk, policy_id: str, display_name: str, document: Any) -> Policy:
    """A new policy. `InvalidInput` for a wrong document, `Conflict` when the id is taken."""
    parsed = parse_policy(document)
    policy = Policy(policy_id, display_name, document_text(document))
    with desk.change() as writer:
        _refuse_other_names(desk, parsed)
        if policy_id in writer.data().policies:
            raise Conflict(f"Policy '{policy_id}' already exists")
        writer.add_policy(policy, desk.now)
    return policy


def update(desk: Desk, policy_id: str, display_name: str | None, document: Any | None) -> Policy:
    """The policy after the change; None leaves a part as it is. `Conflict` for a built-in one."""
    if display_name is None and document is None:
        raise BadRequest("No fields to update: send display_name or document")
    parsed = None if document is None else parse_policy(document)
    text = None if document is None else document_text(document)
    with desk.change() as writer:
        if parsed is not None:
            _refuse_other_names(desk, parsed)
        policy = _own(writer.data(), policy_id)
        policy = replace(
            policy,
            display_name=policy.display_name if display_name is None else display_name,
            text=policy.text if text is None else text,
        )
        writer.put_policy(policy, desk.now)
    return policy


def _refuse_other_names(desk: Desk, document: PolicyDocument) -> None:
    """A deny that names a bank by another name than its id would deny nothing. Asked inside the
    transaction, so that no name changes its bank meanwhile."""
    for index, pattern in named_banks(document):
        bank = desk.bank_named(pattern)
        if bank != pattern:
            loc = ("body", "document", "statements", index, "banks")
            told = f"'{pattern[:200]}' is another name of the bank '{bank[:200]}'; name the bank itself"
            raise InvalidInput(f"document: {told}", fields=[FieldProblem(loc, told)])


def delete(desk: Desk, policy_id: str) -> None:
    """Delete a policy. `Conflict` for a built-in one, and for one in use, naming who uses it."""
    with desk.change() as writer:
        data = writer.data()
        _own(data, policy_id)
        users = list(used_by(data, policy_id))
        if users:
            more = len(users) - _MAX_NAMED
            told = ", ".join(users[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
            raise Conflict(f"Policy '{policy_id}' is in use: {told}; detach it there first")
        writer.delete_policy(policy_id)


def _own(data: AccessData, policy_id: str) -> Policy:
    policy = policy_of(data, policy_id)
    if policy.is_builtin:
        raise Conflict(
            f"Policy '{policy_id}' is built in and cannot be changed or deleted; make a policy of your own"
        )
    return policy


def used_by(data: AccessData, policy_id: str) -> Iterator[str]:
    """Who uses the policy, in words: attachments, then the service accounts that it scopes."""
    for one in attachments_of(data, policy_id):
        yield f"attached to {one.principal_type} '{one.principal_id}'"
    for account in sorted(data.service_accounts.values(), key=lambda account: account.id):
        if account.scoping_policy_id == policy_id:
            yield f"scopes service account '{account.id}'"


# attachments


def attachments_of(data: AccessData, policy_id: str) -> list[Attachment]:
    """Where the policy is attached, by type and id of the principal."""
    found = (one for attached in data.attachments.values() for one in attached if one.policy_id == policy_id)
    return sorted(found, key=lambda one: (one.principal_type, one.principal_id))


def attach(desk: Desk, attachment: Attachment) -> Attachment:
    """Attach, or change the priority; `NotFound` unless both ends exist."""
    with desk.change() as writer:
        data = writer.data()
        policy_of(data, attachment.policy_id)
        _check_principal(data, attachment)
        writer.put_attachment(attachment)
    return attachment


def _check_principal(data: AccessData, attachment: Attachment) -> None:
    match attachment.principal_type:
        case "user":
            user_of(data, attachment.principal_id)
        case "group":
            group_of(data, attachment.principal_id)
        case "service_account":
            account_of(data, attachment.principal_id)


def account_of(data: AccessData, account_id: str) -> ServiceAccount:
    """The service account; `NotFound` without one."""
    account = data.service_accounts.get(account_id)
    if account is None:
        raise NotFound(f"Service account '{account_id}' not found")
    return account


def detach(desk: Desk, policy_id: str, principal_type: str, principal_id: str) -> None:
    """Detach; `NotFound` when it was not attached there."""
    with desk.change() as writer:
        for one in attachments_of(writer.data(), policy_id):
            if (one.principal_type, one.principal_id) == (principal_type, principal_id):
                writer.delete_attachment(policy_id, one.principal_type, principal_id)
                return
        raise NotFound(f"Policy '{policy_id}' is not attached to {principal_type} '{principal_id}'")
