"""Where each parameter of a decision came from. Asked by explanations only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lorebank.access.policy.context import best_override
from lorebank.access.policy.merge import FIELDS, SINGLE_VALUE, merged
from lorebank.access.policy.values import BankPolicy, Effect, Parameters, StatementRef
from lorebank.access.principal import Circumstances

_EXTREME = ("recall_budget", "recall_max_tokens", "retain_every_n_turns")
"""Fields of which one value is taken over; those who said it are its source."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement that matched the question. `rank` orders it for single-value fields, greatest first."""

    ref: StatementRef
    effect: Effect
    layer: str
    origin: str
    priority: int
    action: str
    bank: str
    rank: tuple[bool, int, int, str, int]
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class Source:
    """A parameter, its value, and the statements that made it so."""

    field: str
    value: Any
    statements: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        return {"field": self.field, "value": self.value, "statements": list(self.statements)}


def traced(parameters: Parameters, layers: Sequence[Sequence[Entry]]) -> tuple[Source, ...]:
    """The source of each parameter that is set. `layers` are the allows that matched, the one that
    narrows most last."""
    found = []
    for field in FIELDS:
        value = getattr(parameters, field)
        if value is not None:
            refs = dict.fromkeys(str(one.ref) for one in _makers(field, value, layers))
            found.append(Source(field, value, tuple(refs)))
    return tuple(found)


def strategy_source(
    parameters: Parameters, policy: BankPolicy | None, circumstances: Circumstances, bank: str
) -> Source | None:
    """The bank policy as the source of the retain strategy; None where the policies name one already."""
    if parameters.retain_strategy is not None or policy is None:
        return None
    found = best_override(policy.strategy_overrides, circumstances)
    name = f"bank-policy:{bank}"
    if found is not None:
        return Source("retain_strategy", found[1].strategy, (f"{name}/strategy_overrides#{found[0]}",))
    if policy.default_strategy is None:
        return None
    return Source("retain_strategy", policy.default_strategy, (f"{name}/default_strategy",))


def _makers(field: str, value: Any, layers: Sequence[Sequence[Entry]]) -> list[Entry]:
    setting = [[one for one in layer if getattr(one.parameters, field) is not None] for layer in layers]
    if field in SINGLE_VALUE:
        last = next(layer for layer in reversed(setting) if layer)
        return [max(last, key=lambda one: one.rank)]
    if field in _EXTREME:
        return [
            one
            for layer in setting
            if _said(field, layer) == value
            for one in layer
            if _is(one, field, value)
        ]
    return [one for layer in setting for one in layer]


def _said(field: str, layer: Sequence[Entry]) -> Any:
    """What the layer alone says."""
    return getattr(merged([one.parameters for one in layer], lambda name: range(len(layer))), field)


def _is(entry: Entry, field: str, value: Any) -> bool:
    return bool(getattr(entry.parameters, field) == value)
