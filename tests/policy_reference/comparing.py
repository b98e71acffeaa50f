"""The engine held against the reference on random worlds, and a difference made small enough to read."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import naive_evaluator as reference
from naive_evaluator import Request, Result, World
from random_worlds import request, world
from raw_world import access_data, engine_decision, engine_verdict, rules_over

from lorebank.access.rules import PolicyRules

PER_WORLD = 40
"""Requests asked of one world: building it costs more than asking."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pairs were compared, and how they came out: proof that the worlds are not empty."""

    pairs: int = 0
    allowed: int = 0
    denied: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.pairs + other.pairs, self.allowed + other.allowed, self.denied + other.denied)


def compare(seed: int, pairs: int) -> Tally:
    """Compare that many pairs; AssertionError with a small case at the first difference."""
    tally = Tally()
    for number in range(-(-pairs // PER_WORLD)):
        tally += _compare_world(seed * 1_000_003 + number, min(PER_WORLD, pairs - tally.pairs))
    return tally


def _compare_world(seed: int, pairs: int) -> Tally:
    made, rng = world(seed), random.Random(-seed - 1)
    rules, _ = rules_over(access_data(made))
    allowed = denied = 0
    for _ in range(pairs):
        asked = request(rng)
        ours, theirs = engine_said(rules, asked), reference_said(made, asked)
        if ours != theirs:
            raise AssertionError(explained(*minimal(made, asked), seed))
        allowed += theirs[0]["allowed"]
        denied += theirs[0]["denied"]
    return Tally(pairs, allowed, denied)


def engine_said(rules: PolicyRules, asked: Request) -> tuple[Result, Result]:
    """The engine's verdict and decision."""
    return engine_verdict(rules, asked), engine_decision(rules, asked)


def reference_said(made: World, asked: Request) -> tuple[Result, Result]:
    """The reference's verdict and decision."""
    result = reference.verdict(made, asked)
    return result, reference.decide(made, asked, result)


def both(made: World, asked: Request) -> tuple[tuple[Result, Result], tuple[Result, Result]]:
    """What the engine and the reference say of a world that is read afresh."""
    rules, _ = rules_over(access_data(made))
    return engine_said(rules, asked), reference_said(made, asked)


def differs(made: World, asked: Request) -> bool:
    """Whether they disagree."""
    ours, theirs = both(made, asked)
    return ours != theirs


def minimal(made: World, asked: Request) -> tuple[World, Request]:
    """The same difference with whatever can be left out left out."""
    smaller = True
    while smaller:
        smaller = False
        for candidate, question in _smaller(made, asked):
            if differs(candidate, question):
                made, asked, smaller = candidate, question, True
                break
    return made, asked


def _smaller(made: World, asked: Request) -> Iterator[tuple[World, Request]]:
    """Every world with one thing less, then every request with one claim less."""
    for path in _removable(made):
        candidate = copy.deepcopy(made)
        *above, last = path
        place: Any = candidate
        for step in above:
            place = place[step]
        del place[last]
        yield candidate, asked
    for claim in ("provider", "channel", "topic", "sender"):
        if asked[claim] is not None:
            yield made, {**asked, claim: None}


def _removable(made: World) -> Iterator[tuple[Any, ...]]:
    for name in ("attachments", "members"):
        yield from ((name, at) for at in range(len(made[name])))
    yield from (("bank_policies", bank) for bank in made["bank_policies"])
    for policy, document in made["policies"].items():
        # From the end, so that the places of the others stay readable.
        for at in reversed(range(len(document["statements"]))):
            yield "policies", policy, "statements", at
            statement = document["statements"][at]
            for field, value in statement.items():
                if field in reference.FIELDS:
                    yield "policies", policy, "statements", at, field
                elif isinstance(value, list):
                    yield from (("policies", policy, "statements", at, field, n) for n in range(len(value)))


def explained(made: World, asked: Request, seed: int) -> str:
    """A case to read, and to run again."""
    ours, theirs = both(made, asked)
    used = {one["policy_id"] for one in made["attachments"]}
    used |= {one["scoping_policy_id"] for id, one in made["accounts"].items() if id == asked["id"]}
    shown = {**made, "policies": {id: text for id, text in made["policies"].items() if id in used}}
    shown["accounts"] = {id: one for id, one in made["accounts"].items() if id == asked["id"]}
    lines = [f"the engine and the reference differ (seed {seed})", "world: " + json.dumps(shown, indent=1)]
    lines.append("request: " + json.dumps(asked))
    for part, our, their in zip(("verdict", "decision"), ours, theirs, strict=True):
        for field in (field for field in their if our[field] != their[field]):
            lines.append(f"{part}.{field}: engine {our[field]!r}, reference {their[field]!r}")
    return "\n".join(lines)
