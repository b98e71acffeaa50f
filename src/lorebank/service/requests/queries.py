"""Query parameters, one model for each set; their names, defaults and ranges are the wire's.

`tag_filter` of a query is `tags`, `tags_match` and `tag_groups` as one filter. Times arrive as
ISO 8601 and are read as aware times.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.fields import Id, Moment, Offset, Page, TagGroups, Tags, tag_filter, wrong
from lorebank.tags import TagFilter, TagMatch


def _blank_is_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


Text = Annotated[str | None, Field(max_length=1000)]
OptionalId = Annotated[Id | None, BeforeValidator(_blank_is_none)]
OptionalMoment = Annotated[Moment | None, BeforeValidator(_blank_is_none)]
FactTypeName = Annotated[
    Literal["world", "experience", "observation"] | None, BeforeValidator(_blank_is_none)
]
TimeField = Literal["created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end"]
DocumentConflict = Literal["skip", "replace", "new-id"]


def _one_tag_each(value: Any) -> Any:
    return None if value in ([], [""]) else value


QueryTags = Annotated[Tags | None, BeforeValidator(_one_tag_each)]


class Query(RequestModel):
    """Query parameters of one operation."""

    def params(self) -> dict[str, Any]:
        """Wire name -> value, absent parameters with their default."""
        return {name: getattr(self, name) for name in type(self).model_fields}


class Nothing(Query):
    """No parameters."""


class Paged(Query):
    """A page of a listing."""

    limit: Page = 100
    offset: Offset = 0


class Named(Paged):
    """A page of a listing that can be searched by text."""

    q: Text = None


class Tagged(Query):
    """A restriction by tags; `params` carries it as `tag_filter`."""

    tags: QueryTags = None
    tags_match: TagMatch = "any"

    @model_validator(mode="after")
    def _one_kind_of_tags(self) -> Tagged:
        self.tag_filter  # noqa: B018 - refuses both kinds at once
        return self

    @property
    def tag_filter(self) -> TagFilter | None:
        """The filter that the caller asked for."""
        return tag_filter(self.tags, self.tags_match, getattr(self, "tag_groups", None))

    def params(self) -> dict[str, Any]:
        """Wire name -> value, and `tag_filter`."""
        return super().params() | {"tag_filter": self.tag_filter}


class GroupTagged(Tagged):
    """A restriction by tags or by groups of tags (JSON)."""

    tag_groups: TagGroups = None


class Between(Query):
    """A range of times, both ends included; an end before the start is refused."""

    start_date: OptionalMoment = None
    end_date: OptionalMoment = None

    @model_validator(mode="after")
    def _in_order(self) -> Between:
        start, end = self.start_date, self.end_date
        if isinstance(start, datetime) and isinstance(end, datetime) and end < start:
            raise wrong("end_date must not be before start_date", "date_range")
        return self


class GraphQuery(Tagged):
    """Parameters of the memory graph."""

    type: FactTypeName = None
    limit: Page = 1000
    q: Text = None
    tags_match: TagMatch = "all_strict"
    document_id: OptionalId = None
    chunk_id: OptionalId = None


class ListMemoriesQuery(Tagged, Between, Named):
    """Parameters of the memory listing."""

    type: FactTypeName = None
    consolidation_state: Text = None
    state: Annotated[Literal["valid", "invalidated"] | None, BeforeValidator(_blank_is_none)] = None
    document_id: OptionalId = None
    entity_id: OptionalId = None
    time_field: TimeField | None = None


class ClearMemoriesQuery(Query):
    """Which memories to clear; all when no type is given."""

    type: FactTypeName = None


class ListDocumentsQuery(Tagged, Between, Named):
    """Parameters of the document listing. Untagged documents are hidden by default (`any_strict`)."""

    tags_match: TagMatch = "any_strict"
    time_field: Literal["created_at", "updated_at"] | None = None


class DocumentPageQuery(Query):
    """A page of a document's chunks or history."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    offset: Offset = 0


class ListEntitiesQuery(GroupTagged, Paged):
    """Parameters of the entity listing."""


class EntityGraphQuery(GroupTagged):
    """Parameters of the entity graph."""

    limit: Page = 1000
    min_count: Annotated[int, Field(ge=0, le=10**9)] = 1


class ListTagsQuery(Named):
    """Parameters of the tag listing."""

    source: Literal["memories", "mental_models"] = "memories"


class StatsQuery(Query):
    """Whether to count anew instead of answering from the cache."""

    refresh: bool = False


def _known_time_field(value: Any) -> Any:
    """The wire contract lets an unknown field fall back to the default instead of failing."""
    return value if value in get_args(TimeField) else "created_at"


class TimeseriesQuery(Query):
    """Which span of time, counted by which date."""

    period: Annotated[str, Field(max_length=10, pattern=r"^[1-9][0-9]{0,3}[hdwmy]$")] = "7d"
    time_field: Annotated[TimeField, BeforeValidator(_known_time_field)] = "created_at"


class ListOperationsQuery(Query):
    """Parameters of the operation listing."""

    status: Text = None
    type: Text = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    offset: Offset = 0
    exclude_parents: bool = False


class OperationQuery(Query):
    """Whether the answer carries what the operation was asked to do."""

    include_payload: bool = False


class TemplateImportQuery(Query):
    """Whether to say what would change without changing it."""

    dry_run: bool = False


class DocumentIds(Query):
    """A choice of documents; None means all of them."""

    document_id: Annotated[
        Annotated[tuple[Id, ...], Field(max_length=10_000)] | None, BeforeValidator(_one_tag_each)
    ] = None


class ExportDocumentsQuery(DocumentIds):
    """Which documents to export, and what goes with them."""

    include_observations: bool = False
    include_knowledge_base: bool = False


class ExportBankQuery(DocumentIds):
    """What of a bank to export."""

    include_data: bool = True
    include_bank_config: bool = True
    include_history: bool = False


class ImportDocumentsQuery(Query):
    """What happens to documents that exist already."""

    on_conflict: DocumentConflict = "skip"


class ImportBankQuery(Query):
    """How an archive is taken in. None for an `include_` means: whatever the archive has."""

    mode: Literal["restore", "merge"] = "restore"
    target_bank_id: Id | None = None
    document_conflict: DocumentConflict = "skip"
    include_data: bool | None = None
    include_bank_config: bool | None = None
    include_history: bool | None = None


class CloneBankQuery(Query):
    """Where a copy of the bank goes, and what it has."""

    target_bank_id: Id
    include_data: bool = True
    include_bank_config: bool = True
    include_history: bool = False
