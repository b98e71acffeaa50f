"""Query strings and path segments from their percent-encoded form to validated parameters."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin
from urllib.parse import parse_qsl, unquote_to_bytes

from lorebank.ids import check_id
from lorebank.limits import Limits
from lorebank.service.requests.base import ignored, parse, refuse
from lorebank.service.requests.document import text_problem
from lorebank.service.requests.queries import Query

MAX_PARAMETERS = 10_500
"""Parameters in one query string; an export may name up to 10,000 documents."""


def read_query(model: type[Query], query: bytes, limits: Limits) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The validated parameters by wire name, and the names that were not known.

    A repeated single-valued parameter counts with its last value. Raises `InvalidInput` (field
    "query") for what does not fit the model, is no UTF-8 or holds a NUL character.
    """
    data = _collect(model, query) if query else {}
    unknown = ignored(model, data) if data else ()
    return parse(model, data, limits, "query").params(), unknown


def _collect(model: type[Query], query: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS
        )
    except UnicodeDecodeError:
        raise refuse("query", (), "must be percent-encoded UTF-8", "bad_text") from None
    except ValueError:
        raise refuse("query", (), f"must have at most {MAX_PARAMETERS} parameters", "too_long") from None
    many = _many(model)
    data: dict[str, Any] = {}
    for name, value in pairs:
        if (reason := text_problem(value)) is not None:
            raise refuse("query", (name,), reason, "bad_text")
        if name in many:
            data.setdefault(name, []).append(value)
        else:
            data[name] = value
    return data


@cache
def _many(model: type[Query]) -> frozenset[str]:
    """The parameters that may be repeated."""
    return frozenset(name for name, field in model.model_fields.items() if _is_many(field.annotation))


def _is_many(annotation: Any) -> bool:
    if get_origin(annotation) is tuple:
        return True
    if get_origin(annotation) in (Union, UnionType) or hasattr(annotation, "__metadata__"):
        return any(_is_many(part) for part in get_args(annotation)[:2])
    return False


def decode_segment(raw: str, name: str) -> str:
    """The text of a percent-encoded path segment; `InvalidInput` (field "path") when it is no UTF-8."""
    try:
        return (
            unquote_to_bytes(raw.encode("latin-1")).decode("utf-8")
            if "%" in raw or not raw.isascii()
            else raw
        )
    except UnicodeError:
        raise refuse("path", (name,), "must be percent-encoded UTF-8", "bad_text") from None


def read_path(raw: dict[str, str], limits: Limits) -> dict[str, str]:
    """Path parameters by name: decoded, in NFC, within the limits of ids (`BadRequest` otherwise)."""
    return {
        name: check_id(decode_segment(value, name), name, max_bytes=limits.id_bytes * _made_of(name))
        for name, value in raw.items()
    }


def _made_of(name: str) -> int:
    """Names that lorebank makes hold an encoded bank id (3 characters a byte) and a document id."""
    return 5 if name in ("chunk_id", "key") else 1
