"""Bodies that write memories: retain, file retain, dry-run extraction."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, Field, ValidationInfo

from lorebank.service.requests.base import RequestModel, limits_of
from lorebank.service.requests.fields import (
    Content,
    ContextText,
    EventTime,
    Id,
    Mission,
    Moment,
    ObservationScopes,
    Tags,
    at_most,
    wrong,
)


def _check_metadata(value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    limits = limits_of(info)
    if len(value) > limits.metadata_entries:
        raise wrong(f"must have at most {limits.metadata_entries} entries", "too_long")
    if len(orjson.dumps(value)) > limits.metadata_bytes:
        raise wrong(f"must be at most {limits.metadata_bytes} bytes as JSON", "too_long")
    return value


Metadata = Annotated[dict[str, str], AfterValidator(_check_metadata)]


class EntityInput(RequestModel):
    """An entity that the caller names; `type` defaults to the bank's usual one."""

    text: Id
    type: str | None = Field(default=None, max_length=200)


class MemoryItem(RequestModel):
    """One thing to remember. `timestamp`: aware time, "unset" (no date) or None (now)."""

    content: Content
    timestamp: EventTime = None
    context: ContextText | None = None
    metadata: Metadata | None = None
    document_id: Id | None = None
    entities: Annotated[list[EntityInput], at_most("entities", "entities")] | None = None
    resolve_entities: bool = True
    tags: Tags | None = None
    observation_scopes: ObservationScopes | None = None
    strategy: str | None = Field(default=None, max_length=200)
    update_mode: Literal["replace", "append"] | None = None


class RetainRequest(RequestModel):
    """A batch of items. `asynchronous` is `async` on the wire; `operation_id` is checked by the handler."""

    items: Annotated[list[MemoryItem], at_most("items", "items"), Field(min_length=1)]
    asynchronous: bool = Field(default=False, alias="async")
    document_tags: Tags | None = None
    operation_id: str | None = Field(default=None, max_length=200)


class FileMetadata(RequestModel):
    """What is known about one uploaded file."""

    document_id: Id | None = None
    context: ContextText | None = None
    metadata: Metadata | None = None
    tags: Tags | None = None
    timestamp: EventTime = None
    parser: str | list[str] | None = None
    strategy: str | None = Field(default=None, max_length=200)


class FileRetainOptions(RequestModel):
    """The form field `request` of an upload; `files_metadata` has one entry for each file when given."""

    parser: str | list[str] | None = None
    files_metadata: list[FileMetadata | None] | None = None
    document_tags: Tags | None = None


class DryRunExtractRequest(RequestModel):
    """Extraction without storing; the other fields override the bank's configuration for this call."""

    content: Content
    context: ContextText = ""
    timestamp: Moment | None = None
    agent_name: str | None = Field(default=None, max_length=1000)
    strategy: str | None = Field(default=None, max_length=200)
    retain_mission: Mission | None = None
    retain_extraction_mode: str | None = Field(default=None, max_length=200)
    retain_custom_instructions: Mission | None = None
    retain_extract_causal_links: bool | None = None
    retain_chunk_size: int | None = Field(default=None, ge=1, le=10_000_000)
    entity_labels: list[dict[str, Any]] | None = None
    entities_allow_free_form: bool | None = None
    llm_output_language: str | None = Field(default=None, max_length=200)
