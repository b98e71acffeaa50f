"""Where a caller's change of the access directory is made: one transaction, checked at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lorebank.access.admin.escalation import check_no_gain
from lorebank.access.directory import AccessData, AccessStore, AccessWriter, Check, nothing_more
from lorebank.access.grant import Grant
from lorebank.access.principal import Principal
from lorebank.access.resolve import Resolver
from lorebank.access.rules import PolicyRules
from lorebank.clock import Micros
from lorebank.errors import FieldProblem, InvalidInput


@dataclass(frozen=True, slots=True)
class Desk:
    """The directory with the grant of whoever changes it. `root` is the user id of the settings,
    `bank_named` tells which bank a name stands for."""

    store: AccessStore
    rules: PolicyRules
    resolver: Resolver
    grant: Grant
    bank_named: Callable[[str], str]
    root: str
    now: Micros

    @property
    def data(self) -> AccessData:
        """The snapshot in force."""
        return self.store.data

    @property
    def caller(self) -> Principal:
        """Who changes it."""
        return self.grant.principal

    @contextmanager
    def change(self, also: Check = nothing_more) -> Iterator[AccessWriter]:
        """A transaction that commits only while the caller still has the right, and gives nobody more
        than the caller may give (`escalation`). `also` is a further check before the commit."""

        def check(before: AccessData, after: AccessData) -> None:
            self.resolver.current(self.grant)
            check_no_gain(self.rules, self.caller, before, after)
            also(before, after)

        with self.store.change(check) as writer:
            yield writer


def wrong_field(name: str, message: str, kind: str = "value_error") -> InvalidInput:
    """`InvalidInput` about a field of the body."""
    return InvalidInput(f"{name} {message}", fields=[FieldProblem(("body", name), message, kind)])
