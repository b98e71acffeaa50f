"""A request body from bytes to JSON values: one parser, with errors that name the place."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson

from lorebank.errors import FieldProblem, InvalidInput
from lorebank.limits import Limits
from lorebank.service.requests.base import MAX_PROBLEMS, path_of, problem

# Always ends a string, closed or not, so that a hostile body costs one pass and no backtracking.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?|[\[\]{}]', re.DOTALL)
Loc = tuple[str | int, ...]


def read_json(body: bytes, limits: Limits, *, keys_once: bool = False) -> Any:
    """The JSON value of `body`.

    Raises `InvalidInput` (field "body" and below) for text that is no JSON, nesting deeper than the
    limit, NaN and infinities, numbers too large for a double, NUL characters and lone surrogates.
    A repeated key counts with its last value, as RFC 8259 leaves open, or is refused (`keys_once`).
    """
    if not body.strip():
        raise _invalid([problem("body", (), "a JSON body is required", "missing")])
    try:
        value = orjson.loads(body)  # stops by itself at 1024 levels, so nothing overflows here
    except orjson.JSONDecodeError as exc:
        _check_depth_of_text(body, limits.json_depth)
        raise _diagnose(body, exc) from exc
    if body.count(b"[") + body.count(b"{") > limits.json_depth:
        _check_depth(value, limits.json_depth)
    if b"\\u0000" in body and (found := list(_wrong_values(value))):
        raise _invalid(found)
    if keys_once:
        json.loads(body, object_pairs_hook=_once_each, parse_int=str, parse_float=str)
    return value


def _once_each(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        twice, count = Counter(name for name, _ in pairs).most_common(1)[0]
        message = f"has the key {twice[:100]!r} {count} times in one object; send it once"
        raise _invalid([problem("body", (), message, "repeated_key")])


def _check_depth(value: Any, most: int) -> None:
    level = [value] if isinstance(value, (dict, list)) else []
    depth = 0
    while level:
        depth += 1
        if depth > most:
            raise _too_deep(most)
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]


def _check_depth_of_text(body: bytes, most: int) -> None:
    """The same for a text that the strict parser refused, before a recursive one reads it."""
    depth = 0
    for token in _TOKEN.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth += 1
            if depth > most:
                raise _too_deep(most)
        elif first in b"]}":
            depth -= 1


def _too_deep(most: int) -> InvalidInput:
    message = f"is nested deeper than {most} levels (setting LOREBANK_LIMIT_JSON_DEPTH)"
    return _invalid([problem("body", (), message, "too_deep")])


def _diagnose(body: bytes, error: orjson.JSONDecodeError) -> InvalidInput:
    """Why the strict parser refused: a lenient one finds the place of a value that JSON cannot carry."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        message = f"is not valid JSON at line {error.lineno}, column {error.colno}"
        return _invalid([problem("body", (), message, "json_invalid")])
    found = list(_wrong_values(value))
    if not found:
        found = [problem("body", (), "is not valid JSON (UTF-8 without a byte order mark)", "json_invalid")]
    return _invalid(found)


def _wrong_values(value: Any, loc: Loc = ()) -> Iterator[FieldProblem]:
    if isinstance(value, str):
        if (reason := text_problem(value)) is not None:
            yield problem("body", loc, reason, "bad_text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield problem("body", loc, "must be a finite number", "finite_number")
    elif isinstance(value, dict):
        for key, member in value.items():
            if (reason := text_problem(key)) is not None:
                yield problem("body", loc, f"has a key that {reason}", "bad_text")
            yield from _wrong_values(member, (*loc, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _wrong_values(member, (*loc, index))


def text_problem(text: str) -> str | None:
    """Why `text` cannot be stored, or None: NUL characters and lone surrogates are not text."""
    if "\x00" in text:
        return "must not contain NUL characters"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "must not contain lone surrogates"
    return None


def _invalid(found: list[FieldProblem]) -> InvalidInput:
    first = found[0]
    return InvalidInput(f"{path_of(first.loc)} {first.msg}", fields=found[:MAX_PROBLEMS])
