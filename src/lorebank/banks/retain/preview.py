"""What retain would find in a text, without storing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lorebank.banks.config import resolve
from lorebank.banks.extract import Extraction, ExtractSettings
from lorebank.banks.retain.facts import extracted
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
) -> Preview:
    """Extract `item` with the bank's config under `overrides` (settings for this call only)."""
    if not item.content.strip():
        raise InvalidInput("content: must not be empty")
    config = resolve(tools.bank_defaults, {**handle.bank.config, **overrides}, item.strategy)
    if overrides and item.strategy:  # what the call says beats what the strategy says
        config = resolve(tools.bank_defaults, {**config.values, **overrides, "retain_default_strategy": None})
    settings = _with(how_to(config).extract, agent_name, causal_links)
    extraction = extracted(item, settings, tools.known.of(handle))
    return Preview(extraction, Counter(fact.chunk_index for fact in extraction.facts))


def _with(settings: ExtractSettings, agent_name: str | None, causal_links: bool | None) -> ExtractSettings:
    links = settings.causal_links if causal_links is None else causal_links
    return replace(settings, agent_name=agent_name, causal_links=links)
