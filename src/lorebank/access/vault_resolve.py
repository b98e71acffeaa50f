"""The only maker of vault grants: who may reach which partition of which store (seed 000, Caller authority).

For an agent its verified audience decides, with the owner's grants to conversations; for an operator the
policies, with `operatorRead`. Nothing else does: no session row, no chat metadata, no lineage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lorebank import clock
from lorebank.access.actions import (
    AUDIENCE_ONLY,
    KNOWLEDGE_ADMIN,
    KNOWLEDGE_SAVE,
    OWN_RIGHTS,
    writes,
)
from lorebank.access.audience import PRIVATE, Audience, Partition, run_of_host
from lorebank.access.audit import AuditEvent, Outcome, event_of
from lorebank.access.grant import Ticket
from lorebank.access.knowledge import KnowledgeData, KnowledgeFacts, Membership
from lorebank.access.principal import Principal
from lorebank.access.reasons import DUPLICATE_MEMBERSHIP
from lorebank.access.resolve import Resolver, origin_now, refusal
from lorebank.access.vault_grant import _SEAL, VaultGrant, Via
from lorebank.clock import Clock
from lorebank.errors import (
    Forbidden,
    LorebankError,
    StoreUnavailable,
    Unauthenticated,
    Unavailable,
    WritesDisabled,
)
from lorebank.ids import BankId, check_agent_id

EVERY_AGENT = "*"
"""The agent of a listing grant: each agent of the list is decided by itself."""
UNTOLD = "no knowledge store can be used now; an operator is told why by `lorebank vault stores`"
"""What agents hear instead of what is wrong with settings or registry."""
CHANGED = "the authority for this changed while it ran; ask again"
_WRITING_TICKETS = frozenset({Ticket.RELINK, Ticket.MEND, Ticket.IMPORT})


@dataclass(frozen=True, slots=True)
class VaultResolver:
    """Turns principals into vault grants, and has each decision recorded. Safe from any thread."""

    facts: KnowledgeFacts
    resolver: Resolver
    now: Clock = clock.now

    # agents

    def ask(
        self, principal: Principal, action: str, *, operation: str = "", target: str | None = None
    ) -> tuple[VaultGrant, AuditEvent]:
        """The grant of an agent for `knowledge:recall` or `knowledge:save`, and the row that its caller must
        record before anything is answered. Refusals are recorded here.

        `Forbidden` and `Unauthenticated` say nothing of the store; `WritesDisabled`; `StoreUnavailable`
        when the store map cannot be read or has the agent twice.
        """
        try:
            grant = self._of_agent(principal, action, record=True)
        except LorebankError as exc:
            self._refused(principal, action, _bank_of(principal), exc, operation, target)
            raise
        bank, via = _target(grant.agent), {"via": grant.via}
        return grant, self._event(principal, action, "allow", bank, operation, target, extra=via)

    def resolve(self, principal: Principal, action: str, *, operation: str = "") -> VaultGrant:
        """`ask`, recorded."""
        grant, event = self.ask(principal, action, operation=operation)
        self.resolver.audit.record(event, durable=writes(action))
        return grant

    def _of_agent(self, principal: Principal, action: str, *, record: bool) -> VaultGrant:
        data, epoch = self.facts.data, self.resolver.epoch.value
        audience = self._audience_of(principal, action)
        agent = audience.agent
        if agent in data.removed:
            raise Forbidden(f"{action} denied", why="the host has removed this agent")
        private, may_save, via = _reach(data, audience)
        saving = action == KNOWLEDGE_SAVE
        if saving and not may_save:
            raise Forbidden(
                "this conversation may read its agent's private knowledge and not change it; "
                "an owner can let it save"
            )
        if data.problem is not None:  # which names other agents and their stores
            raise StoreUnavailable(data.reason, UNTOLD)
        membership = _usable(data, agent)
        writable = data.settings.writes_enabled
        if saving and not writable:
            raise WritesDisabled("knowledge is read-only here: `writesEnabled` is false")
        partition = PRIVATE if private else self._conversation(audience, record=record and writable)
        return VaultGrant(
            principal=principal,
            action=action,
            agent=agent,
            binding=membership.binding,
            vault=membership.vault,
            partition=partition,
            may_save=may_save and writable,
            may_create=writable,
            via=via,
            epoch=epoch,
            basis=data,
            seal=_SEAL,
        )

    def _audience_of(self, principal: Principal, action: str) -> Audience:
        """The audience, when it is one that opens anything now."""
        audience = principal.audience
        if principal.kind != "agent" or audience is None or principal.id != audience.agent:
            raise Forbidden(f"{action} denied: it needs the audience token of an agent's host")
        if audience.sandboxed:
            raise Forbidden(f"{action} denied", why="the agent is sandboxed")
        if action not in AUDIENCE_ONLY:
            raise Forbidden(f"{action} denied")
        self._check_current(audience)
        return audience

    def _check_current(self, audience: Audience) -> None:
        if self.now() >= audience.expires_at:
            raise Unauthenticated("the audience has expired; the host must make a new token")
        run, host = audience.invocation, audience.host
        names = [run] if host is None else [run, run_of_host(host, run)]
        if any(self.facts.invocation_ended(name) for name in names):
            raise Forbidden("the invocation that this was asked for has ended")

    def _conversation(self, audience: Audience, *, record: bool) -> Partition:
        if not audience.session_id:
            raise Forbidden("missing audience: a conversation needs its session id")
        return Partition(self.facts.session_uuid(audience.session_id, record=record))

    # operators

    def ask_operator(
        self,
        principal: Principal,
        action: str,
        agent: str | None = None,
        *,
        operation: str = "",
        target: str | None = None,
    ) -> tuple[VaultGrant, AuditEvent]:
        """The grant of an operator on one agent (None: the default one), and its row, as in `ask`.

        Reading needs `knowledge:read` on `agent:<id>`, `operatorRead`, and on a shared gateway
        `knowledge:admin` besides. `knowledge:admin`, which assigns stores and opens none, needs only
        itself, and works where the store map is broken. Neither ever saves or creates.
        """
        data, epoch = self.facts.data, self.resolver.epoch.value
        asked = data.settings.default_agent if agent is None else check_agent_id(agent, "agent_id")
        bank = _target(asked)
        _, event = self.resolver.decided(principal, action, bank, operation=operation, target=target)
        try:
            grant = self._of_operator(principal, action, asked, data, epoch)
        except LorebankError as exc:
            self._refused(principal, action, bank, exc, operation, target)
            raise
        return grant, event

    def resolve_operator(
        self, principal: Principal, action: str, agent: str | None = None, *, operation: str = ""
    ) -> VaultGrant:
        """`ask_operator`, recorded: for operations that concern further agents."""
        grant, event = self.ask_operator(principal, action, agent, operation=operation)
        self.resolver.audit.record(event, durable=writes(action))
        return grant

    def ask_listing(
        self, principal: Principal, action: str, *, operation: str = ""
    ) -> tuple[VaultGrant, AuditEvent]:
        """The grant for a list of agents, open to every caller but agents; `may` decides on each of them."""
        data, epoch = self.facts.data, self.resolver.epoch.value
        own = self.resolver.rules.decide(principal, OWN_RIGHTS, None)
        if not own.allowed:
            why = refusal(action, own)
            self._refused(principal, action, None, why, operation, None)
            raise why
        event = self._event(principal, action, "allow", None, operation, None)
        return _operators(principal, action, EVERY_AGENT, Membership(EVERY_AGENT, "own"), epoch, data), event

    def may(self, principal: Principal, action: str, agent: str) -> bool:
        """Whether an operator would get it, be the store usable or not. A question: nothing is recorded."""
        if action in AUDIENCE_ONLY:
            return False
        allowed = self._by_policies(principal, action, agent)
        return allowed and self._browsing_problem(principal, action, agent, self.facts.data) is None

    def _of_operator(
        self, principal: Principal, action: str, agent: str, data: KnowledgeData, epoch: int
    ) -> VaultGrant:
        if action == KNOWLEDGE_ADMIN:
            return _operators(principal, action, agent, data.membership(agent), epoch, data)
        if data.problem is None and (why := self._browsing_problem(principal, action, agent, data)):
            raise Forbidden(why)
        return _operators(principal, action, agent, _usable(data, agent), epoch, data)

    def _browsing_problem(
        self, principal: Principal, action: str, agent: str, data: KnowledgeData
    ) -> str | None:
        """What keeps an operator whom the policies let in from reading; None when nothing does.

        `operatorRead` is not asked of the owner who works without a server: the files are his.
        """
        if action == KNOWLEDGE_ADMIN or (principal.kind == "local" and not principal.keyless):
            return None
        if not data.settings.operator_read:
            return f"{action} denied: `operatorRead` is false"
        owners = not data.settings.shared_gateway or self._by_policies(principal, KNOWLEDGE_ADMIN, agent)
        return None if owners else f"{action} denied: a shared gateway needs knowledge:admin besides"

    def _by_policies(self, principal: Principal, action: str, agent: str) -> bool:
        return self.resolver.rules.decide(principal, action, _target(agent)).allowed

    # later

    def current(self, grant: VaultGrant, *, vault: str | None = None) -> VaultGrant:
        """The grant while everything is as it was when it was decided; otherwise raises.

        `vault` is the store that was opened with it, where the grant had none. `Unauthenticated` for an
        expired audience, `Forbidden` for an ended invocation, a revoked or narrowed grant or another
        store, otherwise what `ask` raises. Costs microseconds while nothing has changed.
        """
        audience = grant.principal.audience
        if audience is not None:
            self._check_current(audience)
        if grant.basis is self.facts.data and (
            audience is not None or grant.epoch == self.resolver.epoch.value
        ):
            return grant
        try:
            return self._again(grant, vault or grant.vault)
        except LorebankError as exc:
            bank = None if grant.agent in ("", EVERY_AGENT) else _target(grant.agent)
            self._refused(grant.principal, grant.action, bank, exc, "", None)
            raise

    def _again(self, grant: VaultGrant, vault: str | None) -> VaultGrant:
        if grant.ticket is not None:
            return self._ticket_again(grant, vault)
        if grant.agent == EVERY_AGENT:
            raise Unavailable("the access rules changed while the request ran; send it again")
        if grant.principal.kind == "agent":
            again = self._of_agent(grant.principal, grant.action, record=False)
        else:
            data, epoch = self.facts.data, self.resolver.epoch.value
            if not self._by_policies(grant.principal, grant.action, grant.agent):
                raise Forbidden(CHANGED)
            again = self._of_operator(grant.principal, grant.action, grant.agent, data, epoch)
        if not _as_it_was(grant, again, vault):
            raise Forbidden(CHANGED)
        return again

    def _ticket_again(self, grant: VaultGrant, vault: str | None) -> VaultGrant:
        """A store that was assigned otherwise ends the pass over it (seed 002, Schedule)."""
        data, before = self.facts.data, grant.basis
        if grant.binding and data.bindings.get(grant.binding) != vault:
            raise Forbidden(CHANGED)
        if grant.ticket is Ticket.RELINK and (
            not isinstance(before, KnowledgeData)
            or data.settings.stores != before.settings.stores
            or not _writable(data)
        ):
            raise Forbidden(CHANGED)
        return grant

    # work without a caller

    def ticket(self, purpose: Ticket, binding: str, vault: str | None, partition: Partition) -> VaultGrant:
        """A narrow grant for work that has no caller; `purpose` names the one thing it is for. `binding` may
        be empty for a store that nothing is bound to. Recorded."""
        data, epoch = self.facts.data, self.resolver.epoch.value
        principal = Principal(kind="local", id=f"ticket:{purpose.value}")
        action = f"ticket:{purpose.value}"
        extra = {"vault": vault, "folder": partition.folder}
        event = self._event(principal, action, "allow", None, "", binding or None, extra=extra)
        self.resolver.audit.record(event, durable=False)
        return VaultGrant(
            principal=principal,
            action=action,
            agent="",
            binding=binding,
            vault=vault,
            partition=partition,
            may_save=purpose in _WRITING_TICKETS and (purpose is not Ticket.RELINK or _writable(data)),
            may_create=False,
            via="ticket",
            epoch=epoch,
            ticket=purpose,
            basis=data,
            seal=_SEAL,
        )

    # rows

    def _event(
        self,
        principal: Principal,
        action: str,
        outcome: Outcome,
        bank: str | None,
        operation: str,
        target: str | None,
        **more: Any,
    ) -> AuditEvent:
        return event_of(
            principal,
            action,
            outcome,
            clock.now(),
            origin=origin_now(),
            operation=operation,
            bank=bank,
            target=target,
            **more,
        )

    def _refused(
        self,
        principal: Principal,
        action: str,
        bank: str | None,
        exc: LorebankError,
        operation: str,
        target: str | None,
    ) -> None:
        outcome: Outcome = "failure" if isinstance(exc, Unavailable) else "deny"
        reason = (isinstance(exc, Forbidden) and exc.why) or exc.message
        event = self._event(principal, action, outcome, bank, operation, target, reason=reason)
        self.resolver.audit.record(event, durable=False)


def _reach(data: KnowledgeData, audience: Audience) -> tuple[bool, bool, Via]:
    """(private partition, may save, row of the authority table) of an audience."""
    if audience.visibility == "owner-private":
        return True, True, "owner"
    if not audience.session_key or not audience.session_id:
        raise Forbidden("missing audience: a conversation needs its session key and session id")
    given = data.grant_for(audience.agent, audience.session_key)
    if given is None:
        return False, True, "conversation"
    return True, given.access == "read-and-save", "granted"


def _usable(data: KnowledgeData, agent: str) -> Membership:
    """The agent's store by the map; `StoreUnavailable` when there is no telling which it is."""
    if data.problem is not None:
        raise StoreUnavailable(data.reason, data.problem)
    membership = data.membership(agent)
    if membership.state == "duplicate":
        raise StoreUnavailable(
            DUPLICATE_MEMBERSHIP,
            "the agent is in two named stores; take it out of one of them in the knowledge configuration",
        )
    if membership.state == "removed":
        raise Forbidden("the host has removed this agent; its store is kept and nobody's")
    return membership


def _operators(
    principal: Principal,
    action: str,
    agent: str,
    membership: Membership,
    epoch: int,
    data: KnowledgeData,
) -> VaultGrant:
    return VaultGrant(
        principal=principal,
        action=action,
        agent=agent,
        binding=membership.binding,
        vault=membership.vault,
        partition=PRIVATE,
        may_save=False,
        may_create=False,
        via="operator",
        epoch=epoch,
        basis=data,
        seal=_SEAL,
    )


def _as_it_was(grant: VaultGrant, again: VaultGrant, vault: str | None) -> bool:
    """Whether the new decision is the old one, or that with the store that this very use has made. Whoever
    assigns stores changes what he was told of them himself."""
    return grant.action == KNOWLEDGE_ADMIN or (
        (again.binding, again.partition, again.via) == (grant.binding, grant.partition, grant.via)
        and again.may_save >= grant.may_save
        and (vault is None or again.vault == vault)
    )


def _writable(data: KnowledgeData) -> bool:
    return data.problem is None and data.settings.writes_enabled


def _target(agent: str) -> BankId:
    """What an agent is called where policies and audit rows name banks."""
    return BankId(f"agent:{agent}")


def _bank_of(principal: Principal) -> str | None:
    return _target(principal.id) if principal.kind == "agent" else None
