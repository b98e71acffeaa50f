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

from lorebank.vaults.evidence.sieve import Sieve

BLOCK: Final = 1 << 20
MAX_LINES: Final = 20
"""Lines that are read back for one citation (specs, Memory-provider facts)."""
MAX_EXCERPT_BYTES: Final = 16_384
"""Bytes that are read back for one citation; one line of a source may be as long as the source."""
_BOM: Final = b"\xef\xbb\xbf"
_MANY: Final = 24
"""Quotes that are quicker looked for one by one in a block than by a sieve first."""


def normal(text: str) -> bytes:
    """A quote in the form in which it is looked for. Line ends around it are not part of it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").encode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Passage:
    """What one citation points to, while it is looked for.

    `lines` is inclusive, None the whole source. Afterwards `found` holds the lines of the first place of the
    quote inside them, and `excerpt` up to 20 lines from the first line on (only when `lines` are given, and
    `keep` is).
    """

    lines: tuple[int, int] | None
    quote: bytes | None
    keep: bool = True
    found: tuple[int, int] | None = None
    excerpt: bytearray = field(default_factory=bytearray)
    cut: bool = False
    _kept_lines: int = 0

    @property
    def looking(self) -> bool:
        """Whether a quote is still to be found."""
        return bool(self.quote) and self.found is None

    def done(self, line: int) -> bool:
        """Whether nothing from `line` on can change it."""
        if self.lines is not None:
            return line > self.lines[1]
        return not self.looking

    def look(self, block: Block, firsts: dict[bytes, int]) -> None:
        """Look for the quote in the part of a block that is inside the lines. `firsts` remembers where in
        the block quotes stand first: many citations may have the same one."""
        quote = self.quote or b""
        if (first := firsts.get(quote)) is None:
            first = firsts[quote] = block.text.find(quote)
        if first < 0:
            return
        begin, end = block.span(self.lines)
        place = block.text.find(quote, begin, end) if first < begin else first
        if 0 <= place <= end - len(quote):
            at = block.line_at(place)
            self.found = (at, at + quote.count(b"\n"))

    def take(self, block: Block) -> None:
        """Keep what of a block is inside the lines, as long as there is room."""
        if not self.keep or self.cut or not block.meets(self.lines):
            return
        begin, end = block.span(self.lines)
        # No more of the block is needed: many citations may reach over all of a source.
        self._keep(block.text[begin : min(end, begin + MAX_EXCERPT_BYTES + 1)])

    def clear(self) -> None:
        """Let go of what was read."""
        self.excerpt = bytearray()

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


class Block:
    """A piece of a source with LF as its only line end; `line` is the number of the line it begins in,
    `last` of the line it ends in."""

    def __init__(self, text: bytes, line: int) -> None:
        self.text, self.line = text, line
        self.last = line + text.count(b"\n")
        self._ends: npt.NDArray[np.intp] | None = None

    def meets(self, lines: tuple[int, int] | None) -> bool:
        """Whether any of these lines is in it."""
        return lines is None or (self.last >= lines[0] and self.line <= lines[1])

    def span(self, lines: tuple[int, int] | None) -> tuple[int, int]:
        """Where these lines begin and end in it, if it `meets` them."""
        if lines is None:
            return 0, len(self.text)
        begin = 0 if self.line >= lines[0] else self._end_of(lines[0] - 1) + 1
        return begin, len(self.text) if self.last <= lines[1] else self._end_of(lines[1])

    def line_at(self, place: int) -> int:
        """The number of the line that a place is in."""
        return self.line + int(np.searchsorted(self._all_ends(), place))

    def _end_of(self, line: int) -> int:
        return int(self._all_ends()[line - self.line])

    def _all_ends(self) -> npt.NDArray[np.intp]:
        if self._ends is None:
            self._ends = np.flatnonzero(np.frombuffer(self.text, np.uint8) == 10)
        return self._ends


class Search:
    """Looks for the quotes of all passages, block by block."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._open = [one for one in passages if one.looking]
        quotes = {one.quote for one in self._open if one.quote}
        self._sieve = Sieve(quotes) if len(quotes) > _MANY else None
        self._reach = max(map(len, quotes), default=1) - 1
        self._before = Block(b"", 1)

    def feed(self, block: Block) -> None:
        """The next block of the source. The end of the ones before is looked at with it, as far back as a
        quote can reach."""
        if not self._open:
            return
        if self._before.text:
            block = Block(self._before.text + block.text, self._before.line)
        here = [one for one in self._open if block.meets(one.lines)]
        likely: set[bytes] | None = None
        if self._sieve is not None and len(here) > _MANY:
            likely = self._sieve.likely(block.text)
        firsts: dict[bytes, int] = {}
        for one in here:
            if likely is None or one.quote in likely:
                one.look(block, firsts)
        self._open = [one for one in self._open if one.looking and not one.done(block.last)]
        rest = max(0, len(block.text) - self._reach)
        self._before = Block(block.text[rest:], block.line_at(rest))

    def clear(self) -> None:
        """Let go of what was read."""
        self._open, self._before = [], Block(b"", 1)


class Scan:
    """A pass over one source for some passages. Use as a context manager: leaving lets go of all text."""

    def __init__(self, passages: Sequence[Passage], *, whole: bool) -> None:
        self.passages = passages
        self.size, self.lines = 0, 0
        self._whole, self._search = whole, Search(passages)
        self._hash = hashlib.sha256()

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        for passage in self.passages:
            passage.clear()
        self._search.clear()

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
        kept = [passage for passage in self.passages if passage.keep and passage.lines is not None]
        for text in self._normal_blocks(file):
            if text:
                block = Block(text, line)
                self._search.feed(block)
                for passage in kept:
                    passage.take(block)
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
