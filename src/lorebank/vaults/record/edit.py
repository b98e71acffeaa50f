"""Change some keys of a record, or its body, and keep every other byte: comments, order, quoting, unknown
keys, line ends, byte order mark.

Only the lines of the changed top-level keys are written anew. The result is read again and compared with what
it must say, so that an odd file can never be changed in its meaning.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lorebank.errors import InvalidInput
from lorebank.vaults.record.frame import BOM, LINE_END, Broken, Frame, framed
from lorebank.vaults.record.front import front_of
from lorebank.vaults.record.render import encoded, entry_lines

if TYPE_CHECKING:
    from lorebank.vaults.record.yaml_events import Loaded


class _Remove:
    def __repr__(self) -> str:
        return "REMOVE"


REMOVE: Final = _Remove()
"""As the value of a change: take the key out."""


@dataclass(frozen=True, slots=True)
class _Patch:
    """Replace the text between two offsets of the file."""

    start: int
    end: int
    text: str


def edit_record(data: bytes, changes: Mapping[str, Any], body: str | None = None) -> bytes:
    """The file with `changes` made to its frontmatter, and with another body unless that is None.

    A key that is not there yet is added at the end. Raises `InvalidInput` for a file that is no record, or
    whose frontmatter is not written as one key a line (then a person must bring it into that form first).
    """
    from lorebank.vaults.record.yaml_events import load  # the YAML library only once it is needed

    try:
        frame = framed(data)
        loaded = load(_yaml(frame))
        wanted = _changed(loaded.value, changes)
        for swallow in (False, True):
            text = _apply(frame, list(_patches(frame, loaded, changes, swallow)))
            if body is not None:
                text = _with_body(text, framed(encoded(text)), body)
            result = encoded((BOM if frame.bom else "") + text)
            if _meaning(result) == wanted:
                return result
    except Broken as exc:
        raise InvalidInput(f"the record cannot be changed as it is: line {exc.line}: {exc.message}") from exc
    raise _odd(1)


def _yaml(frame: Frame) -> str:
    return frame.text[frame.start : frame.end]


def _meaning(data: bytes) -> Mapping[str, Any] | None:
    try:
        return front_of(framed(data)).value
    except Broken:
        return None


def _changed(value: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: item for key, item in (*value.items(), *changes.items()) if key not in changes}
    return kept | {key: _plain(item) for key, item in changes.items() if item is not REMOVE}


def _plain(value: Any) -> Any:
    """Tuples and mappings as YAML gives them back."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _patches(frame: Frame, loaded: Loaded, changes: Mapping[str, Any], swallow: bool) -> Iterator[_Patch]:
    """The patches in any order. `swallow` takes the empty lines behind a removed key too: behind a block
    that keeps its trailing lines they would become part of that."""
    yaml = _yaml(frame)
    if loaded.flow:
        raise _odd(frame.line_of(frame.start))
    lines = _Lines(yaml)
    indent = ""
    for key, span in loaded.spans.items():
        indent = yaml[lines.begin(span.start) : span.start]
        if key not in changes:
            continue
        colon = yaml.find(":", span.key_end)
        if indent.strip(" ") or lines.begin(colon) != lines.begin(span.start):
            raise _odd(frame.line_of(frame.start + span.start))
        place = _Place(span.start, span.key_end, max(span.end, colon + 1), len(indent))
        yield (
            _removal(lines, place, swallow)
            if changes[key] is REMOVE
            else _new(lines, place, key, changes[key], frame.eol)
        )
    added = [key for key, value in changes.items() if key not in loaded.spans and value is not REMOVE]
    new = [line for key in added for line in entry_lines(key, changes[key], len(indent))]
    yield _Patch(len(yaml), len(yaml), "".join(f"{line}{frame.eol}" for line in new))


@dataclass(frozen=True, slots=True)
class _Place:
    """Offsets of a key, and of the end of its value."""

    start: int
    key_end: int
    end: int
    indent: int


def _removal(lines: _Lines, place: _Place, swallow: bool) -> _Patch:
    after = lines.after(lines.content_end(place.end, place.indent))
    return _Patch(lines.begin(place.start), lines.blank_end(after) if swallow else after, "")


def _new(lines: _Lines, place: _Place, key: str, value: Any, eol: str) -> _Patch:
    """The lines of a key with another value; a comment behind a value of one line stays behind it."""
    first = lines.begin(place.start)
    new = entry_lines(key, value, place.indent, lines.text[place.start : place.key_end])
    if len(new) == 1 and lines.begin(place.end - 1) == first:
        return _Patch(first, place.end, new[0])
    return _Patch(first, lines.content_end(place.end, place.indent), eol.join(new))


class _Lines:
    """The lines of a text, by offset."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(found.end() for found in LINE_END.finditer(text))]

    def begin(self, offset: int) -> int:
        """Where the line of `offset` begins."""
        return self.starts[bisect_right(self.starts, offset) - 1]

    def after(self, offset: int) -> int:
        """Where the next line begins; the end of the text behind the last one."""
        found = LINE_END.search(self.text, offset)
        return len(self.text) if found is None else found.end()

    def line_end(self, offset: int) -> int:
        """The end of the line of `offset`, before its line end."""
        found = LINE_END.search(self.text, offset)
        return len(self.text) if found is None else found.start()

    def content_end(self, end: int, indent: int) -> int:
        """Where the lines of a value end whose content ends at `end`: with that line, or with the last
        comment below it that is indented more than its key."""
        last = self.line_end(max(len(self.text[:end].rstrip()), 1) - 1)
        place = last
        while place < len(self.text):
            begin = self.after(place)
            place = self.line_end(begin)
            line = self.text[begin:place]
            if line.strip() and not (line.lstrip().startswith("#") and line[: indent + 1].isspace()):
                break
            if line.strip():
                last = place
            if begin >= len(self.text):
                break
        return last

    def blank_end(self, start: int) -> int:
        """Where the empty lines from `start` end."""
        place = start
        while place < len(self.text) and not self.text[place : self.line_end(place)].strip():
            place = self.after(place)
        return place


def _apply(frame: Frame, patches: list[_Patch]) -> str:
    text = frame.text
    for patch in sorted(patches, key=lambda one: one.start, reverse=True):
        start, end = frame.start + patch.start, frame.start + patch.end
        text = text[:start] + patch.text + text[end:]
    return text


def _with_body(text: str, frame: Frame, body: str) -> str:
    """The body exchanged, in the file's line ends, with the empty lines around it as they were."""
    rest = text[frame.rest :]
    inner = rest.strip("\r\n")
    head = rest[: len(rest) - len(rest.lstrip("\r\n"))] if inner else frame.eol
    tail = rest[len(rest.rstrip("\r\n")) :] if inner else frame.eol
    new = LINE_END.sub("\n", body).strip("\n").replace("\n", frame.eol)
    start = text[: frame.rest]
    if not start.endswith(("\n", "\r")):
        start += frame.eol
    return start + (head + new + tail if new else "")


def _odd(line: int) -> InvalidInput:
    return InvalidInput(
        f"the frontmatter at line {line} is written in a way that cannot be changed line by line; "
        "write each key as 'key: value' on its own line"
    )
