"""The gate that every call passes: principal -> grant -> handle -> handler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from lorebank.access.grant import Grant
from lorebank.access.principal import Principal
from lorebank.access.resolve import Resolver
from lorebank.errors import Bug, NotFound, Unauthenticated
from lorebank.ids import check_bank_id
from lorebank.service.context import Context
from lorebank.service.operations import Operation, Scope
from lorebank.storage.ports import BankHandle

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Call:
    """What a handler gets: the server's parts, its authority, and the validated request.

    `handle` is there for BANK and NEW_BANK operations, `grant` for all but PUBLIC ones.
    `request` is the operation's own request value (None when it has no body); `params` are the
    validated path and query parameters by their wire names.
    """

    context: Context
    request: Any = None
    params: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    handle_or_none: BankHandle | None = None
    grant_or_none: Grant | None = None

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


class Guard:
    """Runs operations for principals. `run` is the only way from a transport to a handler."""

    def __init__(self, context: Context, resolver: Resolver, operations: Mapping[str, Operation]) -> None:
        self._context = context
        self._resolver = resolver
        self.operations = operations

    def run(
        self,
        name: str,
        principal: Principal | None,
        *,
        bank_id: str | None = None,
        request: Any = None,
        params: Mapping[str, Any] = _NOTHING,
    ) -> Any:
        """The answer of operation `name`; raises what access, storage and the handler raise."""
        operation = self.operations.get(name)
        if operation is None:
            raise NotFound(f"there is no operation '{name}'")
        if operation.scope is Scope.PUBLIC:
            return operation.handler(Call(self._context, request, params))
        if principal is None:
            raise Unauthenticated("an API key is required")
        handle, grant = self._authorise(operation, principal, bank_id, Call(self._context, request, params))
        return operation.handler(Call(self._context, request, params, handle, grant))

    def _authorise(
        self, operation: Operation, principal: Principal, bank_id: str | None, asked: Call
    ) -> tuple[BankHandle | None, Grant]:
        if operation.scope is Scope.SERVER:
            return None, self._resolver.resolve(principal, operation.action)
        if bank_id is None:
            raise Bug(f"operation '{operation.name}' needs a bank id")
        max_bytes = self._context.settings.limits.id_bytes
        bank = self._context.banks.canonical(check_bank_id(bank_id, max_bytes=max_bytes))
        grant = self._resolver.resolve(principal, operation.action, bank)
        if operation.scope is Scope.BANK_NAME:
            return None, grant
        if operation.scope is Scope.NEW_BANK:
            return self._opened_or_made(operation, grant, asked), grant
        return self._context.banks.open(grant), grant

    def _opened_or_made(self, operation: Operation, grant: Grant, asked: Call) -> BankHandle:
        try:
            return self._context.banks.open(grant)
        except NotFound:
            if operation.check is not None:
                operation.check(asked)
            return self._context.banks.create(grant, None, self._context.clock())
