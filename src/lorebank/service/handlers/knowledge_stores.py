"""Who has which store, and which conversations reach it: the lists and changes of operators (seed 000)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lorebank.access.actions import KNOWLEDGE_ADMIN, KNOWLEDGE_READ
from lorebank.access.knowledge import ConversationGrant, Membership
from lorebank.access.vault_resolve import EVERY_AGENT
from lorebank.clock import to_iso
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.vaults.assignments.operator import Operator

if TYPE_CHECKING:
    from lorebank.vaults.assignments.inventory import AgentLine, StoreLine


def operator_of(call: Call) -> Operator:
    """The caller as who changes or looks at assignments, with the agents of his role. Whoever may assign a
    store sees it in lists, also while `operatorRead` is false."""
    grant, resolver = call.vault_grant, call.context.knowledge.resolver
    actions = {grant.action, KNOWLEDGE_ADMIN}

    def may(agent: str) -> bool:
        return any(resolver.may(grant.principal, action, agent) for action in actions)

    everything = may(EVERY_AGENT) and call.context.resolver.allowed(grant.principal, grant.action, None)
    return Operator(grant.principal.name, may, everything)


def list_knowledge_stores(call: Call) -> Wire:
    """Every agent with its store, and every store, as far as the caller's role reaches. Makes nothing."""
    from lorebank.vaults.assignments.inventory import inventory

    knowledge = call.context.knowledge
    found = inventory(knowledge.assigned, knowledge.registry, operator_of(call), knowledge.probe)
    return {
        "agents": [_agent(line) for line in found.agents],
        "stores": [_store(line) for line in found.stores],
        "problem": found.problem,
        "reason": found.reason,
        "semantic": _semantic(call),
    }


def share_knowledge_store(call: Call) -> Wire:
    """The agent's own store becomes a named one, for further agents too."""
    asked, operator = call.request, operator_of(call)
    sharing, agent = call.context.knowledge.sharing, call.vault_grant.agent
    return _membership(sharing.share(operator, agent, asked.name, asked.label, asked.agents))


def use_shared_knowledge_store(call: Call) -> Wire:
    """The agent joins a named store."""
    asked, sharing = call.request, call.context.knowledge.sharing
    return _membership(sharing.use_shared(operator_of(call), call.vault_grant.agent, asked.name, asked.label))


def use_own_knowledge_store(call: Call) -> Wire:
    """The agent leaves the named stores."""
    return _membership(call.context.knowledge.sharing.use_own(operator_of(call), call.vault_grant.agent))


def list_knowledge_conversations(call: Call) -> Wire:
    """The group and channel conversations that the host has reported, with the grant that covers each."""
    lines = call.context.knowledge.grants.conversations(operator_of(call), call.vault_grant.agent)
    return _reported(call) | {
        "conversations": [
            {
                "sessionKey": line.conversation.session_key,
                "kind": line.conversation.kind,
                "label": line.conversation.label,
                "reportedAt": to_iso(line.conversation.reported_at),
                "grant": None if line.grant is None else _grant(line.grant),
            }
            for line in lines
        ],
    }


def list_knowledge_grants(call: Call) -> Wire:
    """The agent's grants; `mark` says where no known conversation is covered."""
    lines = call.context.knowledge.grants.granted(operator_of(call), call.vault_grant.agent)
    return _reported(call) | {"grants": [_grant(line.grant) | {"mark": line.mark} for line in lines]}


def grant_knowledge_access(call: Call) -> Wire:
    """In force when it is answered."""
    asked, agent = call.request, call.vault_grant.agent
    made = call.context.knowledge.grants.set(operator_of(call), agent, asked.session_key, asked.access)
    return {"agent": agent} | _grant(made)


def revoke_knowledge_access(call: Call) -> Wire:
    """Gone when it is answered; what was read stays read, and the answer says so."""
    from lorebank.vaults.assignments.grants import REVOKED_NOTE

    agent, key = call.vault_grant.agent, call.request.session_key
    revoked = call.context.knowledge.grants.drop(operator_of(call), agent, key)
    return {"agent": agent, "sessionKey": key, "revoked": revoked, "note": REVOKED_NOTE}


def _semantic(call: Call) -> Wire:
    """Whether records are found by meaning too; why not, where the setting asks for it."""
    wanted = call.context.knowledge.facts.data.settings.semantic
    model = call.context.embedders.target
    problem = None
    if wanted and model.dimension == 0:
        problem = "`semantic` is set and there is no embedder, so words alone are searched"
    elif wanted and model.status.state == "failed":
        problem = f"words alone are searched: {model.status.reason}"
    return {"enabled": wanted, "model": model.model_id if model.dimension else None, "problem": problem}


def _reported(call: Call) -> Wire:
    """The agent, and whether the host has it now; None before the first report."""
    agent, known = call.vault_grant.agent, call.context.knowledge.facts.data.known
    return {"agent": agent, "reported": None if known is None else agent in known}


def _membership(found: Membership) -> Wire:
    return {
        "agent": found.agent,
        "state": found.state,
        "binding": found.binding,
        "vaultId": found.vault,
    }


def _grant(grant: ConversationGrant) -> Wire:
    return {
        "sessionKey": grant.session_key,
        "access": grant.access,
        "grantedBy": grant.granted_by,
        "grantedAt": to_iso(grant.granted_at),
    }


def _agent(line: AgentLine) -> Wire:
    return {
        "agent": line.agent,
        "binding": line.binding,
        "vaultId": line.vault,
        "status": line.status,
        "reason": line.reason,
        "reported": line.reported,
    }


def _store(line: StoreLine) -> Wire:
    return {
        "binding": line.binding,
        "name": line.name,
        "label": line.label,
        "vaultId": line.vault,
        "use": line.use,
        "status": line.status,
        "reason": line.reason,
        "agents": list(line.agents),
    }


OPERATIONS = (
    Operation("list_knowledge_stores", KNOWLEDGE_READ, Scope.AGENTS, list_knowledge_stores),
    Operation("share_knowledge_store", KNOWLEDGE_ADMIN, Scope.AGENT, share_knowledge_store),
    Operation("use_shared_knowledge_store", KNOWLEDGE_ADMIN, Scope.AGENT, use_shared_knowledge_store),
    Operation("use_own_knowledge_store", KNOWLEDGE_ADMIN, Scope.AGENT, use_own_knowledge_store),
    Operation(
        "list_knowledge_conversations",
        KNOWLEDGE_ADMIN,
        Scope.AGENT,
        list_knowledge_conversations,
        reads=True,
    ),
    Operation("list_knowledge_grants", KNOWLEDGE_ADMIN, Scope.AGENT, list_knowledge_grants, reads=True),
    Operation("grant_knowledge_access", KNOWLEDGE_ADMIN, Scope.AGENT, grant_knowledge_access),
    Operation("revoke_knowledge_access", KNOWLEDGE_ADMIN, Scope.AGENT, revoke_knowledge_access),
)
