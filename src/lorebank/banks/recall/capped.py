"""A recall as its grant allows it: no wider budget, no more tokens, and nothing more through a side part."""

from __future__ import annotations

from dataclasses import replace

from lorebank.access.policy.values import BUDGETS, Parameters
from lorebank.banks.recall.ask import Ask, Include


def capped(ask: Ask, parameters: Parameters) -> Ask:
    """The narrower of what is asked and what is granted. Where a trace is asked, it tells the result."""
    budget, most = parameters.recall_budget, parameters.recall_max_tokens
    if budget is not None:
        ask = replace(ask, budget=min(ask.budget, budget, key=BUDGETS.index))
    if most is None:
        return ask
    return replace(ask, max_tokens=min(ask.max_tokens, most), include=_within(ask.include, most))


def _within(include: Include, most: int) -> Include:
    """Each part within the tokens of the results: a chunk or a source fact is text of the bank too."""
    return replace(
        include,
        entities=None if include.entities is None else min(include.entities, most),
        chunks=None if include.chunks is None else min(include.chunks, most),
        source_facts=None if include.source_facts is None else min(include.source_facts, most),
    )
