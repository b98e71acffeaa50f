"""The fast reader: exactly the form that `render.py` writes, and nothing else.

What it accepts it reads as `yaml_events.load` would (a property test compares them); for everything else it
raises `NotCanonical` and the complete reader decides. It is about forty times as fast.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from lorebank.vaults.record.core_schema import resolved
from lorebank.vaults.record.frame import Where
from lorebank.vaults.record.render import PLAIN
from lorebank.vaults.record.values import MAX_NESTING

_ENTRY = re.compile(r'([A-Za-z_][A-Za-z0-9_.-]{0,199}|"(?:[^"\\]|\\.){0,500}"):(?: (.*))?')
_NUMBER = re.compile(r"-?[0-9][0-9.eE+-]{0,40}")
# Characters that the complete reader refuses or treats in its own way, and escapes that are half characters.
_FOREIGN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\\\\u[dD][89a-fA-F]")
_EMPTY: Final[dict[str, Any]] = {"[]": list, "{}": dict}


class NotCanonical(Exception):
    """Not written by lorebank: the complete reader must read it."""


def load_canonical(yaml: str) -> tuple[dict[str, Any], dict[Where, int]]:
    """The mapping, and the line of every value counted from 0 at the first line of `yaml`."""
    if not yaml.endswith("\n") or _FOREIGN.search(yaml):
        raise NotCanonical
    reader = _Reader(yaml[:-1].split("\n"))
    value = reader.mapping(0, (), 1)
    if reader.at != len(reader.lines):
        raise NotCanonical
    return value, reader.places


class _Reader:
    """Reads lines downwards; `at` is the next one."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.places: dict[Where, int] = {}

    def mapping(self, indent: int, where: Where, depth: int, first: str | None = None) -> dict[str, Any]:
        """The entries at exactly `indent`; `first`: the text of the first one, behind '- '."""
        if depth > MAX_NESTING:
            raise NotCanonical
        found: dict[str, Any] = {}
        text = self._at_indent(indent) if first is None else first
        while text is not None and not text.startswith("- "):
            entry = _ENTRY.fullmatch(text)
            if entry is None:
                raise NotCanonical
            key = entry[1] if entry[1][0] != '"' else _string(entry[1])
            if key in found:
                raise NotCanonical
            here = (*where, key)
            self.places[here] = self.at
            self.at += 1
            found[key] = self._value(entry[2], indent, here, depth)
            text = self._at_indent(indent)
        if not found:
            raise NotCanonical
        return found

    def _at_indent(self, indent: int) -> str | None:
        """The next line without its indentation when that is `indent`; None when it is less or the end."""
        if self.at >= len(self.lines):
            return None
        line = self.lines[self.at]
        text = line.lstrip(" ")
        have = len(line) - len(text)
        if not text or have > indent:
            raise NotCanonical
        return text if have == indent else None

    def _value(self, text: str | None, indent: int, where: Where, depth: int) -> Any:
        if text is None:
            return self._nested(indent + 2, where, depth + 1)
        if text == "|-":
            return self._literal(indent + 2)
        if text in _EMPTY:
            if depth >= MAX_NESTING:
                raise NotCanonical
            return _EMPTY[text]()
        return _scalar(text)

    def _nested(self, indent: int, where: Where, depth: int) -> Any:
        if depth > MAX_NESTING:
            raise NotCanonical
        text = self._at_indent(indent)
        if text is None:
            raise NotCanonical
        if text == "-" or text.startswith("- "):
            return self._list(indent, where, depth)
        return self.mapping(indent, where, depth)

    def _list(self, indent: int, where: Where, depth: int) -> list[Any]:
        items: list[Any] = []
        text = self._at_indent(indent)
        while text is not None:
            here = (*where, len(items))
            self.places[here] = self.at
            if text == "-":
                self.at += 1
                self.places[here] = self.at
                items.append(self._nested(indent + 2, here, depth + 1))
            elif not text.startswith("- "):
                raise NotCanonical
            elif text[2:] != "|-" and _ENTRY.fullmatch(text, 2):
                items.append(self.mapping(indent + 2, here, depth + 1, text[2:]))
            else:
                self.at += 1
                items.append(self._value(text[2:], indent, here, depth))
            text = self._at_indent(indent)
        return items

    def _literal(self, indent: int) -> str:
        pad = " " * indent
        start = self.at
        while self.at < len(self.lines) and (not self.lines[self.at] or self.lines[self.at].startswith(pad)):
            self.at += 1
        lines = [line[indent:] for line in self.lines[start : self.at]]
        if not lines or not lines[0] or lines[0][0] == " " or not lines[-1] or not all(map(_solid, lines)):
            raise NotCanonical
        return "\n".join(lines)


def _solid(line: str) -> bool:
    return not line or not line.isspace()


def _scalar(text: str) -> Any:
    if not text:
        raise NotCanonical
    if text[0] == '"':
        return _string(text)
    if PLAIN.fullmatch(text) or _NUMBER.fullmatch(text):
        return resolved(text)
    raise NotCanonical


def _string(text: str) -> str:
    if len(text) < 2 or text[-1] != '"':
        raise NotCanonical
    try:
        found = json.loads(text)
    except ValueError as exc:
        raise NotCanonical from exc
    return str(found)
