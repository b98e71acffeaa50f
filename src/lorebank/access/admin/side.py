"""A principal with all that decides for it, under one state of the directory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lorebank.access.assembling import Undecidable, View
from lorebank.access.policy.values import BankPolicy, PolicyDocument, Verdict
from lorebank.access.policy.wider import less_restricted
from lorebank.access.principal import Principal
from lorebank.access.rules import PolicyRules
from lorebank.errors import Unavailable

NOTHING = Verdict(allowed=False)


@dataclass(frozen=True, slots=True)
class Side:
    """A principal in a view. `nobody` stands for one that is not there yet: it has no rights. All
    methods raise `Unavailable` when a policy that takes part cannot be read."""

    rules: PolicyRules
    view: View
    principal: Principal
    nobody: bool = False

    def may(self, action: str, bank: str) -> Verdict:
        """What the policies say of it, active or not: what is off today is on tomorrow."""
        if self.nobody:
            return NOTHING
        with _readable():
            return self.rules.verdict(self.view, self.principal, action, bank)

    def documents(self) -> Iterator[PolicyDocument]:
        """All policies that take part in its rights."""
        if self.nobody:
            return
        with _readable():
            layers = self.view.layers(self.principal)
        for layer in layers:
            yield from (one.document for one in layer.attached)

    def sources(self) -> tuple[object, ...]:
        """The attachments that its rights are made from, layer by layer."""
        with _readable():
            return tuple(layer.source[0] for layer in self.view.layers(self.principal))


def gives_more(later: Verdict, earlier: Verdict) -> bool:
    """Whether a verdict allows what the other does not, or under looser parameters."""
    if not later.allowed:
        return False
    return not earlier.allowed or less_restricted(later.parameters, earlier.parameters) is not None


def bank_policy_in(view: View, bank: str) -> BankPolicy | None:
    """A bank's policy; `Unavailable` when it cannot be read."""
    with _readable():
        return view.bank_policy(bank)


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except Undecidable as exc:
        raise Unavailable(f"it cannot be told what this change gives, so it is refused: {exc}") from exc
