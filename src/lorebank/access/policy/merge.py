"""The merge rules: what several statements that allow the same thing say together of how it behaves.

Most permissive for budget, tokens and turns; all together for tags, groups, roles and exclusions;
one winner for strategy, model and provider (seed 001, Behavioral parameters).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from lorebank.access.policy.tag_filter import distinct
from lorebank.access.policy.values import BUDGETS, UNSET, Budget, Parameters, TagGroup

FIELDS = tuple(field.name for field in fields(Parameters))
SINGLE_VALUE = ("retain_strategy", "llm_model", "llm_provider")
"""The fields that one statement decides; all that priority is for."""


Ranks = Callable[[str], Sequence[int]]
"""field -> a different number for each that applies; the greatest that sets the field wins it."""


def merged(said: Sequence[Parameters], ranks: Ranks) -> Parameters:
    """The parameters of all that apply, given in a stable order.

    `ranks` is asked only for single-value fields that are set.
    """
    made: dict[str, Any] = {}
    for name in FIELDS:
        column = list(map(attrgetter(name), said))
        values = [value for value in column if value is not None]
        if values:
            rule = _RULES.get(name)
            made[name] = _winning(column, ranks(name)) if rule is None else rule(values)
    return Parameters(**made) if made else UNSET


def _winning(column: Sequence[str | None], ranks: Sequence[int]) -> str | None:
    best = max([rank for rank, value in zip(ranks, column, strict=True) if value is not None])
    return column[ranks.index(best)]


def highest(budgets: Iterable[Budget]) -> Budget:
    """The widest of some budgets."""
    return max(set(budgets), key=BUDGETS.index)


def lowest(budgets: Iterable[Budget]) -> Budget:
    """The narrowest of some budgets."""
    return min(set(budgets), key=BUDGETS.index)


def union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """All members, sorted."""
    return tuple(sorted(set(chain.from_iterable(lists))))


def _union_or_none(lists: Collection[tuple[str, ...]]) -> tuple[str, ...] | None:
    return union(lists) or None


def _all_groups(lists: Collection[tuple[TagGroup, ...]]) -> tuple[TagGroup, ...] | None:
    return distinct(chain.from_iterable(lists)) or None


_RULES: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "recall_budget": highest,
        "recall_max_tokens": max,
        "recall_tag_groups": _all_groups,
        # An empty list of roles that somebody set means none; other empty unions mean nothing (issue 3).
        "retain_roles": union,
        "retain_tags": _union_or_none,
        "retain_every_n_turns": min,
        "exclude_providers": _union_or_none,
    }
)
"""field -> the rule for the values that are set; the fields that are missing here have one winner."""
