"""Adding to and taking from objects and lists of a JSON5 text, in the layout that is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lorebank.vaults.assignments.json5 import Node

_BLANK = " \t"


@dataclass(frozen=True, slots=True)
class Splice:
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str = ""


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """The text after splices that do not overlap; no two begin at the same place."""
    for one in sorted(splices, key=lambda splice: splice.start, reverse=True):
        text = text[: one.start] + one.new + text[one.end :]
    return text


def inserted(text: str, node: Node, bodies: Sequence[str]) -> list[Splice]:
    """Members of an object or items of a list, at its end."""
    last = _last(node)
    if last is None:
        return _first_ones(text, node, bodies)
    comma, close = node.commas[-1], node.end - 1
    line = _line_start(text, close)
    own_lines = not text[line:close].strip(_BLANK) and _is_first(text, last[0]) and line > last[1]
    if own_lines:
        indent, newline = text[_line_start(text, last[0]) : last[0]], _newline(text)
        joined = f",{newline}{indent}".join(bodies)
        ending = "," if comma is not None else ""
        splices = [Splice(line, line, f"{indent}{joined}{ending}{newline}")]
        return splices if comma is not None else [Splice(last[1], last[1], ","), *splices]
    if comma is None:
        return [Splice(last[1], last[1], "".join(f", {body}" for body in bodies))]
    return [Splice(comma + 1, comma + 1, "".join(f" {body}," for body in bodies))]


def removed(text: str, node: Node, which: set[int]) -> list[Splice]:
    """Items of a list go, each with one comma, and with its line if nothing else is on it. Comments stay."""
    splices = []
    for i in sorted(which):
        item, comma = node.items[i], node.commas[i]
        if comma is not None and text[item.end : comma].strip():
            splices += [Splice(item.start, item.end), Splice(comma, comma + 1)]  # a comment between them
        else:
            splices.append(_widened(text, item.start, item.end if comma is None else comma + 1))
    last = len(node.items) - 1
    if last in which and node.commas[last] is None:
        kept = max((i for i in range(last) if i not in which), default=None)
        if kept is not None and (comma := node.commas[kept]) is not None:
            end = _past(text, comma + 1)
            splices.append(Splice(comma, end if end == node.items[kept + 1].start else comma + 1))
    return splices


def _widened(text: str, start: int, end: int) -> Splice:
    """The span with its whole line when it is alone there, otherwise with the blanks behind it."""
    line, after = _line_start(text, start), _past(text, end)
    if not text[line:start].strip(_BLANK) and line > 0:
        for newline in ("\r\n", "\n"):
            if text.startswith(newline, after):
                return Splice(line, after + len(newline))
    closes = text[after : after + 1] in ("]", "\r", "\n")
    return Splice(start, end if closes else after)


def _first_ones(text: str, node: Node, bodies: Sequence[str]) -> list[Splice]:
    """Into an empty object or list: in one line, or below each other where an object stands in many lines."""
    inner = text[node.start + 1 : node.end - 1]
    at = node.start + 1
    if node.opener == "[" or "\n" not in text:
        pad = " " if node.opener == "{" and not inner else ""
        return [Splice(at, at, pad + ", ".join(bodies) + pad)]
    line = text[_line_start(text, node.start) : node.start]
    indent, newline = line[: len(line) - len(line.lstrip(_BLANK))], _newline(text)
    unit = "\t" if "\t" in indent or f"{newline}\t" in text else "  "
    joined = "".join(f"{newline}{indent}{unit}{body}," for body in bodies)
    if text[text.find("{") + 1 :].lstrip()[:1] == '"':
        joined = joined[:-1]  # such a file is mostly plain JSON
    return [Splice(at, at, joined if "\n" in inner else f"{joined}{newline}{indent}")]


def _last(node: Node) -> tuple[int, int] | None:
    if node.opener == "{":
        return (node.members[-1].start, node.members[-1].value.end) if node.members else None
    return (node.items[-1].start, node.items[-1].end) if node.items else None


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _is_first(text: str, at: int) -> bool:
    return not text[_line_start(text, at) : at].strip(_BLANK)


def _past(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
