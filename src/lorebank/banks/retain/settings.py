"""How the items of a request are extracted: the bank's config under each item's strategy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lorebank.banks.config import BankConfig, resolve
from lorebank.banks.extract import ExtractSettings, LabelGroup, LabelValue, MapField
from lorebank.banks.retain.items import Item
from lorebank.errors import BadRequest, NeedsLLM

LOCAL_MODES = ("local", "chunks", "verbatim")


@dataclass(frozen=True, slots=True)
class HowTo:
    """The settings of one strategy: extraction, and whether documents keep their text."""

    extract: ExtractSettings
    keep_text: bool


def for_items(
    defaults: Mapping[str, Any], overrides: Mapping[str, Any], items: Iterable[Item]
) -> dict[str | None, HowTo]:
    """Strategy -> its settings, for every strategy that the items name (None: the bank's own).

    `BadRequest` for a strategy that is not defined, or an append where text is not kept; `NeedsLLM`
    for a mode that only a language model can do.
    """
    found: dict[str | None, HowTo] = {}
    for item in items:
        how = found.get(item.strategy)
        if how is None:
            how = found[item.strategy] = how_to(resolve(defaults, overrides, item.strategy))
        if item.append and not how.keep_text:
            raise BadRequest(
                "update_mode: 'append' needs the document's stored text, and store_document_text is false "
                "for this bank; set it to true, or send update_mode 'replace' with the whole text"
            )
    return found


def how_to(config: BankConfig) -> HowTo:
    """The settings of a resolved config; `NeedsLLM` when its mode needs a language model."""
    mode = config.retain_extraction_mode
    if mode not in LOCAL_MODES:
        raise NeedsLLM(
            f"retain_extraction_mode '{mode}' needs a language model and none is configured; "
            f"use one of {', '.join(LOCAL_MODES)}"
        )
    extract = ExtractSettings(
        mode=mode,
        chunk_size=config.retain_chunk_size,
        structured_chunk_size=config.retain_structured_chunk_size,
        entity_labels=label_groups(config.entity_labels),
        entities_allow_free_form=config.entities_allow_free_form,
    )
    return HowTo(extract, config.store_document_text)


def label_groups(groups: Iterable[Mapping[str, Any]]) -> tuple[LabelGroup, ...]:
    """The wire's LabelGroup objects as the extractor takes them."""
    return tuple(
        LabelGroup(
            key=group["key"],
            description=group.get("description") or "",
            type=group.get("type") or "value",
            optional=group.get("optional", True) is not False,
            tag=group.get("tag") is True,
            values=_values(group),
            fields=_fields(group),
        )
        for group in groups
    )


def _values(holder: Mapping[str, Any]) -> tuple[LabelValue, ...]:
    return tuple(LabelValue(v["value"], v.get("description") or "") for v in holder.get("values") or ())


def _fields(holder: Mapping[str, Any]) -> dict[str, MapField]:
    fields: Mapping[str, Mapping[str, Any]] = holder.get("fields") or {}
    return {
        name: MapField(
            spec.get("type") or "text", spec.get("description") or "", _values(spec), _fields(spec)
        )
        for name, spec in fields.items()
    }
