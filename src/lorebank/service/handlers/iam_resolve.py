"""What a principal may do on a bank, worked out without doing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorebank.access.admin import bank_policies
from lorebank.access.directory import AccessData
from lorebank.access.principal import Circumstances, Principal
from lorebank.access.resolve import Decision
from lorebank.access.subject import subject
from lorebank.ids import check_bank_id
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

_FIELDS = (
    "recall_budget",
    "recall_max_tokens",
    "recall_tag_groups",
    "retain_roles",
    "retain_tags",
    "retain_every_n_turns",
    "retain_strategy",
    "llm_model",
    "llm_provider",
    "exclude_providers",
)


def debug_resolve(call: Call) -> Wire:
    """The decision, its parameters, and the bank's policy as it was sent (specs, debug/resolve)."""
    access = call.context.access
    data = access.store.data
    bank = call.context.banks.canonical(check_bank_id(call.params["bank"]))
    principal = _principal(call.params, data)
    decision = access.rules.decide(principal, call.params["action"], bank)
    return {
        "tenant_id": _tenant(principal),
        "principal_type": principal.kind,
        "access": _access(decision, _resolved(data, principal)),
        "bank_policy": bank_policies.document_of(data, bank) if bank in data.bank_policies else None,
    }


def _principal(params: Mapping[str, Any], data: AccessData) -> Principal:
    where = Circumstances(params["provider"], params["channel"], params["topic"], params["agent"])
    named = {name: params[name] for name in ("sa_id", "user_id", "sender")}
    return subject(data, where, **named)


def _tenant(principal: Principal) -> str:
    return f"sa:{principal.id}" if principal.kind == "service_account" else principal.id


def _resolved(data: AccessData, principal: Principal) -> str | None:
    """The user behind the principal, allowed or not; None when there is none."""
    if principal.kind == "service_account":
        account = data.service_accounts.get(principal.id)
        return None if account is None else account.owner_user_id
    return principal.id if principal.id in data.users else None


def _access(decision: Decision, user: str | None) -> Wire:
    made: Wire = {"allowed": decision.allowed, "resolved_user_id": user}
    for name in _FIELDS:
        value = getattr(decision.parameters, name) if decision.allowed else None
        made[name] = list(value) if isinstance(value, tuple) else value
    return made


OPERATIONS = (Operation("debug_resolve", "iam:users:read", Scope.SERVER, debug_resolve),)
