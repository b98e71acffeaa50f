"""The body of recall."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from lorebank.service.requests.base import RequestModel
from lorebank.service.requests.fields import Moment, TagGroups, Tags, TokenBudget, at_most, tag_filter, wrong
from lorebank.tags import TagFilter, TagMatch

FactType = Literal["world", "experience", "observation"]
Budget = Literal["low", "mid", "high"]
_WORD = re.compile(r"\w")


def _has_a_word(value: str) -> str:
    if _WORD.search(value) is None:
        raise wrong("must contain at least one letter or digit", "empty_query")
    return value


def _types(value: Any) -> Any:
    """The retired type `opinion` is dropped in silence; an empty list asks for all types, as null does."""
    if not isinstance(value, list):
        return value
    return [kind for kind in value if kind != "opinion"] if value else None


class EntityIncludeOptions(RequestModel):
    """Ask for the entities of the results."""

    max_tokens: TokenBudget = 500


class ChunkIncludeOptions(RequestModel):
    """Ask for the source chunks of the results."""

    max_tokens: TokenBudget = 8192


class SourceFactsIncludeOptions(RequestModel):
    """Ask for the facts behind observations; -1 puts no cap on one observation's share."""

    max_tokens: TokenBudget = 4096
    max_tokens_per_observation: int = Field(default=-1, ge=-1, le=10_000_000)


class IncludeOptions(RequestModel):
    """Parts of an answer besides the results. Entities come unless they are set to null."""

    entities: EntityIncludeOptions | None = EntityIncludeOptions()
    chunks: ChunkIncludeOptions | None = None
    source_facts: SourceFactsIncludeOptions | None = None


class MinScores(RequestModel):
    """Least scores; a result below one of them is left out."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None


class TemporalWindow(RequestModel):
    """A time range that the caller gives instead of words in the query."""

    start: Moment
    end: Moment

    @model_validator(mode="after")
    def _in_order(self) -> TemporalWindow:
        if self.end < self.start:
            raise wrong("end must not be before start", "temporal_window")
        return self


class RecallRequest(RequestModel):
    """A question to a bank.

    `types`: None asks for all; an empty list is left over from a request for retired types only and
    finds nothing. `query_timestamp` is checked by the handler, which answers 400 for a bad one.
    `tag_filter` is `tags`, `tags_match` and `tag_groups` as one filter (None: no restriction).
    """

    query: Annotated[str, at_most("query_chars", "characters"), AfterValidator(_has_a_word)]
    types: Annotated[list[FactType] | None, BeforeValidator(_types)] = None
    prefer_observations: bool | None = None
    budget: Budget = "mid"
    max_tokens: TokenBudget = 4096
    trace: bool = False
    query_timestamp: str | None = Field(default=None, max_length=100)
    include: IncludeOptions = IncludeOptions()
    tags: Tags | None = None
    tags_match: TagMatch = "any"
    tag_groups: TagGroups = None
    min_scores: MinScores | None = None
    temporal_window: TemporalWindow | None = None

    @model_validator(mode="after")
    def _one_kind_of_tags(self) -> RecallRequest:
        self.tag_filter  # noqa: B018 - refuses both kinds at once
        return self

    @property
    def tag_filter(self) -> TagFilter | None:
        """The filter that the caller asked for."""
        return tag_filter(self.tags, self.tags_match, self.tag_groups)
