"""Readers for the parts of a document: each gives a typed value, or says which field is wrong."""

from __future__ import annotations

from typing import TypeVar

from lorebank.errors import FieldProblem, InvalidInput

Loc = tuple[str | int, ...]
MAX_ITEMS = 1000
"""Most items of any list in a document."""
MAX_BYTES = 4096
"""Longest string in a document, in bytes of UTF-8."""
MAX_NUMBER = 2**31 - 1
ROOT: Loc = ("body", "document")
_Choice = TypeVar("_Choice", bound=str)


def problem(loc: Loc, message: str) -> InvalidInput:
    """The error for the field at `loc`, a path from the request's body."""
    text = f"{'.'.join(map(str, loc[1:]))} {message}"
    return InvalidInput(text, fields=[FieldProblem(loc, text)])


def an_object(value: object, loc: Loc) -> dict[str, object]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise problem(loc, "must be an object")
    return value


def a_list(value: object, loc: Loc) -> list[object]:
    """A list of at most `MAX_ITEMS` items."""
    if not isinstance(value, list):
        raise problem(loc, "must be a list")
    if len(value) > MAX_ITEMS:
        raise problem(loc, f"must have at most {MAX_ITEMS} items; split the document")
    return value


def a_string(value: object, loc: Loc, *, empty: bool = False) -> str:
    """A string of at most `MAX_BYTES` bytes; `empty` tells whether it may be empty."""
    if not isinstance(value, str):
        raise problem(loc, "must be a string")
    if not value and not empty:
        raise problem(loc, "must not be empty; leave it out or write null where nothing is meant")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError as exc:
        raise problem(loc, "must not contain lone surrogates") from exc
    if size > MAX_BYTES:
        raise problem(loc, f"must be at most {MAX_BYTES} bytes of UTF-8")
    return value


def strings(value: object, loc: Loc, *, empty: bool = False) -> tuple[str, ...]:
    """A list of strings, in its order."""
    return tuple(a_string(one, (*loc, index), empty=empty) for index, one in enumerate(a_list(value, loc)))


def a_count(value: object, loc: Loc) -> int:
    """A whole number from 1; a bool is none, and nor is 1.0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_NUMBER:
        raise problem(loc, f"must be a whole number from 1 to {MAX_NUMBER}")
    return value


def one_of(value: object, loc: Loc, choices: tuple[_Choice, ...]) -> _Choice:
    """One of the given words."""
    for choice in choices:
        if value == choice:
            return choice
    raise problem(loc, f"must be one of {', '.join(choices)}")
