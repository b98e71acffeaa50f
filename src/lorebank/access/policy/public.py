"""Public access: what a sender may do whom no user is mapped to (seed 001, Public access)."""

from __future__ import annotations

from lorebank.access.policy.context import best_override
from lorebank.access.policy.merge import merged
from lorebank.access.policy.narrow import both_refs
from lorebank.access.policy.values import BankPolicy, Parameters, PublicRule, StatementRef, Verdict
from lorebank.access.principal import Circumstances

DEFAULT_PLACE = -1
"""The place that stands for a bank policy's public default; overrides count from 0."""


def unmapped_verdict(
    default_group: Verdict, policy: BankPolicy | None, circumstances: Circumstances, action: str, bank: str
) -> Verdict:
    """What an unmapped sender may: by the policies of the group `_default` beside the bank's public access.

    A deny of either denies. Allowed by both: their parameters are merged as those of two statements,
    single-value fields being the group's alone. Statements of the bank policy appear as
    `bank-policy:<bank>` with the override's place, or `DEFAULT_PLACE`.
    """
    public = public_verdict(policy, circumstances, action, bank)
    sides = (default_group, public)
    if any(side.denied for side in sides):
        denies = [side.determining if side.denied else () for side in sides]
        return Verdict(False, denied=True, determining=both_refs(*denies))
    if not public.allowed:
        return default_group
    if not default_group.allowed:
        return public
    return Verdict(
        True,
        determining=both_refs(default_group.determining, public.determining),
        parameters=merged((default_group.parameters, public.parameters), lambda name: (1, 0)),
    )


def public_verdict(
    policy: BankPolicy | None, circumstances: Circumstances, action: str, bank: str
) -> Verdict:
    """What the bank policy says alone. The override that fits best decides, and denies what it does
    not list; without one the public default allows what it lists. Actions are compared literally."""
    rule, place = governing_rule(policy, circumstances)
    ref = StatementRef(f"bank-policy:{bank}", place)
    if rule is not None and action in rule.actions:
        parameters = Parameters(recall_budget=rule.recall_budget, recall_max_tokens=rule.recall_max_tokens)
        return Verdict(True, determining=(ref,), parameters=parameters)
    if rule is not None and place != DEFAULT_PLACE:
        return Verdict(False, denied=True, determining=(ref,))
    return Verdict(False)


def governing_rule(policy: BankPolicy | None, circumstances: Circumstances) -> tuple[PublicRule | None, int]:
    """The public rule for this conversation and its place; None when the bank has none."""
    if policy is None:
        return None, DEFAULT_PLACE
    found = best_override(policy.public_overrides, circumstances)
    return (policy.public_default, DEFAULT_PLACE) if found is None else (found[1].rule, found[0])
