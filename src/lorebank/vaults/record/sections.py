"""One section of a Markdown body: found by its heading, exchanged without touching the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lorebank.errors import InvalidInput

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?![^ \t])")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_SHOWN: Final = 30


@dataclass(frozen=True, slots=True)
class Section:
    """A section: the heading with those above it, its level, its line, and the lines of its text (from 0,
    the end not included). It goes on to the next heading that is not below it."""

    path: tuple[str, ...]
    level: int
    line: int
    start: int
    end: int


def sections(body: str) -> list[Section]:
    """All sections by `#` headings (CommonMark ATX); what looks like one in a code fence is none."""
    lines = body.split("\n")
    heads = list(_headings(lines))
    ends = _ends(heads, len(lines))
    found: list[Section] = []
    above: list[tuple[int, str]] = []
    for (line, level, title), end in zip(heads, ends, strict=True):
        above = [one for one in above if one[0] < level]
        path = (*(one[1] for one in above), title)
        found.append(Section(path, level, line, line + 1, end))
        above.append((level, title))
    return found


def _ends(heads: Sequence[tuple[int, int, str]], last: int) -> list[int]:
    """Where each section ends: at the next heading that is not below it. One walk: a page may have as many
    headings as lines."""
    ends, open_ones = [last] * len(heads), list[int]()
    for place, (line, level, _) in enumerate(heads):
        while open_ones and heads[open_ones[-1]][1] >= level:
            ends[open_ones.pop()] = line
        open_ones.append(place)
    return ends


def section_of(body: str, heading: str | Sequence[str]) -> Section:
    """The one section with that heading; headings above it, outermost first, make it exact.

    `InvalidInput` names the headings that exist when there is none, or more than one.
    """
    wanted = tuple(_folded(part) for part in ([heading] if isinstance(heading, str) else heading))
    if not wanted or not all(wanted):
        raise InvalidInput("section.heading must name a heading")
    every = sections(body)
    folded = {title: _folded(title) for title in {part for one in every for part in one.path}}
    found = [one for one in every if tuple(folded[part] for part in one.path[-len(wanted) :]) == wanted]
    if len(found) == 1:
        return found[0]
    what = "no section has this heading" if not found else f"{len(found)} sections have this heading"
    raise InvalidInput(f"section.heading: {what}; {_listed(found or every)}")


def replace_section(body: str, heading: str | Sequence[str], text: str) -> str:
    """The body with another text in one section, its subsections included; the heading stays.

    The new text may have headings below the section's own level, no others: they would end it.
    """
    section = section_of(body, heading)
    new = text.replace("\r\n", "\n").strip("\n")
    for _, level, title in _headings(new.split("\n")):
        if level <= section.level:
            raise InvalidInput(
                f"section.text: the heading {title[:80]!r} would end the section; give it "
                f"{section.level + 1} or more '#'"
            )
    if _open_fence(new):
        raise InvalidInput("section.text: a code fence is opened and not closed")
    lines = body.split("\n")
    last = section.end == len(lines)
    middle = ["", *new.split("\n")] if new else []
    if not last or lines[-1] == "":
        middle.append("")
    return "\n".join([*lines[: section.start], *middle, *lines[section.end :]])


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    fence = ""
    for number, line in enumerate(lines):
        fence, inside = _fenced(fence, line)
        if inside:
            continue
        found = _HEADING.match(line)
        if found is not None:
            yield number, len(found[1]), _title(line[found.end() :])


def _title(text: str) -> str:
    """A heading's text without the `#` that may close it."""
    text = text.rstrip(" \t")
    bare = text.rstrip("#")
    return (text if bare and bare[-1] not in " \t" else bare).strip()


def _fenced(fence: str, line: str) -> tuple[str, bool]:
    """(the open code fence after the line, whether the line belongs to one)."""
    found = _FENCE.fullmatch(line)
    if not fence:
        opens = found is not None and not (found[1][0] == "`" and "`" in found[2])
        return (found[1], True) if opens and found is not None else ("", False)
    closes = found is not None and found[1].startswith(fence) and not found[2].strip()
    return ("", True) if closes else (fence, True)


def _open_fence(text: str) -> bool:
    fence = ""
    for line in text.split("\n"):
        fence, _ = _fenced(fence, line)
    return bool(fence)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _listed(found: Sequence[Section]) -> str:
    if not found:
        return "the page has no headings"
    names = "; ".join(" > ".join(one.path)[:120] for one in found[:_SHOWN])
    return f"there are: {names}" + ("; …" if len(found) > _SHOWN else "")
