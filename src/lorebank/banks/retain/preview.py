"""What retain would find in a text, without storing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lorebank.banks.config import resolve
from lorebank.banks.extract import NOTHING_KNOWN, Extraction, ExtractSettings
from lorebank.banks.retain.facts import extracted
from lorebank.banks.retain.granted import kept, under_strategy
from lorebank.banks.retain.items import Item
from lorebank.banks.retain.service import Tools
from lorebank.banks.retain.settings import how_to
from lorebank.errors import InvalidInput
from lorebank.storage.ports import BankHandle


@dataclass(frozen=True, slots=True)
class Preview:
    """An extraction, and how many facts each of its chunks gave."""

    extraction: Extraction
    facts_of_chunk: Mapping[int, int]


def preview(
    handle: BankHandle,
    tools: Tools,
    item: Item,
    overrides: Mapping[str, Any],
    agent_name: str | None = None,
    causal_links: bool | None = None,
    *,
    acquainted: bool = True,
) -> Preview:
    """Extract `item` with the bank's config under `overrides` (settings for this call only).

    Without `acquainted` the bank's own entities are not looked for: who may not read them must not
    learn their names by guessing.
    """
    if not item.content.strip():
        raise InvalidInput("content: must not be empty")
    settings_of_bank = {**handle.bank.config, **overrides}
    (item,) = under_strategy(handle.grant, [item], tools.bank_defaults, settings_of_bank)
    config = resolve(tools.bank_defaults, settings_of_bank, item.strategy)
    if overrides and item.strategy:  # what the call says beats what the strategy says
        config = resolve(tools.bank_defaults, {**config.values, **overrides, "retain_default_strategy": None})
    settings = _with(how_to(config).extract, agent_name, causal_links)
    left = kept(handle.grant, item)
    if left is None:
        return Preview(Extraction((), ()), {})
    extraction = extracted(left, settings, tools.known.of(handle) if acquainted else NOTHING_KNOWN)
    return Preview(extraction, Counter(fact.chunk_index for fact in extraction.facts))


def _with(settings: ExtractSettings, agent_name: str | None, causal_links: bool | None) -> ExtractSettings:
    links = settings.causal_links if causal_links is None else causal_links
    return replace(settings, agent_name=agent_name, causal_links=links)
