"""The intersection rules: what is left of an owner's rights inside a scope (seed 001, Intersection rules)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from operator import attrgetter
from typing import TypeVar

from lorebank.access.policy.merge import lowest, union
from lorebank.access.policy.tag_filter import distinct
from lorebank.access.policy.values import Parameters, StatementRef, TagGroup, Verdict

_Value = TypeVar("_Value")
_BY_PLACE = attrgetter("policy_id", "index")


def narrow(owner: Verdict, scope: Verdict) -> Verdict:
    """Allowed only where both allow, with the stricter of each parameter; denied where either denies.

    The determining statements are those of both sides that decided: their allows, or the denies of
    the sides that deny; none where an allow is merely missing.
    """
    if owner.allowed and scope.allowed:
        determining = both_refs(owner.determining, scope.determining)
        return Verdict(
            True, determining=determining, parameters=_stricter(owner.parameters, scope.parameters)
        )
    if not (owner.denied or scope.denied):
        return Verdict(False)
    denies = [side.determining if side.denied else () for side in (owner, scope)]
    return Verdict(False, denied=True, determining=both_refs(*denies))


def both_refs(first: tuple[StatementRef, ...], second: tuple[StatementRef, ...]) -> tuple[StatementRef, ...]:
    """The statements of both, sorted, each once."""
    if not first or not second:
        return first or second
    found = sorted(first + second, key=_BY_PLACE)
    return (found[0], *[ref for before, ref in pairwise(found) if ref != before])


def _stricter(owner: Parameters, scope: Parameters) -> Parameters:
    return Parameters(
        recall_budget=_of(owner.recall_budget, scope.recall_budget, lambda a, b: lowest((a, b))),
        recall_max_tokens=_of(owner.recall_max_tokens, scope.recall_max_tokens, min),
        recall_tag_groups=_of(owner.recall_tag_groups, scope.recall_tag_groups, _all_groups),
        retain_roles=_of(owner.retain_roles, scope.retain_roles, _common),
        retain_tags=_of(owner.retain_tags, scope.retain_tags, _united),
        retain_every_n_turns=_of(owner.retain_every_n_turns, scope.retain_every_n_turns, max),
        retain_strategy=_of(owner.retain_strategy, scope.retain_strategy, _scopes),
        llm_model=_of(owner.llm_model, scope.llm_model, _scopes),
        llm_provider=_of(owner.llm_provider, scope.llm_provider, _scopes),
        exclude_providers=_of(owner.exclude_providers, scope.exclude_providers, _united),
    )


def _of(
    owner: _Value | None, scope: _Value | None, rule: Callable[[_Value, _Value], _Value]
) -> _Value | None:
    """The rule where both sides set the field; a value of one side alone passes through."""
    if owner is None or scope is None:
        return scope if owner is None else owner
    return rule(owner, scope)


def _all_groups(owner: tuple[TagGroup, ...], scope: tuple[TagGroup, ...]) -> tuple[TagGroup, ...]:
    return distinct(owner + scope)


def _common(owner: tuple[str, ...], scope: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(owner) & set(scope)))


def _united(owner: tuple[str, ...], scope: tuple[str, ...]) -> tuple[str, ...]:
    return union((owner, scope))


def _scopes(owner: str, scope: str) -> str:
    return scope
