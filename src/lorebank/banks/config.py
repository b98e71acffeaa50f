"""A bank's settings: server defaults, then the bank's overrides, then the item's strategy.

Only overrides are stored; a change of a server default reaches every bank that does not
override it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, cast

from lorebank.banks import config_keys
from lorebank.banks.config_keys import KEYS, problem
from lorebank.errors import BadRequest, InvalidInput
from lorebank.limits import Limits

ExtractionMode = Literal["local", "chunks", "verbatim", "concise", "verbose", "custom"]
BudgetLevel = Literal["low", "mid", "high"]
_LABEL_KEYS = "entity_labels"


@dataclass(frozen=True, slots=True)
class BankConfig:
    """The settings in force for one bank, or for one item of it. Names and meanings: `KEYS`.

    The fields are the settings that lorebank acts on; `values` holds every settable one, resolved,
    by its wire name (unset ones are None).
    """

    values: Mapping[str, Any]
    retain_extraction_mode: ExtractionMode
    retain_chunk_size: int
    retain_structured_chunk_size: int
    retain_default_strategy: str | None
    retain_strategies: Mapping[str, Mapping[str, Any]]
    retain_mission: str
    entity_labels: tuple[Mapping[str, Any], ...]
    entities_allow_free_form: bool
    store_document_text: bool
    enable_semantic_retrieval: bool
    enable_text_search: bool
    enable_temporal_retrieval: bool
    enable_graph_retrieval: bool
    enable_reranking: bool | None
    """None: rerank only where the budget is high; True: always; False: never."""
    recall_budget_function: Literal["fixed", "adaptive"]
    recall_budget_fixed_low: int
    recall_budget_fixed_mid: int
    recall_budget_fixed_high: int
    recall_budget_adaptive_low: float
    recall_budget_adaptive_mid: float
    recall_budget_adaptive_high: float
    recall_budget_min: int
    recall_budget_max: int
    recall_include_chunks: bool
    recall_prefer_observations: bool
    recall_max_tokens: int
    recall_chunks_max_tokens: int
    audit_log_enabled: bool
    disposition_skepticism: int
    disposition_literalism: int
    disposition_empathy: int
    reflect_mission: str

    def candidates(self, level: BudgetLevel, max_tokens: int) -> int:
        """How many candidates each arm of a recall may bring (specs: fixed or adaptive budget)."""
        if self.recall_budget_function == "fixed":
            return cast(int, self.values[f"recall_budget_fixed_{level}"])
        wanted: int = round(max_tokens * self.values[f"recall_budget_adaptive_{level}"])
        return max(self.recall_budget_min, min(self.recall_budget_max, wanted))

    @property
    def disposition(self) -> dict[str, int]:
        """The wire's DispositionTraits."""
        return {
            "skepticism": self.disposition_skepticism,
            "literalism": self.disposition_literalism,
            "empathy": self.disposition_empathy,
        }


def resolve(
    server_defaults: Mapping[str, Any], overrides: Mapping[str, Any], strategy: str | None = None
) -> BankConfig:
    """The settings in force; `strategy` None means the bank's default strategy, if it has one.

    `BadRequest` when a strategy that is named here is not defined.
    """
    built_in = {name: key.default for name, key in KEYS.items()}
    values = built_in | _known(server_defaults) | _known(overrides)
    name = values["retain_default_strategy"] if strategy is None else strategy
    if name:
        values |= _known(_strategy(values, name))
    return _build(values)


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in KEYS and value is not None}


def _strategy(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    strategies: Mapping[str, Mapping[str, Any]] = values["retain_strategies"]
    if name not in strategies:
        known = ", ".join(sorted(strategies)) or "none"
        raise BadRequest(f"strategy '{name}' is not defined in retain_strategies (defined: {known})")
    return strategies[name]


def _build(values: dict[str, Any]) -> BankConfig:
    typed = {f.name: values[f.name] for f in fields(BankConfig) if f.name != "values"}
    typed["entity_labels"] = tuple(values[_LABEL_KEYS])
    if typed["retain_structured_chunk_size"] is None:
        typed["retain_structured_chunk_size"] = values["retain_chunk_size"]
    return BankConfig(values=MappingProxyType(values), **typed)


def as_dict(config: BankConfig) -> dict[str, Any]:
    """Every settable key with its value in force, JSON-ready, by name."""
    values = dict(config.values) | {_LABEL_KEYS: list(config.entity_labels)}
    return {name: values[name] for name in sorted(values)}


def validate_updates(updates: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """`updates` as they can be stored; a null stays and means: remove the override.

    `BadRequest` that names the setting: one that a bank cannot set, or a value that does not fit.
    """
    made: dict[str, Any] = {}
    for name, value in updates.items():
        if value is None and name in KEYS:
            made[name] = None
        else:
            made[name] = config_keys.check(name, value, text_chars=limits.mission_chars)
    return made


def merge(
    overrides: Mapping[str, Any],
    updates: Mapping[str, Any],
    server_defaults: Mapping[str, Any],
    limits: Limits,
) -> dict[str, Any]:
    """The bank's overrides after `updates` that `validate_updates` returned.

    `BadRequest` when the result is too large or contradicts itself.
    """
    merged = {k: v for k, v in {**overrides, **updates}.items() if v is not None}
    size = len(json.dumps(merged, ensure_ascii=False).encode())
    if size > limits.config_bytes:
        raise BadRequest(f"updates: the config would be {size} bytes; at most {limits.config_bytes} are kept")
    config = resolve(server_defaults, merged)
    if config.recall_budget_min > config.recall_budget_max:
        raise problem("recall_budget_min", "must not be above recall_budget_max")
    return merged


def check_server_defaults(defaults: Mapping[str, Any], limits: Limits) -> None:
    """`InvalidInput` that names the setting when a default given for all banks cannot be one."""
    try:
        merge({}, validate_updates(defaults, limits), {}, limits)
    except BadRequest as exc:
        raise InvalidInput(f"LOREBANK_BANK_*: {exc.message}", cause=exc) from exc
