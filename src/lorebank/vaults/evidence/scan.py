"""One pass over a retained source: its hash, and what citations say of its lines.

Blocks of 1 MiB; memory does not grow with the source (statement 1.8.77). Lines are counted as editors do:
they end at LF, CR LF or CR, the last one with or without; a byte order mark is no text. A quote is compared
byte for byte in UTF-8 once line ends are LF on both sides: spaces, case and Unicode form count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

BLOCK: Final = 1 << 20
MAX_LINES: Final = 20
"""Lines that are read back for one citation (specs, Memory-provider facts)."""
MAX_EXCERPT_BYTES: Final = 16_384
"""Bytes that are read back for one citation; one line of a source may be as long as the source."""
_BOM: Final = b"\xef\xbb\xbf"


def normal(text: str) -> bytes:
    """A quote in the form in which it is looked for. Line ends around it are not part of it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").encode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Passage:
    """What one citation points to, while it is looked for.

    `lines` is inclusive, None the whole source. Afterwards `found` holds the lines of the first place of the
    quote inside them, and `excerpt` up to 20 lines from the first line on (only when `lines` are given).
    """

    lines: tuple[int, int] | None
    quote: bytes | None
    found: tuple[int, int] | None = None
    excerpt: bytearray = field(default_factory=bytearray)
    cut: bool = False
    _tail: bytes = b""
    _tail_line: int = 0
    _kept_lines: int = 0

    def done(self, line: int) -> bool:
        """Whether nothing from `line` on can change it."""
        if self.lines is not None:
            return line > self.lines[1]
        return self.quote is None or self.found is not None

    def feed(self, block: _Block) -> None:
        """Take in the part of a block that is inside the lines."""
        first, last = self.lines or (1, 1 << 62)
        looking = self.quote is not None and self.found is None
        keeping = self.lines is not None and not self.cut
        if block.last < first or block.line > last or not (looking or keeping):
            return
        begin = 0 if block.line >= first else block.end_of(first - 1) + 1
        end = len(block.text) if block.last <= last else block.end_of(last)
        # What is only read back needs no more of the block: many citations may reach over all of a source.
        piece = block.text[begin : end if looking else min(end, begin + MAX_EXCERPT_BYTES + 1)]
        self._look(piece, max(block.line, first))
        if keeping:
            self._keep(piece)

    def clear(self) -> None:
        """Let go of what was read."""
        self.excerpt, self._tail = bytearray(), b""

    def _look(self, piece: bytes, line: int) -> None:
        quote = self.quote
        if quote is None or self.found is not None:
            return
        if not self._tail:
            self._tail_line = line
        text = self._tail + piece
        place = text.find(quote)
        if place >= 0:
            at = self._tail_line + text.count(b"\n", 0, place)
            self.found, self._tail = (at, at + quote.count(b"\n")), b""
            return
        rest = max(0, len(text) - len(quote) + 1)
        self._tail_line += text.count(b"\n", 0, rest)
        self._tail = text[rest:]

    def _keep(self, piece: bytes) -> None:
        piece = piece[: MAX_EXCERPT_BYTES - len(self.excerpt) + 1]
        ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == 10)
        room = MAX_LINES - self._kept_lines
        if len(ends) >= room:
            piece, self.cut = piece[: int(ends[room - 1])], True
        self.excerpt += piece
        self._kept_lines += min(len(ends), room)
        if len(self.excerpt) > MAX_EXCERPT_BYTES:
            del self.excerpt[MAX_EXCERPT_BYTES:]
            self.cut = True


class _Block:
    """A piece of a source with LF as its only line end; `line` is the number of the line it begins in,
    `last` of the line it ends in."""

    def __init__(self, text: bytes, line: int) -> None:
        self.text, self.line = text, line
        self.last = line + text.count(b"\n")
        self._ends: npt.NDArray[np.intp] | None = None

    def end_of(self, line: int) -> int:
        """Where the LF of a line that ends in this block stands."""
        if self._ends is None:
            self._ends = np.flatnonzero(np.frombuffer(self.text, np.uint8) == 10)
        return int(self._ends[line - self.line])


class Scan:
    """A pass over one source for some passages. Use as a context manager: leaving lets go of all text."""

    def __init__(self, passages: Sequence[Passage], *, whole: bool) -> None:
        self.passages = passages
        self.size, self.lines = 0, 0
        self._whole = whole
        self._hash = hashlib.sha256()

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        for passage in self.passages:
            passage.clear()

    @property
    def sha256(self) -> str:
        """Of what was read: of all of it after a `whole` scan."""
        return self._hash.hexdigest()

    def run(self, file: BinaryIO) -> None:
        """Read `file` from its beginning: to its end when `whole`, else until every passage is settled.

        `lines` is the number of lines, of those read when the scan ended early.
        """
        file.seek(0)
        line, ends_open = 1, False
        for text in self._normal_blocks(file):
            if text:
                block = _Block(text, line)
                for passage in self.passages:
                    passage.feed(block)
                line, ends_open = block.last, not text.endswith(b"\n")
            if not self._whole and all(passage.done(line) for passage in self.passages):
                break
        self.lines = line if ends_open else line - 1

    def _normal_blocks(self, file: BinaryIO) -> Iterator[bytes]:
        held = b""
        while block := file.read(BLOCK):
            if self._whole:
                self._hash.update(block)
            text = held + (block.removeprefix(_BOM) if self.size == 0 else block)
            self.size += len(block)
            held = b"\r" if text.endswith(b"\r") else b""
            if held:
                text = text[:-1]
            yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
        if held:
            yield b"\n"
