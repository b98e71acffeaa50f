"""Why a decision is as it is: which statements spoke, what came from where, what would have to change.

The verdict is the engine's own; the rest is found by looking at every statement again, one by one,
so an explanation is slow (it is for people) and also a check on the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

from lorebank.access.actions import RETAIN
from lorebank.access.policy.match import action_matches, closest, statement_level, target_level
from lorebank.access.policy.merge import FIELDS
from lorebank.access.policy.narrow import narrow
from lorebank.access.policy.policy_set import PolicySet
from lorebank.access.policy.public import DEFAULT_PLACE, governing_rule, public_verdict, unmapped_verdict
from lorebank.access.policy.sources import Entry, Source, strategy_source, traced
from lorebank.access.policy.values import (
    Attached,
    BankPolicy,
    Effect,
    Parameters,
    PublicRule,
    Statement,
    StatementRef,
    Verdict,
)
from lorebank.access.principal import NOWHERE, Circumstances

MAX_NEAR_MISSES = 50
Lacks = Literal["action", "bank", "context"]


@dataclass(frozen=True, slots=True)
class Layer:
    """Policies that decide together. All layers must allow: an owner's policies, then what narrows
    a service account. `title` names them in a sentence: "the policies of user 'bob'". `narrows` tells
    that it is such a narrowing policy, of which the way it came by is not worth telling."""

    title: str
    attached: tuple[Attached, ...]
    narrows: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A statement that speaks of the question. `decided` tells whether it is one of those that the
    outcome rests on; `action` and `bank` are the words of the statement that matched."""

    ref: StatementRef
    effect: Effect
    layer: str
    origin: str
    priority: int
    action: str
    bank: str
    decided: bool

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "statement": str(self.ref),
            "policy_id": self.ref.policy_id,
            "index": self.ref.index,
            "effect": self.effect,
            "layer": self.layer,
            "origin": self.origin,
            "priority": self.priority,
            "action": self.action,
            "bank": self.bank,
            "decided": self.decided,
        }


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A statement that lacks one thing: it speaks of the bank but not of the `action`, of the action
    but not of the `bank`, or belongs to another conversation (`context`). `has` is what it names there."""

    ref: StatementRef
    effect: Effect
    layer: str
    lacks: Lacks
    has: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "statement": str(self.ref),
            "effect": self.effect,
            "layer": self.layer,
            "lacks": self.lacks,
            "has": list(self.has),
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with its reasons. `excluded` is the caller's provider where the policies allow the
    action but exclude that provider: then it is refused all the same. `layers` are the titles of all
    layers, `silent` of those in which nothing allows it; `near_misses` are the first `MAX_NEAR_MISSES`
    of `near_miss_count`."""

    action: str
    bank: str
    verdict: Verdict
    parameters: Parameters
    statements: tuple[Said, ...]
    sources: tuple[Source, ...]
    layers: tuple[str, ...]
    silent: tuple[str, ...]
    near_misses: tuple[NearMiss, ...]
    near_miss_count: int
    excluded: str | None = None
    unmapped: bool = False

    @property
    def allowed(self) -> bool:
        """The decision."""
        return self.verdict.allowed and self.excluded is None

    def to_json(self) -> dict[str, Any]:
        """The wire form, without the sentences (see `sentences.told`)."""
        return {
            "action": self.action,
            "bank": self.bank,
            "allowed": self.allowed,
            "denied": self.verdict.denied,
            "excluded_provider": self.excluded,
            "determining": [str(ref) for ref in self.verdict.determining],
            "parameters": {field: getattr(self.parameters, field) for field in FIELDS},
            "sources": [source.to_json() for source in self.sources],
            "statements": [said.to_json() for said in self.statements],
            "near_misses": [miss.to_json() for miss in self.near_misses],
            "near_miss_count": self.near_miss_count,
        }


def explain(
    layers: Sequence[Layer],
    action: str,
    bank: str,
    *,
    policy: BankPolicy | None = None,
    circumstances: Circumstances = NOWHERE,
) -> Explanation:
    """The explanation for a user or a service account. `policy` is the bank's, for its strategies."""
    verdicts = [PolicySet(layer.attached).evaluate(action, bank) for layer in layers]
    entries = [list(_entries(layer, action, bank)) for layer in layers]
    verdict = reduce(narrow, verdicts) if verdicts else Verdict(False)
    silent = [layer.title for layer, said in zip(layers, entries, strict=True) if not _allows(said)]
    misses = [miss for layer in layers for miss in _near_misses(layer, action, bank)]
    sources = traced(verdict.parameters, [_effective(said) for said in entries])
    titles = [layer.title for layer in layers]
    made = _made(action, bank, verdict, entries, sources, misses, titles, silent)
    return _completed(made, policy, circumstances)


def explain_unmapped(
    default_group: Layer, policy: BankPolicy | None, action: str, bank: str, circumstances: Circumstances
) -> Explanation:
    """The explanation for a sender whom no user is mapped to."""
    group = PolicySet(default_group.attached).evaluate(action, bank)
    verdict = unmapped_verdict(group, policy, circumstances, action, bank)
    entries = [*_entries(default_group, action, bank), *_public_entries(policy, action, bank, circumstances)]
    misses = [
        *_near_misses(default_group, action, bank),
        *_public_misses(policy, action, bank, circumstances),
    ]
    titles = [default_group.title, public_title(bank)]
    silent = [] if _allows(entries) else titles
    sources = traced(verdict.parameters, [_effective(entries)])
    made = _made(action, bank, verdict, [entries], sources, misses, titles, silent)
    return replace(_completed(made, policy, circumstances), unmapped=True)


def public_title(bank: str) -> str:
    """How the public access of a bank is called in sentences."""
    return f"the public access of bank '{bank}'"


def _made(
    action: str,
    bank: str,
    verdict: Verdict,
    layers: Sequence[Sequence[Entry]],
    sources: tuple[Source, ...],
    misses: list[NearMiss],
    titles: Sequence[str],
    silent: Sequence[str],
) -> Explanation:
    deciding: Effect = "allow" if verdict.allowed else "deny"
    said = [
        Said(
            one.ref,
            one.effect,
            one.layer,
            one.origin,
            one.priority,
            one.action,
            one.bank,
            one.effect == deciding,
        )
        for entries in layers
        for one in entries
    ]
    # Most useful first: the allows that lack one word.
    misses.sort(key=lambda miss: (miss.effect != "allow", miss.lacks, miss.ref))
    return Explanation(
        action=action,
        bank=bank,
        verdict=verdict,
        parameters=verdict.parameters,
        statements=tuple(sorted(said, key=lambda one: not one.decided)),
        sources=sources,
        layers=tuple(titles),
        silent=tuple(silent),
        near_misses=tuple(misses[:MAX_NEAR_MISSES]),
        near_miss_count=len(misses),
    )


def _completed(made: Explanation, policy: BankPolicy | None, circumstances: Circumstances) -> Explanation:
    """With the bank's strategy and the exclusion of the caller's provider."""
    if not made.verdict.allowed:
        return made
    if made.action == RETAIN:
        source = strategy_source(made.parameters, policy, circumstances, made.bank)
        if source is not None:
            parameters = replace(made.parameters, retain_strategy=source.value)
            made = replace(made, parameters=parameters, sources=(*made.sources, source))
    provider = circumstances.provider
    excluded = provider is not None and provider in (made.parameters.exclude_providers or ())
    return replace(made, excluded=provider) if excluded else made


def _allows(entries: Sequence[Entry]) -> bool:
    return any(one.effect == "allow" for one in entries)


def _effective(entries: Sequence[Entry]) -> list[Entry]:
    return [one for one in entries if one.effect == "allow"]


# the statements of a layer


def _entries(layer: Layer, action: str, bank: str) -> Iterator[Entry]:
    for one, ref, statement in _statements(layer):
        level = statement_level(statement, action, bank)
        if level:
            yield Entry(
                ref=ref,
                effect=statement.effect,
                layer=layer.title,
                origin="" if layer.narrows else _origin(one),
                priority=one.priority,
                action=_matching_action(statement, action),
                bank=closest(statement.banks, bank, action) or "",
                rank=(one.through == "user", level, one.priority, one.policy_id, -ref.index),
                parameters=statement.parameters,
            )


def _near_misses(layer: Layer, action: str, bank: str) -> Iterator[NearMiss]:
    seen: set[StatementRef] = set()
    for _, ref, statement in _statements(layer):
        if ref in seen:
            continue
        seen.add(ref)
        speaks = any(action_matches(granted, action) for granted in statement.actions)
        here = any(target_level(pattern, action, bank) for pattern in statement.banks)
        if speaks and not here:
            yield NearMiss(ref, statement.effect, layer.title, "bank", statement.banks)
        elif here and not speaks:
            yield NearMiss(ref, statement.effect, layer.title, "action", statement.actions)


def _statements(layer: Layer) -> Iterator[tuple[Attached, StatementRef, Statement]]:
    for one in sorted(layer.attached, key=lambda one: (one.policy_id, one.through, one.via)):
        for index, statement in enumerate(one.document.statements):
            yield one, StatementRef(one.policy_id, index), statement


def _matching_action(statement: Statement, action: str) -> str:
    """The statement's word for the action: itself before a family, a family before what implies it."""
    words = [granted for granted in statement.actions if action_matches(granted, action)]
    return min(
        words, key=lambda word: (word != action, not action_matches(word, action, implied=False), word)
    )


def _origin(one: Attached) -> str:
    whom = f"{one.through} '{one.via}'" if one.via else f"a {one.through}"
    return f"attached to {whom} with priority {one.priority}"


# the public access of a bank


def _public_entries(
    policy: BankPolicy | None, action: str, bank: str, circumstances: Circumstances
) -> Iterator[Entry]:
    verdict = public_verdict(policy, circumstances, action, bank)
    rule, place = governing_rule(policy, circumstances)
    if policy is None or rule is None or not (verdict.allowed or verdict.denied):
        return
    yield Entry(
        ref=verdict.determining[0],
        effect="allow" if verdict.allowed else "deny",
        layer=public_title(bank),
        origin=_public_origin(policy, place),
        priority=0,
        action=action,
        bank=bank,
        rank=(False, 0, 0, "", 0),
        parameters=verdict.parameters,
    )


def _public_origin(policy: BankPolicy, place: int) -> str:
    if place == DEFAULT_PLACE:
        return "its default"
    override = policy.public_overrides[place]
    return f"its override for {override.scope} '{override.value}'"


def _public_misses(
    policy: BankPolicy | None, action: str, bank: str, circumstances: Circumstances
) -> Iterator[NearMiss]:
    if policy is None:
        return
    _, governing = governing_rule(policy, circumstances)
    for place, override in enumerate(policy.public_overrides):
        if place != governing and action in override.rule.actions:
            context = f"{override.scope} '{override.value}'"
            yield NearMiss(_public_ref(bank, place), "allow", public_title(bank), "context", (context,))
    rule = policy.public_default
    if rule is not None:
        yield from _default_miss(rule, governing == DEFAULT_PLACE, action, bank)


def _default_miss(rule: PublicRule, governs: bool, action: str, bank: str) -> Iterator[NearMiss]:
    listed = action in rule.actions
    if governs and not listed:
        yield NearMiss(_public_ref(bank, DEFAULT_PLACE), "allow", public_title(bank), "action", rule.actions)
    elif listed and not governs:
        has = ("conversations without an override",)
        yield NearMiss(_public_ref(bank, DEFAULT_PLACE), "allow", public_title(bank), "context", has)


def _public_ref(bank: str, place: int) -> StatementRef:
    return StatementRef(f"bank-policy:{bank}", place)
