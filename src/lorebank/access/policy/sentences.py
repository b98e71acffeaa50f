"""An explanation in plain sentences, for people at a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from lorebank.access.actions import on_agents
from lorebank.access.policy.explain import Explanation, NearMiss, Said
from lorebank.access.policy.match import EVERY_BANK, action_matches, is_agents
from lorebank.access.policy.sources import Source

MOST = 5
"""Most statements of one kind that are told; the rest is counted."""


def told(explanation: Explanation) -> tuple[str, ...]:
    """The decision, the statements it rests on, the parameters, and what would have to change."""
    lines = [_outcome(explanation), *_deciding(explanation)]
    if explanation.verdict.allowed:
        lines += [_parameter(source) for source in explanation.sources]
    return (*lines, *changes(explanation))


def changes(explanation: Explanation) -> tuple[str, ...]:
    """What would have to change for the opposite outcome."""
    if explanation.allowed:
        return (
            "To refuse it, add a statement that denies it, or take it out of every statement that allows it.",
        )
    if explanation.excluded is not None:
        return tuple(_exclusion(explanation))
    lines: list[str] = []
    if explanation.verdict.denied:
        lines += _capped(
            (_undeny(said) for said in explanation.statements if said.decided), "statements that deny it"
        )
    if explanation.silent and not _listing_is_enough(explanation):
        lines += _allowing(explanation)
    return tuple(lines)


def _listing_is_enough(explanation: Explanation) -> bool:
    """Whether the deny is an override's that does not list the action: listing it allows it at once."""
    decided = [said for said in explanation.statements if said.decided]
    return bool(decided) and all(_is_public(said) for said in decided)


def _is_public(said: Said) -> bool:
    return said.ref.policy_id.startswith("bank-policy:")


def _outcome(explanation: Explanation) -> str:
    what = f"{explanation.action} on {_place(explanation.bank)}"
    if explanation.allowed:
        return f"{what} is allowed."
    if explanation.excluded is not None:
        return f"{what} is refused: policies allow it, but exclude the provider '{explanation.excluded}'."
    if explanation.verdict.denied:
        return f"{what} is denied. A deny wins over every allow, whatever the priorities."
    return f"{what} is refused: nothing in {_and(explanation.silent) or 'any policy'} allows it."


def _deciding(explanation: Explanation) -> Iterator[str]:
    lines = (_statement(said, explanation.action) for said in explanation.statements if said.decided)
    kind = "allow" if explanation.verdict.allowed else "deny"
    return iter(_capped(lines, f"statements that {kind} it"))


def _statement(said: Said, action: str) -> str:
    verb = "allows" if said.effect == "allow" else "denies"
    where = f"{said.layer}, {said.origin}" if said.origin else said.layer
    return f"{said.ref} {verb} {_word(said, action)} on {_pattern(said.bank)} ({where})."


def _word(said: Said, action: str) -> str:
    if said.action == action:
        return action
    if action_matches(said.action, action, implied=False):
        return f"'{said.action}'"
    return f"'{said.action}', which implies {action},"


def _parameter(source: Source) -> str:
    return f"{source.field} is {_value(source.value)}, from {_and(source.statements)}."


def _undeny(said: Said) -> str:
    if _is_public(said):
        return f"To lift this, add the action to {said.origin} in {said.layer}."
    return (
        f"To lift the deny of {said.ref}, take '{said.action}' out of its actions or '{said.bank}' "
        f"out of its banks, or detach the policy '{said.ref.policy_id}'."
    )


def _allowing(explanation: Explanation) -> list[str]:
    lines = []
    if explanation.verdict.denied:
        lines.append(f"That alone is not enough: nothing in {_and(explanation.silent)} allows it.")
    if len(explanation.layers) > 1 and not explanation.unmapped:
        lines.append(f"All of these must allow it: {_and(explanation.layers)}.")
    near = [
        miss
        for miss in explanation.near_misses
        if miss.effect == "allow" and miss.layer in explanation.silent
    ]
    lines += _capped((_mend(miss, explanation) for miss in near), "statements that come near")
    if not near:
        where = " or ".join(explanation.silent) if explanation.unmapped else _and(explanation.silent)
        lines.append(
            f"No statement comes near: add one that allows {explanation.action} "
            f"on {_place(explanation.bank)} to {where}."
        )
    if explanation.unmapped:
        lines.append("Or map the sender to a user who may.")
    return lines


def _mend(miss: NearMiss, explanation: Explanation) -> str:
    has = _and(f"'{one}'" for one in miss.has[:MOST]) or "nothing"
    if miss.lacks == "bank":
        return (
            f"{miss.ref} allows {explanation.action}, but on {has}: add '{explanation.bank}' "
            f"to its banks to allow it.{_literal_stars(explanation.action, miss.has)}"
        )
    if miss.lacks == "action":
        return (
            f"{miss.ref} allows {has} on {_place(explanation.bank)}: "
            f"add '{explanation.action}' to its actions to allow it."
        )
    return f"{miss.ref} would allow it, but only for {_and(miss.has)}."


def _literal_stars(action: str, patterns: Iterable[str]) -> str:
    """A warning where a star does not do what its author may have meant."""
    for pattern in patterns:
        if on_agents(action) and is_agents(pattern):
            continue
        if pattern != EVERY_BANK and "*" in pattern and not pattern.endswith("::*"):
            return f" A star means others only in '*' and after '::': '{pattern}' names one bank."
    return ""


def _exclusion(explanation: Explanation) -> Iterator[str]:
    for source in explanation.sources:
        if source.field == "exclude_providers":
            where = _and(source.statements)
            yield f"To allow it, take '{explanation.excluded}' out of exclude_providers in {where}."


def _capped(lines: Iterable[str], what: str) -> list[str]:
    every = list(lines)
    rest = len(every) - MOST
    return [*every[:MOST], *([f"And {rest} more {what}."] if rest > 0 else [])]


def _place(bank: str) -> str:
    return "the server" if bank == EVERY_BANK else f"'{bank}'"


def _pattern(pattern: str) -> str:
    return "every bank" if pattern == EVERY_BANK else f"'{pattern}'"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    if value == ():
        return "empty (none)"
    if isinstance(value, tuple):
        return _and(
            f"'{one}'" if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in value
        )
    return str(value)


def _and(parts: Iterable[str]) -> str:
    words = list(parts)
    if len(words) > MOST:
        words = [*words[:MOST], f"{len(words) - MOST} more"]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}" if words else ""
