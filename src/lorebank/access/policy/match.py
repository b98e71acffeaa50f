"""Whether a statement speaks of an action on a bank, and how closely."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from lorebank.access.actions import IMPLYING, covers, on_agents
from lorebank.access.policy.values import Statement

EVERY_BANK = "*"
AGENT = "agent:"
"""How a statement names an agent among its banks, for the actions that are decided on agents."""
WILD, PREFIX, EXACT = 1, 2, 3
"""How closely a pattern names a bank; only single-value fields ask (specs, Evaluate)."""


def bank_level(pattern: str, bank: str) -> int:
    """0 when the pattern does not match, otherwise WILD, PREFIX or EXACT.

    `x::*` matches what begins with `x::`, not `x` itself; a star anywhere else is a plain letter.
    The bank called `*`, on which the control plane is decided, is matched only by `*`.
    """
    if pattern == EVERY_BANK:
        return WILD
    if pattern.endswith("::*"):
        return PREFIX if bank.startswith(pattern[:-1]) else 0
    return EXACT if pattern == bank else 0


def agent_level(pattern: str, target: str) -> int:
    """The same for `agent:<id>`, the target of actions on agents: there a star at the end of a pattern that
    begins with `agent:` stands for anything (`agent:*`, `agent:team-*`). No agent has a star in its id."""
    if pattern == EVERY_BANK:
        return WILD
    if is_agents(pattern):
        return PREFIX if target.startswith(pattern[:-1]) else 0
    return EXACT if pattern == target else 0


def is_agents(pattern: str) -> bool:
    """Whether it stands for several agents."""
    return pattern.startswith(AGENT) and pattern.endswith("*")


def target_level(pattern: str, action: str, target: str) -> int:
    """How closely a pattern names what the action is decided on: an agent or a bank."""
    return agent_level(pattern, target) if on_agents(action) else bank_level(pattern, target)


def action_matches(granted: str, asked: str, *, implied: bool = True) -> bool:
    """Whether a statement's action speaks of `asked`; without `implied` only as itself or its family."""
    if implied:
        return covers(granted, asked)
    return granted == asked or (granted.endswith(":*") and asked.startswith(granted[:-1]))


def statement_level(statement: Statement, action: str, bank: str, *, implied: bool = True) -> int:
    """0 when the statement does not speak of this, otherwise the level of its closest pattern."""
    if not any(action_matches(granted, action, implied=implied) for granted in statement.actions):
        return 0
    return max((target_level(pattern, action, bank) for pattern in statement.banks), default=0)


@lru_cache(maxsize=4096)
def granting(action: str, implied: bool = True) -> frozenset[str]:
    """All names that a statement can use to speak of the action: those for which `action_matches` holds."""
    names = {action, *_families(action)}
    if implied:
        for giver in IMPLYING.get(action, ()):
            names |= granting(giver)
    return frozenset(names)


def prefix_sizes(patterns: Iterable[str]) -> tuple[int, ...]:
    """The different lengths of the prefixes among the patterns, without their stars, ascending."""
    return tuple(sorted({len(pattern) - 1 for pattern in patterns if pattern.endswith("::*")}))


def patterns_of(bank: str, sizes: Iterable[int]) -> Iterator[tuple[str, int]]:
    """All patterns that match the bank with their levels, the least close first. Of the prefixes only
    those of the given `sizes`: a bank's name may have thousands."""
    yield EVERY_BANK, WILD
    for size in sizes:
        if bank.startswith("::", size - 2) and size <= len(bank):
            yield f"{bank[:size]}*", PREFIX
    if bank != EVERY_BANK and not bank.endswith("::*"):
        yield bank, EXACT


def agent_patterns_of(target: str) -> Iterator[tuple[str, int]]:
    """All patterns that match an agent (or the server, `*`) with their levels, the least close first."""
    yield EVERY_BANK, WILD
    if target.startswith(AGENT):
        for size in range(len(AGENT), len(target) + 1):
            yield f"{target[:size]}*", PREFIX
    if target != EVERY_BANK:
        yield target, EXACT


def closest(patterns: Iterable[str], bank: str, action: str = "") -> str | None:
    """The pattern that matches the bank most closely; None when none does."""
    best = max(patterns, key=lambda one: (target_level(one, action, bank), len(one)), default=None)
    return best if best is not None and target_level(best, action, bank) else None


def _families(action: str) -> Iterator[str]:
    at = action.find(":")
    while at >= 0:
        yield f"{action[: at + 1]}*"
        at = action.find(":", at + 1)
