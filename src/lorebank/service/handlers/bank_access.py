"""What a caller may do with a bank, told to himself. The same for banks that do not exist."""

from __future__ import annotations

from typing import Any

from lorebank.access.actions import (
    ACTIONS,
    KNOWLEDGE_ADMIN,
    KNOWLEDGE_READ,
    KNOWLEDGE_WRITE,
    RECALL,
    REFLECT,
    RETAIN,
)
from lorebank.access.policy.values import UNSET, Parameters
from lorebank.access.resolve import Decision
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

_BANK_ACTIONS = tuple(action for action in ACTIONS if action.startswith("bank:"))
_KNOWLEDGE_ACTIONS = (KNOWLEDGE_READ, KNOWLEDGE_WRITE, KNOWLEDGE_ADMIN)


def get_bank_access(call: Call) -> Wire:
    """Every bank action with yes or no, and how the three main ones behave for this caller.

    Members of an action that is not allowed are null, its lists empty. The name is the one that was
    asked for: whether it stands for another is nobody's business who may do nothing there.
    """
    grant, rules = call.grant, call.context.access.rules
    decided = {action: rules.decide(grant.principal, action, grant.bank) for action in _BANK_ACTIONS}
    recall, reflect, retain = (_parameters(decided[action]) for action in (RECALL, REFLECT, RETAIN))
    return {
        **_knowledge(call),
        "bank_id": call.bank_name,
        "principal": {"kind": grant.principal.kind, "id": grant.principal.id, "user": grant.user},
        "actions": {action: decision.allowed for action, decision in decided.items()},
        "recall": {
            "budget": recall.recall_budget,
            "max_tokens": recall.recall_max_tokens,
            "tag_groups": _list(recall.recall_tag_groups),
        },
        "retain": {
            "roles": _list(retain.retain_roles),
            "tags": _stored_tags(decided[RETAIN]),
            "every_n_turns": retain.retain_every_n_turns,
            "strategy": retain.retain_strategy,
        },
        "reflect": {
            "budget": reflect.recall_budget,
            "llm_model": reflect.llm_model,
            "llm_provider": reflect.llm_provider,
        },
        "exclude_providers": sorted(
            {name for one in (recall, reflect, retain) for name in one.exclude_providers or ()}
        ),
    }


def _knowledge(call: Call) -> Wire:
    """For a name such as `agent:hr-1` also what the caller may do as an operator of that agent, by policies
    and store map. An alias of a bank is no agent, so the name counts as it was sent."""
    kind, colon, agent = (call.bank_name or "").partition(":")
    knowledge = call.context.knowledge_or_none
    if kind != "agent" or not colon or not agent or knowledge is None:
        return {}
    may = knowledge.resolver.may
    return {"knowledge": {action: may(call.grant.principal, action, agent) for action in _KNOWLEDGE_ACTIONS}}


def _parameters(decision: Decision) -> Parameters:
    return decision.parameters if decision.allowed else UNSET


def _stored_tags(decision: Decision) -> list[str]:
    """The tags that whatever the caller stores gets by itself."""
    if not decision.allowed:
        return []
    return sorted({*(decision.parameters.retain_tags or ()), *decision.auto_tags})


def _list(values: tuple[Any, ...] | None) -> list[Any] | None:
    """None says: nothing is restricted, or nothing is allowed; `actions` tells which."""
    return None if values is None else list(values)


OPERATIONS = (Operation("get_bank_access", "bank:access", Scope.BANK_NAME, get_bank_access),)
