"""What a YAML scalar means: the core schema of YAML 1.2 (section 10.3.2), and nothing else.

Dates stay the text they are written as, so that every value is JSON-ready and a date is never moved by a
time zone. Numbers that JSON cannot carry (infinite, not a number, more than 64 bits) stay text too.
"""

from __future__ import annotations

import math
import re
from typing import Final

Scalar = None | bool | int | float | str

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS: Final = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INT = re.compile(r"[-+]?[0-9]{1,20}")
_OCTAL = re.compile(r"0o[0-7]{1,30}")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,20}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TAGGED: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_PREFIX: Final = "tag:yaml.org,2002:"
CORE_TAGS: Final = frozenset(_PREFIX + name for name in ("str", "int", "float", "bool", "null", "map", "seq"))


def resolved(text: str) -> Scalar:
    """The value of a plain scalar."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text[0] in "+-.0123456789":
        number = _number(text)
        if number is not None:
            return number
    return text


def tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with a core tag; ValueError when the text is none of that type."""
    if tag == _PREFIX + "str":
        return text
    value = resolved(text)
    if type(value) not in _TAGGED[tag.removeprefix(_PREFIX)]:
        raise ValueError(tag)
    return value


def _number(text: str) -> int | float | None:
    if _INT.fullmatch(text):
        return _carried(int(text))
    if _OCTAL.fullmatch(text):
        return _carried(int(text[2:], 8))
    if _HEX.fullmatch(text):
        return _carried(int(text[2:], 16))
    if len(text) <= 64 and _FLOAT.fullmatch(text) and not text.lstrip("+-").isdigit():
        value = float(text)
        return value if math.isfinite(value) else None
    return None


def _carried(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None
