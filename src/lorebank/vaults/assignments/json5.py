"""Where the values of a JSON5 text are: spans of objects, their keys and members, and lists.

pyjson5 is the parser of record; it gives values without places. This walks over a text that pyjson5 has
accepted, by the same grammar (https://spec.json5.org), and only finds places. An edit is then a change of a
few spans, and everything outside of them stays as it was by construction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lorebank.errors import InvalidInput

MAX_DEPTH = 100
"""Nesting of a configuration file; pyjson5 refuses more first."""
_SPACE = frozenset("\t\v\f \u00a0\ufeff\u2028\u2029\n\r")
_LINE_ENDS = frozenset("\n\r\u2028\u2029")
_BARE_ENDS = _SPACE | frozenset("{}[],:/\"'")


@dataclass(slots=True)
class Node:
    """A value in `text[start:end]`. `members` of an object, `items` of a list; `commas[i]` is where the
    comma after the i-th of them stands, None when there is none (only after the last one)."""

    start: int
    end: int = -1
    opener: str = ""
    members: list[Member] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    commas: list[int | None] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    """One member of an object: its key as text, where the key begins and ends, and its value."""

    key: str
    start: int
    key_end: int
    value: Node


def decode(text: str) -> Any:
    """The value of a JSON5 text. `InvalidInput` says where it is wrong."""
    import pyjson5  # not at start: a server without knowledge never needs it

    try:
        return pyjson5.decode(text, MAX_DEPTH)
    except pyjson5.Json5DecoderException as exc:
        raise InvalidInput(f"it is not valid JSON5: {_reason(exc)}", cause=exc) from exc


def locate(text: str) -> Node:
    """The places in a text that `decode` accepts."""
    walker = _Walker(text)
    walker.skip()
    return walker.value()


def repeated_key(node: Node) -> str | None:
    """A key that the object has twice; None when there is none, or when it is no object."""
    seen: set[str] = set()
    for member in node.members:
        if member.key in seen:
            return member.key
        seen.add(member.key)
    return None


def comments(text: str) -> Iterator[str]:
    """Every comment of the text, in order."""
    walker = _Walker(text)
    walker.skip()
    walker.value()
    walker.skip()
    yield from walker.comments


class _Walker:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.comments: list[str] = []

    def skip(self) -> None:
        """Over space and comments."""
        text, size = self.text, len(self.text)
        while self.at < size:
            if text[self.at] in _SPACE:
                self.at += 1
            elif text.startswith("//", self.at):
                start = self.at
                while self.at < size and text[self.at] not in _LINE_ENDS:
                    self.at += 1
                self.comments.append(text[start : self.at])
            elif text.startswith("/*", self.at):
                end = text.index("*/", self.at + 2) + 2
                self.comments.append(text[self.at : end])
                self.at = end
            else:
                return

    def value(self) -> Node:
        node = Node(self.at)
        char = self.text[self.at]
        if char in "{[":
            node.opener = char
            self.container(node)
        elif char in "\"'":
            self.quoted()
        else:
            self.bare()
        node.end = self.at
        return node

    def container(self, node: Node) -> None:
        self.at += 1
        self.skip()
        while self.text[self.at] not in "}]":
            if node.opener == "{":
                node.members.append(self.member())
            else:
                node.items.append(self.value())
            self.skip()
            comma = self.at if self.text[self.at] == "," else None
            node.commas.append(comma)
            if comma is not None:
                self.at += 1
                self.skip()
        self.at += 1

    def member(self) -> Member:
        start = self.at
        if self.text[start] in "\"'":
            self.quoted()
        else:
            self.bare()
        end = self.at
        self.skip()
        self.at += 1  # the colon
        self.skip()
        return Member(_key(self.text[start:end]), start, end, self.value())

    def quoted(self) -> None:
        quote = self.text[self.at]
        self.at += 1
        while self.text[self.at] != quote:
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1

    def bare(self) -> None:
        while self.at < len(self.text) and self.text[self.at] not in _BARE_ENDS:
            self.at += 1


def _key(raw: str) -> str:
    """A key's text, by the parser of record where it is more than a plain name."""
    if raw.isidentifier():
        return raw
    return str(decode(raw)) if raw[0] in "\"'" else str(next(iter(decode(f"{{{raw}:0}}"))))


def _reason(exc: Exception) -> str:
    """The parser's sentence, without the value that it has read so far."""
    first = str(exc.args[0]) if exc.args else "unknown"
    return first.replace("b'", "'")
