"""Access policies, where they are attached, and the policies of banks."""

from __future__ import annotations

from lorebank.access.actions import ATTACH
from lorebank.access.admin import bank_policies, policies
from lorebank.access.directory import Attachment, Policy
from lorebank.ids import BankId, check_bank_id
from lorebank.service.guard import Call
from lorebank.service.handlers.iam_desk import data_of, desk_of
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

READ, WRITE = "iam:policies:read", "iam:policies:write"
BANK_READ, BANK_WRITE = "iam:banks:read", "iam:banks:write"


def _wire(policy: Policy) -> Wire:
    return {
        "id": policy.id,
        "display_name": policy.display_name,
        "document": policy.document,
        "is_builtin": policy.is_builtin,
    }


def list_policies(call: Call) -> list[Wire]:
    """All policies by id, built-in ones included."""
    return [_wire(policy) for _, policy in sorted(data_of(call).policies.items())]


def create_policy(call: Call) -> Wire:
    """The new policy."""
    asked = call.request
    return _wire(policies.create(desk_of(call), asked.id, asked.display_name, asked.document))


def get_policy(call: Call) -> Wire:
    """One policy."""
    return _wire(policies.policy_of(data_of(call), call.params["policy_id"]))


def update_policy(call: Call) -> Wire:
    """The policy after the change."""
    asked = call.request
    return _wire(policies.update(desk_of(call), call.params["policy_id"], asked.display_name, asked.document))


def delete_policy(call: Call) -> None:
    """The policy is gone; nobody used it."""
    policies.delete(desk_of(call), call.params["policy_id"])


# attachments


def _attachment(one: Attachment) -> Wire:
    return {
        "policy_id": one.policy_id,
        "principal_type": one.principal_type,
        "principal_id": one.principal_id,
        "priority": one.priority,
    }


def list_policy_attachments(call: Call) -> list[Wire]:
    """Where a policy is attached, or what is attached to a principal; nothing for an unknown one."""
    data, asked = data_of(call), call.params
    policy_id, kind, id = asked["policy_id"], asked["principal_type"], asked["principal_id"]
    if id is None:
        found = policies.attachments_of(data, policy_id)
    else:
        found = [one for one in data.attachments.get((kind, id), ()) if policy_id in (None, one.policy_id)]
    return [_attachment(one) for one in found]


def upsert_policy_attachment(call: Call) -> Wire:
    """The attachment, new or with its new priority."""
    asked = call.request
    wanted = Attachment(asked.policy_id, asked.kind, asked.principal, asked.priority)
    return _attachment(policies.attach(desk_of(call), wanted))


def delete_policy_attachment(call: Call) -> None:
    """The policy is detached."""
    params = call.params
    policies.detach(desk_of(call), params["policy_id"], params["principal_type"], params["principal_id"])


# policies of banks


def _bank(call: Call) -> BankId:
    """The bank by its own name: a policy that is put under another name of the bank holds for the bank."""
    return call.context.banks.canonical(check_bank_id(call.params["policy_bank_id"]))


def get_bank_policy(call: Call) -> Wire:
    """The policy of a bank."""
    document = bank_policies.document_of(data_of(call), _bank(call))
    return {"bank_id": call.params["policy_bank_id"], "document": document}


def upsert_bank_policy(call: Call) -> Wire:
    """The policy as it was sent."""
    bank_policies.put(desk_of(call), _bank(call), call.request.document)
    return {"bank_id": call.params["policy_bank_id"], "document": call.request.document}


def delete_bank_policy(call: Call) -> None:
    """The bank has no policy any more."""
    bank_policies.delete(desk_of(call), _bank(call))


OPERATIONS = (
    Operation("list_policies", READ, Scope.SERVER, list_policies),
    Operation("create_policy", WRITE, Scope.SERVER, create_policy),
    Operation("get_policy", READ, Scope.SERVER, get_policy),
    Operation("update_policy", WRITE, Scope.SERVER, update_policy),
    Operation("delete_policy", WRITE, Scope.SERVER, delete_policy),
    Operation("list_policy_attachments", READ, Scope.SERVER, list_policy_attachments),
    Operation("upsert_policy_attachment", ATTACH, Scope.SERVER, upsert_policy_attachment),
    Operation("delete_policy_attachment", ATTACH, Scope.SERVER, delete_policy_attachment),
    Operation("get_bank_policy", BANK_READ, Scope.SERVER, get_bank_policy),
    Operation("upsert_bank_policy", BANK_WRITE, Scope.SERVER, upsert_bank_policy),
    Operation("delete_bank_policy", BANK_WRITE, Scope.SERVER, delete_bank_policy),
)
