"""A record file's outer form: bytes to text, and where the frontmatter ends and the body begins.

Nothing here knows YAML. Line ends may be LF, CRLF or CR, a byte order mark is skipped; both are put back by
whoever edits the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lorebank.vaults.record.values import MAX_RECORD_BYTES

BOM: Final = "\ufeff"
_FENCE = re.compile(r"---[ \t]*(\r\n|\n|\r|\Z)")
_NEXT_FENCE = re.compile(r"(?:\r\n|\n|\r)(---[ \t]*(?:\r\n|\n|\r|\Z))")
Where = tuple[str | int, ...]
"""The place of a value: keys and list positions from the top."""
LINE_END = re.compile(r"\r\n|\n|\r")


class Broken(Exception):
    """A file that cannot be read as a record: the line (from 1, 0: the whole file), rule, and a sentence."""

    def __init__(self, line: int, rule: str, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.rule = rule
        self.message = message


@dataclass(frozen=True, slots=True)
class Frame:
    """A whole file as text without its byte order mark. `start` and `end` are the offsets of the YAML
    between the two fences; the closing fence begins at `end` and the rest of the file at `rest`."""

    text: str
    bom: bool
    start: int
    end: int
    rest: int
    eol: str

    @property
    def body(self) -> str:
        """The Markdown body: line ends as LF, without the empty lines around it."""
        return LINE_END.sub("\n", self.text[self.rest :]).strip("\n")

    def line_of(self, offset: int) -> int:
        """The line (from 1) of an offset into `text`."""
        if "\r" not in self.text:
            return self.text.count("\n", 0, offset) + 1
        return sum(1 for _ in LINE_END.finditer(self.text, 0, offset)) + 1


def decoded(data: bytes) -> tuple[str, bool]:
    """The file as text without its byte order mark, and whether there was one. `Broken` for other bytes."""
    if len(data) > MAX_RECORD_BYTES:
        raise Broken(0, "record.size", f"the file is larger than {MAX_RECORD_BYTES} bytes; make it shorter")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise Broken(line, "record.encoding", "not UTF-8 here; save the file as UTF-8") from exc
    return (text[1:], True) if text.startswith(BOM) else (text, False)


def framed(data: bytes) -> Frame:
    """Split a file at its fences. `Broken` when it is no UTF-8, too large, or has no closed frontmatter."""
    text, bom = decoded(data)
    opening = _FENCE.match(text)
    if opening is None:
        raise Broken(1, "frontmatter.missing", "a record begins with a line '---' and its frontmatter")
    start = opening.end()
    # The line end of the opening fence may be the one in front of the closing fence.
    closing = _NEXT_FENCE.search(text, opening.end(1) - len(opening.group(1)))
    if closing is None:
        raise Broken(1, "frontmatter.open", "the frontmatter is not closed; end it with a line '---'")
    return Frame(text, bom, start, max(start, closing.start(1)), closing.end(1), opening.group(1) or "\n")
