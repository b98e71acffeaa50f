"""The local extractor: content in, chunks and memories out, by rules alone and without any IO."""

from __future__ import annotations

from lorebank.banks.extract.extractor import extract
from lorebank.banks.extract.known import NOTHING_KNOWN, KnownEntities
from lorebank.banks.extract.values import (
    Chunk,
    EntityInput,
    EntityMention,
    Extraction,
    ExtractSettings,
    Fact,
    ItemInput,
    LabelGroup,
    LabelValue,
    MapField,
)

__all__ = [
    "NOTHING_KNOWN",
    "Chunk",
    "EntityInput",
    "EntityMention",
    "ExtractSettings",
    "Extraction",
    "Fact",
    "ItemInput",
    "KnownEntities",
    "LabelGroup",
    "LabelValue",
    "MapField",
    "extract",
]
