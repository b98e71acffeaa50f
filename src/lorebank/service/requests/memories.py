"""Bodies that change a stored memory or document."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.fields import (
    Content,
    ContextText,
    Id,
    Moment,
    ObservationScopes,
    Tags,
    at_most,
    wrong,
)

_MODIFIERS = frozenset({"resolve_entities", "reason"})


class UpdateMemoryRequest(RequestModel):
    """Changes to one memory. A date that was sent as null is cleared: see `model_fields_set`."""

    text: Content | None = None
    context: ContextText | None = None
    occurred_start: Moment | None = None
    occurred_end: Moment | None = None
    mentioned_at: Moment | None = None
    fact_type: Literal["world", "experience"] | None = None
    entities: Annotated[list[Id], at_most("entities", "entities")] | None = None
    resolve_entities: bool = True
    state: Literal["valid", "invalidated"] | None = None
    reason: str | None = Field(default=None, max_length=10_000)

    @model_validator(mode="after")
    def _changes_something(self) -> UpdateMemoryRequest:
        if not self.model_fields_set - _MODIFIERS:
            message = "there is no field to update; send one of text, context, dates, entities, state"
            raise wrong(message, "no_fields")
        return self


class UpdateDocumentRequest(RequestModel):
    """Changes to one document; `tags` replaces all of them, and reaches its memories."""

    tags: Tags | None = None
    observation_scopes: ObservationScopes | None = None

    @model_validator(mode="after")
    def _changes_something(self) -> UpdateDocumentRequest:
        if not self.model_fields_set:
            raise wrong("there is no field to update; send tags or observation_scopes", "no_fields")
        return self
