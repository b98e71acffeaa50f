"""Whether somebody may more than somebody else: the check against gaining rights by one's own writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lorebank.access.actions import ACTIONS, AUDIENCE_ONLY
from lorebank.access.policy.match import (
    AGENT,
    EVERY_BANK,
    agent_patterns_of,
    is_agents,
    patterns_of,
    prefix_sizes,
)
from lorebank.access.policy.tag_filter import key_of
from lorebank.access.policy.values import BUDGETS, Parameters, PolicyDocument, TagGroup, Verdict

_BY_POLICIES = tuple(action for action in ACTIONS if action not in AUDIENCE_ONLY)
Rights = Callable[[str, str], Verdict]
"""(action, bank) -> what a principal may."""


def wider(candidate: Rights, bound: Rights, banks: Iterable[str]) -> tuple[str, str] | None:
    """The first (action, bank) that the candidate may and the bound may not, or may with less
    restricted parameters; None when there is none on these banks. With `representatives` of both
    sides' documents for `banks` that holds for every bank there can be."""
    for bank in banks:
        for action in _BY_POLICIES:
            mine = candidate(action, bank)
            if not mine.allowed:
                continue
            theirs = bound(action, bank)
            if not theirs.allowed or less_restricted(mine.parameters, theirs.parameters):
                return action, bank
    return None


def less_restricted(mine: Parameters, bound: Parameters) -> str | None:
    """The first parameter in which `mine` restricts less than `bound`; None when there is none.

    What is not set restricts nothing. Strategy, model and provider are choices, not restrictions:
    a scope may replace them (seed 001, Intersection rules).
    """
    looser = {
        "recall_budget": _above(_budget(mine), _budget(bound)),
        "recall_max_tokens": _above(mine.recall_max_tokens, bound.recall_max_tokens),
        "recall_tag_groups": not _keys(bound.recall_tag_groups) <= _keys(mine.recall_tag_groups),
        "retain_roles": _more_roles(mine.retain_roles, bound.retain_roles),
        "retain_tags": not set(bound.retain_tags or ()) <= set(mine.retain_tags or ()),
        "retain_every_n_turns": _above(_often(mine), _often(bound)),
        "exclude_providers": not set(bound.exclude_providers or ()) <= set(mine.exclude_providers or ()),
    }
    return next((field for field, is_looser in looser.items() if is_looser), None)


def representatives(documents: Iterable[PolicyDocument], names: Iterable[str] = ()) -> tuple[str, ...]:
    """Bank names, sorted, that stand for all banks: whatever bank there is, the statements of the
    documents speak of one of these in the same way.

    They are one of the named banks for each set of statements that names it, each prefix with a name
    nobody mentions behind it, `*` (the server itself) and such a name alone. `names` are further banks
    of interest, for instance those with a bank policy. Agents, as `agent:<id>`, are banks here.
    """
    speaking: dict[str, list[int]] = {}
    statements = (statement for document in documents for statement in document.statements)
    for number, statement in enumerate(statements):
        for pattern in statement.banks:
            speaking.setdefault(pattern, []).append(number)
    fresh = _unmentioned(speaking)
    found = {pattern[:-1] + fresh if pattern.endswith("::*") else pattern for pattern in speaking}
    # Beside the pattern itself, in which a star is a plain letter where banks are spoken of.
    found |= {pattern[:-1] + _unused(speaking) for pattern in speaking if is_agents(pattern)}
    sizes = prefix_sizes(speaking)
    # A statement may list a thousand banks: they are one question, not a thousand.
    alike = {_heard(speaking, sizes, bank): bank for bank in sorted(found, reverse=True)}
    return tuple(sorted({*alike.values(), *names, EVERY_BANK, fresh}))


def _heard(
    speaking: Mapping[str, list[int]], sizes: tuple[int, ...], bank: str
) -> frozenset[tuple[int, int, bool]]:
    """Which statements speak of the bank by its name or a prefix, and how closely; and of the agent that
    has that name. Those that speak of every bank tell no two banks apart."""
    heard: dict[tuple[int, bool], int] = {}
    of_agents = agent_patterns_of(bank) if bank.startswith(AGENT) else ()
    for as_agent, patterns in ((False, patterns_of(bank, sizes)), (True, of_agents)):
        for pattern, level in patterns:
            if pattern != EVERY_BANK:
                heard.update(dict.fromkeys(((one, as_agent) for one in speaking.get(pattern, ())), level))
    return frozenset((one, level, as_agent) for (one, as_agent), level in heard.items())


def _unmentioned(patterns: Iterable[str]) -> str:
    mentioned = "\n".join(patterns)
    fresh = "any-other"
    while fresh in mentioned:
        fresh += "-bank"
    return fresh


def _unused(patterns: Iterable[str]) -> str:
    """A letter that is in none of the patterns."""
    used = set("".join(patterns))
    return next(letter for letter in map(chr, range(ord("a"), 0x10000)) if letter not in used)


def _above(mine: int | None, bound: int | None) -> bool:
    """Whether a limit is looser; None is no limit."""
    return bound is not None and (mine is None or mine > bound)


def _budget(parameters: Parameters) -> int | None:
    return None if parameters.recall_budget is None else BUDGETS.index(parameters.recall_budget)


def _often(parameters: Parameters) -> int | None:
    """How often something is retained, as a number that grows with it."""
    return None if parameters.retain_every_n_turns is None else -parameters.retain_every_n_turns


def _more_roles(mine: tuple[str, ...] | None, bound: tuple[str, ...] | None) -> bool:
    return bound is not None and (mine is None or not set(mine) <= set(bound))


def _keys(groups: tuple[TagGroup, ...] | None) -> set[str]:
    return {key_of(group) for group in groups or ()}
