"""The common ground of all request models: nulls, limits, unknown fields, and errors that name the field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from types import NoneType
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from lorebank.errors import FieldProblem, InvalidInput, printable
from lorebank.limits import Limits

MAX_PROBLEMS = 20
"""Problems told in one answer; a body with a thousand wrong items does not earn a thousand lines."""
MAX_IGNORED = 50
_NAME_CHARS = 100
_DEFAULTS = Limits()

M = TypeVar("M", bound="RequestModel")


def limits_of(info: ValidationInfo) -> Limits:
    """The limits that validation runs with: its context, or the defaults."""
    return info.context if isinstance(info.context, Limits) else _DEFAULTS


class RequestModel(BaseModel):
    """A request value. Unknown fields are dropped; null stands for the default of any optional field.

    `model_fields_set` holds the fields that the caller sent, null included where the field itself
    may be null: this is how "clear it" and "leave it" are told apart.
    """

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        arbitrary_types_allowed=True,
        protected_namespaces=(),
        allow_inf_nan=False,
        # A hundred models take a fifth of the start; each is built when its first request comes.
        defer_build=True,
    )
    not_null: ClassVar[frozenset[str]] = frozenset()
    may_be_absent: ClassVar[bool] = False
    """Whether an empty body counts as an empty object."""
    keys_once: ClassVar[bool] = False
    """Whether a key that stands twice in an object of the body is refused."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls.not_null = frozenset(
            field.alias or name
            for name, field in cls.model_fields.items()
            if not field.is_required() and not _may_be_null(field)
        )

    @model_validator(mode="before")
    @classmethod
    def _null_is_default(cls, data: Any) -> Any:
        """Drop nulls of optional fields whose type has no null, so that their default applies."""
        if not isinstance(data, dict):
            return data
        nulls = [name for name in cls.not_null if name in data and data[name] is None]
        return {name: value for name, value in data.items() if name not in nulls} if nulls else data


def parse(model: type[M], data: object, limits: Limits, source: str = "body") -> M:
    """`data` as a `model`; `InvalidInput` whose fields start with `source` ("body", "query", "path")."""
    try:
        return model.model_validate(data, context=limits)
    except ValidationError as exc:
        raise invalid(exc, source) from exc


def invalid(error: ValidationError, source: str) -> InvalidInput:
    """The error to raise for what pydantic found; it never repeats what the caller sent."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    problems = [problem(source, one["loc"], _message(one), one["type"]) for one in found[:MAX_PROBLEMS]]
    first = problems[0]
    return InvalidInput(f"{path_of(first.loc[1:])}: {first.msg}", fields=problems, cause=error)


def _message(found: ErrorDetails) -> str:
    if found["type"] == "model_type":
        return "must be an object"
    return found["msg"].removeprefix("Value error, ")


def problem(source: str, loc: Iterable[str | int], msg: str, kind: str = "value_error") -> FieldProblem:
    """A field problem with printable, short path parts."""
    parts = (part if isinstance(part, int) else printable(part)[:_NAME_CHARS] for part in loc)
    return FieldProblem((source, *parts), printable(msg), kind)


def refuse(source: str, loc: Iterable[str | int], msg: str, kind: str = "value_error") -> InvalidInput:
    """`InvalidInput` about one field."""
    one = problem(source, loc, msg, kind)
    return InvalidInput(f"{path_of(one.loc[1:])}: {one.msg}", fields=[one])


def path_of(loc: Iterable[str | int]) -> str:
    """`items.3.tags` for the path parts of a field."""
    return ".".join(str(part) for part in loc) or "request"


def ignored(model: type[RequestModel], data: object) -> tuple[str, ...]:
    """The names of sent fields that `model` does not know, nested ones with their path; at most 50."""
    found: dict[str, None] = {}
    for name in _unknown(model, data, ""):
        found[name] = None
        if len(found) >= MAX_IGNORED:
            break
    return tuple(found)


def _unknown(model: type[RequestModel], data: object, prefix: str) -> Iterator[str]:
    if isinstance(data, list):
        for item in data:
            yield from _unknown(model, item, prefix)
        return
    if not isinstance(data, dict):
        return
    known = known_fields(model)
    for name, value in data.items():
        if name not in known:
            yield prefix + printable(name)[:_NAME_CHARS]
        elif (nested := known[name]) is not None:
            yield from _unknown(nested, value, f"{prefix}{name}.")


@cache
def known_fields(model: type[RequestModel]) -> dict[str, type[RequestModel] | None]:
    """Wire name -> model of the value (None when it is not an object of ours)."""
    return {field.alias or name: _nested(field.annotation) for name, field in model.model_fields.items()}


def _nested(annotation: Any) -> type[RequestModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, RequestModel):
        return annotation
    for part in get_args(annotation):
        if (found := _nested(part)) is not None:
            return found
    return None


def _may_be_null(field: FieldInfo) -> bool:
    return field.annotation is Any or NoneType in get_args(field.annotation)
