"""The values of the policy engine: statements, documents, parameters and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

VERSION = "2026-03-24"
"""The only document version there is (seed 001, Policy document shape)."""

Effect = Literal["allow", "deny"]
Budget = Literal["low", "mid", "high"]
BUDGETS: tuple[Budget, ...] = ("low", "mid", "high")
"""From the narrowest to the widest."""
Through = Literal["user", "group"]
ContextScope = Literal["provider", "channel", "topic"]
TagGroup = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameters:
    """How an allowed action behaves. None always means: not set by anybody.

    `retain_roles` may be empty: then no role is kept (issue 3). `recall_tag_groups` are the groups
    as written, all of which must match. The other tuples are sorted and without repeats.
    """

    recall_budget: Budget | None = None
    recall_max_tokens: int | None = None
    recall_tag_groups: tuple[TagGroup, ...] | None = None
    retain_roles: tuple[str, ...] | None = None
    retain_tags: tuple[str, ...] | None = None
    retain_every_n_turns: int | None = None
    retain_strategy: str | None = None
    llm_model: str | None = None
    llm_provider: str | None = None
    exclude_providers: tuple[str, ...] | None = None


UNSET = Parameters()


@dataclass(frozen=True, slots=True)
class Statement:
    """One rule of a document. `banks` are patterns: `*`, an exact id, or `x::*`."""

    effect: Effect
    actions: tuple[str, ...]
    banks: tuple[str, ...]
    parameters: Parameters = UNSET


@dataclass(frozen=True, slots=True)
class PolicyDocument:
    """A parsed access policy."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Attached:
    """A document as it reaches a principal: under which id, through whom, with which priority.

    `via` is the id of that user or group where it is known; only explanations ask for it.
    """

    policy_id: str
    through: Through
    priority: int
    document: PolicyDocument
    via: str = ""


@dataclass(frozen=True, slots=True, order=True)
class StatementRef:
    """A statement by the id of its policy and its place in the document, from 0; -1 is the default of a
    bank policy's public access."""

    policy_id: str
    index: int

    def __str__(self) -> str:
        return f"{self.policy_id}#{self.index if self.index >= 0 else 'default'}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a set of policies says of one action on one bank.

    `denied` is True only where a deny statement matched; neither allowed nor denied means that
    nothing speaks of it. `determining` are the statements that decided: all matching denies, or
    all matching allows. `parameters` are merged from the allows; UNSET when not allowed.
    """

    allowed: bool
    denied: bool = False
    determining: tuple[StatementRef, ...] = ()
    parameters: Parameters = UNSET


@dataclass(frozen=True, slots=True)
class StrategyOverride:
    """A bank policy's retain strategy for one provider, channel or topic."""

    scope: ContextScope
    value: str
    strategy: str


@dataclass(frozen=True, slots=True)
class PublicRule:
    """What unmapped senders may do; actions are compared literally."""

    actions: tuple[str, ...]
    recall_budget: Budget | None = None
    recall_max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class PublicOverride:
    """A `PublicRule` for one provider, channel or topic."""

    scope: ContextScope
    value: str
    rule: PublicRule


@dataclass(frozen=True, slots=True)
class BankPolicy:
    """A parsed bank policy. `public_default` None: nothing is public where no override matches."""

    default_strategy: str | None = None
    strategy_overrides: tuple[StrategyOverride, ...] = ()
    public_default: PublicRule | None = None
    public_overrides: tuple[PublicOverride, ...] = ()
