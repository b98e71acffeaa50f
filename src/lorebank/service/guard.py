"""The gate that every call passes: principal -> grant -> handle -> handler, written down as it happens."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lorebank.access.actions import CREATE_BANK, LIST_BANKS
from lorebank.access.audit import AuditEvent, Origin, Outcome
from lorebank.access.grant import Grant
from lorebank.access.principal import Principal
from lorebank.access.resolve import Resolver, coming_from
from lorebank.access.vault_grant import VaultGrant
from lorebank.access.vault_resolve import VaultResolver
from lorebank.clock import now
from lorebank.errors import Bug, Forbidden, LorebankError, NotFound, Unauthenticated, Unavailable
from lorebank.ids import check_bank_id
from lorebank.service.context import Context
from lorebank.service.operations import ON_VAULTS, Operation, Scope
from lorebank.storage.ports import BankHandle

if TYPE_CHECKING:
    from lorebank.vaults.store.values import VaultHandle

log = logging.getLogger(__name__)
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NOWHERE = Origin()
_MAX_TARGET_CHARS = 256
_ID_FIELDS = frozenset({"id", "alias", "principal_type"})


@dataclass(frozen=True, slots=True)
class Call:
    """What a handler gets: the server's parts, its authority, and the validated request.

    `handle` is there for BANK and NEW_BANK operations, `grant` for all but PUBLIC ones and those on
    knowledge stores. These have a `vault_grant` instead, and AUDIENCE ones an opened `vault`.
    `request` is the operation's own request value (None when it has no body); `params` are the
    validated path and query parameters by their wire names. `bank_name` is the bank as the caller
    called it, which may be an alias; it is no authority.
    """

    context: Context
    request: Any = None
    params: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    handle_or_none: BankHandle | None = None
    grant_or_none: Grant | None = None
    bank_name: str | None = None
    vault_grant_or_none: VaultGrant | None = None
    opened: list[VaultHandle] = field(default_factory=list)

    @property
    def handle(self) -> BankHandle:
        """The opened bank."""
        if self.handle_or_none is None:
            raise Bug("this operation has no bank")
        return self.handle_or_none

    @property
    def grant(self) -> Grant:
        """The caller's grant for this operation."""
        if self.grant_or_none is None:
            raise Bug("this operation has no grant")
        return self.grant_or_none

    @property
    def vault_grant(self) -> VaultGrant:
        """The caller's grant on an agent's knowledge."""
        if self.vault_grant_or_none is None:
            raise Bug("this operation is not about knowledge")
        return self.vault_grant_or_none

    @property
    def vault(self) -> VaultHandle:
        """The partition that the agent's audience reaches."""
        if not self.opened:
            raise Bug("this operation has no partition")
        return self.opened[0]

    def open_vault(self) -> VaultHandle:
        """The partition of the grant, opened once. What was read from it is sent only while its authority,
        store and partition are as they were. Raises what `Vaults.open` raises."""
        if not self.opened:
            self.opened.append(self.context.knowledge.vaults.open(self.vault_grant))
        return self.opened[0]


@dataclass(frozen=True, slots=True)
class Answered:
    """A handler's answer. Whoever sends it calls `confirm` right before: it raises when the caller has
    lost the right, or sees less, since the answer was made."""

    result: Any
    confirm: Callable[[], None]


def _confirmed() -> None:
    """Nothing to confirm: the operation is public."""


class _Confirmation:
    """Raises when the holder of `grant` may not have, or would not get, what was made for him with it.

    It is called more than once while an answer is sent; each change of the rules is looked at once.
    """

    def __init__(self, resolver: Resolver, grant: Grant, origin: Origin) -> None:
        self._resolver, self._grant, self._origin = resolver, grant, origin
        self._newest = grant

    def __call__(self) -> None:
        with coming_from(self._origin):
            again = self._resolver.current(self._newest)
        if again is self._newest:
            return
        # Each bank of a list was decided by itself, at the old epoch.
        listed = self._grant.action == LIST_BANKS and self._grant.bank is None
        if listed or not again.shows_the_same(self._grant):
            raise Unavailable("the access rules changed while the request ran; send it again")
        self._newest = again


class _VaultConfirmation:
    """The same for a grant on knowledge, and for the partitions that were opened with it."""

    def __init__(
        self, resolver: VaultResolver, grant: VaultGrant, opened: list[VaultHandle], origin: Origin
    ) -> None:
        self._resolver, self._grant, self._opened, self._origin = resolver, grant, opened, origin

    def __call__(self) -> None:
        with coming_from(self._origin):
            self._resolver.current(self._grant)
            for handle in self._opened:
                handle.check()


class Guard:
    """Runs operations for principals. `answer` is the only way from a transport to a handler."""

    def __init__(self, context: Context, resolver: Resolver, operations: Mapping[str, Operation]) -> None:
        self._context = context
        self._resolver = resolver
        self.operations = operations

    def run(self, name: str, principal: Principal | None, **asked: Any) -> Any:
        """`answer`, confirmed on the spot."""
        answered = self.answer(name, principal, **asked)
        answered.confirm()
        return answered.result

    def answer(
        self,
        name: str,
        principal: Principal | None,
        *,
        bank_id: str | None = None,
        request: Any = None,
        read: Callable[[], Any] | None = None,
        params: Mapping[str, Any] = _NOTHING,
        origin: Origin = _NOWHERE,
    ) -> Answered:
        """The answer of operation `name`; raises what access, storage and the handler raise.

        `read` makes the request from what was sent. It is called when the caller has the right: who
        may not do a thing is not told how to ask for it.
        """
        operation = self.operations.get(name)
        if operation is None:
            raise NotFound(f"there is no operation '{name}'")
        asked = Call(self._context, request, params, bank_name=bank_id)
        if operation.scope is Scope.PUBLIC:
            return Answered(operation.handler(asked), _confirmed)
        if principal is None:
            raise Unauthenticated("an API key is required")
        with coming_from(origin):
            grant, event = self._authorise(operation, principal, bank_id, asked)
            if isinstance(grant, VaultGrant):
                asked = replace(asked, vault_grant_or_none=grant)
            else:
                asked = replace(asked, grant_or_none=grant)
            asked = self._read(asked, read, event)
            event = replace(event, target=_target(asked))
            return self._recorded(operation, asked, grant, event, origin)

    def refused(self, reason: str, operation: str, origin: Origin, who: str = "") -> None:
        """Note that somebody came without a valid credential; `who` where it was valid once."""
        self._resolver.audit.record(
            AuditEvent(
                at=now(),
                principal=who,
                action=self.operations[operation].action,
                outcome="unauthenticated",
                operation=operation,
                reason=reason,
                request_id=origin.request_id,
                transport=origin.transport,
            ),
            durable=False,
        )

    def _read(self, asked: Call, read: Callable[[], Any] | None, event: AuditEvent) -> Call:
        if read is None:
            return asked
        try:
            return replace(asked, request=read())
        except LorebankError as exc:
            self._resolver.audit.record(replace(event, status=exc.status), durable=False)
            raise

    def _recorded(
        self, operation: Operation, asked: Call, grant: Grant | VaultGrant, event: AuditEvent, origin: Origin
    ) -> Answered:
        """Run it and have it in the audit log: a write before it begins and when it ends, a read once,
        before its answer leaves."""
        began = time.perf_counter_ns()
        writing = operation.writing
        if writing:
            self._resolver.audit.record(event, durable=True)
        outcome: Outcome = "error"
        status: int | None = 500
        try:
            result = operation.handler(self._opened(operation, grant, asked))
            outcome, status = "done", None
        except LorebankError as exc:
            status = exc.status
            exc.confirm = self._still_told(exc, grant, origin)
            raise
        finally:
            took = (time.perf_counter_ns() - began) // 1000
            if writing:
                self._note_end(replace(event, at=now(), outcome=outcome, status=status, duration_us=took))
            else:
                self._resolver.audit.record(replace(event, status=status, duration_us=took), durable=False)
        if result is None or (writing and operation.scope is Scope.SERVER):
            # It shows what the caller sent. Whoever takes his own right away is told that it is done.
            return Answered(result, _confirmed)
        return Answered(result, self._confirmation(grant, asked, origin))

    def _still_told(
        self, error: LorebankError, grant: Grant | VaultGrant, origin: Origin
    ) -> Callable[[], None] | None:
        """An error of a knowledge store may show what is in it: both sides of a conflict, that there is a
        record. It is sent only to who has the right then. Refusals show nothing."""
        if not isinstance(grant, VaultGrant) or isinstance(error, Forbidden | Unauthenticated):
            return None
        resolver = self._context.knowledge.resolver

        def confirm() -> None:
            with coming_from(origin):
                resolver.current(grant)

        return confirm

    def _confirmation(self, grant: Grant | VaultGrant, asked: Call, origin: Origin) -> Callable[[], None]:
        if isinstance(grant, VaultGrant):
            return _VaultConfirmation(self._context.knowledge.resolver, grant, asked.opened, origin)
        return _Confirmation(self._resolver, grant, origin)

    def _note_end(self, event: AuditEvent) -> None:
        """A write that has happened is not called failed because its end could not be noted."""
        try:
            self._resolver.audit.record(event, durable=False)
        except Unavailable as exc:
            log.error("the end of %s could not be written to the audit log: %s", event.operation, exc.message)

    def _authorise(
        self, operation: Operation, principal: Principal, bank_id: str | None, asked: Call
    ) -> tuple[Grant | VaultGrant, AuditEvent]:
        target = _target(asked)
        if operation.scope in ON_VAULTS:
            return self._authorise_vault(operation, principal, asked, target)
        if operation.scope is Scope.SERVER:
            return self._resolver.ask(principal, operation.action, operation=operation.name, target=target)
        if operation.scope is Scope.LISTING:
            return self._resolver.ask_listing(principal, operation=operation.name)
        if bank_id is None:
            raise Bug(f"operation '{operation.name}' needs a bank id")
        max_bytes = self._context.settings.limits.id_bytes
        bank = self._context.banks.canonical(check_bank_id(bank_id, max_bytes=max_bytes))
        return self._resolver.ask(principal, operation.action, bank, operation=operation.name, target=target)

    def _authorise_vault(
        self, operation: Operation, principal: Principal, asked: Call, target: str | None
    ) -> tuple[VaultGrant, AuditEvent]:
        resolver, action, name = self._context.knowledge.resolver, operation.action, operation.name
        if operation.scope is Scope.AUDIENCE:
            return resolver.ask(principal, action, operation=name, target=target)
        if operation.scope is Scope.AGENTS:
            return resolver.ask_listing(principal, action, operation=name)
        agent = asked.params.get("agent_id")
        return resolver.ask_operator(principal, action, agent, operation=name, target=target)

    def _opened(self, operation: Operation, grant: Grant | VaultGrant, asked: Call) -> Call:
        if isinstance(grant, VaultGrant):
            if operation.scope is Scope.AUDIENCE:
                asked.open_vault()
            return asked
        if operation.scope is Scope.NEW_BANK:
            return replace(asked, handle_or_none=self._opened_or_made(operation, grant, asked))
        if operation.scope is Scope.BANK:
            return replace(asked, handle_or_none=self._context.banks.open(grant))
        return asked

    def _opened_or_made(self, operation: Operation, grant: Grant, asked: Call) -> BankHandle:
        try:
            return self._context.banks.open(grant)
        except NotFound:
            if grant.bank is not None:
                self._resolver.refuse_denied(grant.principal, CREATE_BANK, grant.bank)
            if operation.check is not None:
                operation.check(asked)
            return self._context.banks.create(grant, None, self._context.clock())


def _target(asked: Call) -> str | None:
    """The ids of what is asked for inside the bank or the directory; never a text or a question."""
    fields = getattr(type(asked.request), "model_fields", ())
    sent = ((name, getattr(asked.request, name)) for name in fields)
    named = [
        value
        for name, value in (*asked.params.items(), *sent)
        if isinstance(value, str) and value and (name in _ID_FIELDS or name.endswith("_id"))
    ]
    return "/".join(named)[:_MAX_TARGET_CHARS] or None
