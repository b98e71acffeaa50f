"""The types that request fields are made of, with their limits; errors are plain sentences."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeAlias

import orjson
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from lorebank.clock import parse_iso
from lorebank.errors import InvalidInput, LorebankError
from lorebank.ids import check_id
from lorebank.limits import Limits
from lorebank.service.requests.base import limits_of
from lorebank.tags import And, Leaf, TagFilter, TagMatch, parse_tag_groups

Check: TypeAlias = Callable[[Any, ValidationInfo], Any]


def wrong(message: str, kind: str = "value_error") -> PydanticCustomError:
    """A validation error with exactly this message (braces are literal)."""
    return PydanticCustomError(kind, "{message}", {"message": message})


def at_most(name: str, noun: str) -> AfterValidator:
    """A value with a length is at most the limit `name`, counted in `noun`."""

    def check(value: Any, info: ValidationInfo) -> Any:
        most = limit(info, name)
        if len(value) > most:
            setting = f"setting LOREBANK_LIMIT_{name.upper()}"
            raise wrong(f"must have at most {most} {noun} ({setting})", "too_long")
        return value

    return AfterValidator(check)


def up_to(name: str, least: int = 0) -> AfterValidator:
    """A number is between `least` and the limit `name`."""

    def check(value: int, info: ValidationInfo) -> int:
        most = limit(info, name)
        if not least <= value <= most:
            raise wrong(f"must be between {least} and {most}", "out_of_range")
        return value

    return AfterValidator(check)


def limit(info: ValidationInfo, name: str) -> int:
    """The value of one limit in this validation."""
    value: int = getattr(limits_of(info), name)
    return value


# text


def _blocks_to_text(value: Any) -> Any:
    """Content given as blocks becomes the texts of the blocks, one paragraph each."""
    if not isinstance(value, list):
        return value
    return "\n\n".join(_block_text(index, block) for index, block in enumerate(value))


def _block_text(index: int, block: Any) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in ("image", "file"):
        raise wrong(
            f"block {index} is of type '{kind}': attachments need a vision model and none is configured; "
            "send text, or upload the file to files/retain",
            "vision_unsupported",
        )
    if kind != "text" or not isinstance(block.get("text"), str):
        raise wrong(f"block {index} must be an object with type 'text' and a string 'text'", "content_block")
    return str(block["text"])


_BLOCK_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"enum": ["text", "image", "file"]}, "text": {"type": "string"}},
            },
        },
    ]
}
Content = Annotated[
    str,
    BeforeValidator(_blocks_to_text),
    at_most("content_chars", "characters"),
    WithJsonSchema(_BLOCK_SCHEMA, mode="validation"),
]
ContextText = Annotated[str, at_most("context_chars", "characters")]
Mission = Annotated[str, at_most("mission_chars", "characters")]
BankName = Annotated[str, at_most("name_chars", "characters")]


def _check_id(value: str, info: ValidationInfo) -> str:
    try:
        return check_id(value, "it", max_bytes=limit(info, "id_bytes"))
    except LorebankError as exc:
        raise wrong(exc.message.removeprefix("it "), "bad_id") from exc


Id = Annotated[str, AfterValidator(_check_id)]
"""A caller's own id: not blank, no control characters, at most the limit's bytes, in NFC."""


# time


def _moment(value: Any) -> datetime:
    if isinstance(value, datetime):
        text = value.isoformat()
    elif isinstance(value, str):
        text = value.strip()
    else:
        raise wrong("must be an ISO 8601 date-time string, for example 2026-11-29T08:30:00Z", "datetime")
    try:
        parse_iso(text, "it")
    except LorebankError as exc:
        raise wrong(exc.message.removeprefix("it "), "datetime") from exc
    when = datetime.fromisoformat(text)
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)


def _event_time(value: Any) -> Any:
    if isinstance(value, str) and (value == "unset" or not value.strip()):
        return value.strip() or None
    if value is None:
        return None
    try:
        return _moment(value)
    except PydanticCustomError as exc:
        message = "must be null, 'unset' or an ISO 8601 date-time between the years 1 and 9999"
        raise wrong(message, "datetime") from exc


Moment = Annotated[
    datetime,
    BeforeValidator(_moment),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="validation"),
]
"""An aware time; a text without a zone is UTC. The caller's offset is kept."""
EventTime = Annotated[
    datetime | Literal["unset"] | None,
    BeforeValidator(_event_time),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}, mode="validation"),
]
"""When something was said: an aware time, "unset" (it has no date), or None (now)."""


# tags


def _read_tags(value: Any) -> Any:
    """A list, a JSON-encoded list, or one tag (specs: tags may arrive in all three forms)."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            decoded = orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
        return decoded if isinstance(decoded, list) else [value]
    return [value]


def _check_tags(value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    limits = limits_of(info)
    if len(value) > limits.tags:
        raise wrong(f"must have at most {limits.tags} tags (setting LOREBANK_LIMIT_TAGS)", "too_long")
    return tuple(dict.fromkeys(_check_tag(index, tag, limits) for index, tag in enumerate(value)))


def _check_tag(index: int, tag: str, limits: Limits) -> str:
    normal = unicodedata.normalize("NFC", tag)
    if not normal.strip():
        raise wrong(f"tag {index} must not be empty", "bad_tag")
    if len(normal.encode("utf-8", "surrogatepass")) > limits.tag_bytes:
        raise wrong(f"tag {index} must be at most {limits.tag_bytes} bytes of UTF-8", "bad_tag")
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in normal):
        raise wrong(f"tag {index} must not contain control characters or lone surrogates", "bad_tag")
    return normal


Tags = Annotated[
    tuple[str, ...],
    BeforeValidator(_read_tags),
    AfterValidator(_check_tags),
    WithJsonSchema(
        {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]}, mode="validation"
    ),
]
"""Distinct tags in the order given, in NFC."""


def _tag_groups(value: Any, info: ValidationInfo) -> TagFilter | None:
    limits = limits_of(info)
    if isinstance(value, str):  # query parameters carry the groups as JSON
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise wrong("must be a JSON list of tag groups", "tag_groups") from None
    if value is None or value == []:
        return None
    try:
        return parse_tag_groups(
            value,
            "tag_groups",
            max_depth=limits.tag_group_depth,
            max_nodes=limits.tag_group_nodes,
            max_leaf_tags=limits.tags,
        )
    except InvalidInput as exc:
        raise wrong(exc.message, "tag_groups") from exc


TagGroups = Annotated[
    And | None,
    BeforeValidator(_tag_groups),
    WithJsonSchema(
        {"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "null"}]}, mode="validation"
    ),
]
"""A `tag_groups` value, read into a filter; None for null and for an empty list."""


def tag_filter(tags: tuple[str, ...] | None, match: TagMatch, groups: TagFilter | None) -> TagFilter | None:
    """The one filter of a request; None when it restricts nothing.

    Tags and groups together are refused. No tags restrict nothing, except that `exact` asks for
    the untagged rows.
    """
    if groups is not None:
        if tags:
            message = "tags and tag_groups cannot be used together; put the tags into tag_groups"
            raise wrong(message, "tags_twice")
        return groups
    if not tags and match != "exact":
        return None
    return Leaf(tuple(sorted(set(tags or ()))), match)


# numbers and choices

TokenBudget = Annotated[int, up_to("max_tokens")]
Page = Annotated[int, up_to("page_size")]
Offset = Annotated[int, up_to("offset")]


def _rounded(value: Any) -> Any:
    return round(value) if isinstance(value, float) and abs(value) < 100 else value


Level = Annotated[int, BeforeValidator(_rounded), Field(ge=1, le=5)]
"""A disposition from 1 to 5; older clients send fractions, which are rounded."""


_SCOPE_WORDS = ("per_tag", "combined", "all_combinations", "shared")
_SCOPES = 1_000


def _scopes(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, str) and value in _SCOPE_WORDS:
        return value
    if isinstance(value, list) and all(
        isinstance(scope, list) and all(isinstance(tag, str) for tag in scope) for scope in value
    ):
        if len(value) > _SCOPES:
            raise wrong(f"must have at most {_SCOPES} scopes", "too_long")
        return [list(_check_tags(tuple(scope), info)) for scope in value]
    raise wrong(f"must be one of {', '.join(_SCOPE_WORDS)}, or a list of lists of tags", "observation_scopes")


ObservationScopes = Annotated[
    str | list[list[str]],
    BeforeValidator(_scopes),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(_SCOPE_WORDS)},
                {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
            ]
        },
        mode="validation",
    ),
]
"""Within which sets of tags observations are made: a word, or lists of tags."""
