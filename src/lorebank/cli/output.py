"""What commands print: tables that fit the terminal, wrapped text, or JSON and nothing else.

Stored text is data that anyone may have written: before it reaches a terminal, every character
that could steer one is shown as an escape instead.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_JOINERS = "\u200c\u200d"
"""Joiners that scripts and emoji need; they steer nothing."""


def safe(text: str) -> str:
    """`text` with every control, bidirectional and format character but line breaks made visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe_char(char) for char in text)


def _safe_char(char: str) -> str:
    if char in "\n\t" or char in _JOINERS or char.isprintable():
        return char
    if unicodedata.category(char) == "Zs":
        return " "
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(value: Any) -> str:
    """A value as one line for a table cell; None is an empty cell, a list is joined by commas."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list | tuple):
        return ", ".join(one_line(item) for item in value)
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    return safe(" ".join(str(value).split()))


def when(value: Any) -> str:
    """A wire time as `2026-11-29 08:30` (UTC); empty for none."""
    return one_line(value)[:16].replace("T", " ")


def moment(value: Any) -> str:
    """A wire time to the second, as `2026-11-29 08:30:05` (UTC); empty for none."""
    return one_line(value)[:19].replace("T", " ")


def size(count: int) -> str:
    """A number of bytes for people."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{count} B"


@dataclass(frozen=True, slots=True)
class Column:
    """A table's column. `whole` keeps its values unbroken; `right` aligns numbers; `least` is its smallest
    width in characters, 0 for none."""

    title: str
    whole: bool = False
    right: bool = False
    least: int = 0


class Printer:
    """Writes a command's result to stdout and remarks to stderr."""

    def __init__(self, *, as_json: bool, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.as_json = as_json
        self._out = out or sys.stdout
        self._err = err or sys.stderr

    def result(self, value: Any, human: Callable[[], None]) -> None:
        """`value` as JSON with `--json`, otherwise what `human` prints."""
        if self.as_json:
            print(json.dumps(value, ensure_ascii=True, indent=2), file=self._out)
        else:
            human()

    def say(self, text: str = "", *, indent: int = 0) -> None:
        """A paragraph for people, wrapped at the terminal's width, each line `indent` columns in."""
        from rich.padding import Padding

        self._console(self._out).print(Padding(_text(text), (0, 0, 0, indent), expand=False))

    def raw(self, text: str) -> None:
        """A line that must stay whole, for example a key or a path."""
        print(safe(text), file=self._out)

    def note(self, text: str) -> None:
        """A remark on stderr; nothing with `--json`."""
        if not self.as_json:
            print(safe(text), file=self._err)

    def warn(self, text: str) -> None:
        """A doubt about what was done, on stderr: a line, or an event with `--json`."""
        if self.as_json:
            self.event("warning", message=text)
        else:
            self.note(f"Warning: {text}")

    def event(self, name: str, **values: Any) -> None:
        """A JSON line on stderr with `--json`, otherwise a plain line."""
        if self.as_json:
            line = json.dumps({"event": name, **values}, ensure_ascii=True)
        else:
            told = [f"{key} {one_line(value)}" for key, value in values.items() if value is not None]
            line = safe(": ".join([name, ", ".join(told)]) if told else name)
        print(line, file=self._err, flush=True)

    def table(
        self, columns: Sequence[Column], rows: Iterable[Sequence[Any]], empty: str, *, indent: int = 0
    ) -> None:
        """A table of one-line cells, or the sentence `empty` when there is no row."""
        from rich import box
        from rich.padding import Padding
        from rich.table import Table

        made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
        for column in columns:
            justify: Literal["right", "left"] = "right" if column.right else "left"
            made.add_column(
                column.title,
                no_wrap=column.whole,
                justify=justify,
                overflow="fold",
                min_width=column.least or None,
            )
        for row in rows:
            made.add_row(*(_text(one_line(cell)) for cell in row))
        if made.row_count:
            self._console(self._out).print(Padding(made, (0, 0, 0, indent), expand=False))
        else:
            self.say(empty)

    def pairs(self, values: Iterable[tuple[str, Any]]) -> None:
        """Names with their values, one a line; values that are None or empty text are left out."""
        from rich.table import Table

        made = Table.grid(padding=(0, 2))
        made.add_column(no_wrap=True, style="bold")
        made.add_column(overflow="fold")
        for name, value in values:
            if value is not None and value != "":
                made.add_row(name, _text(one_line(value)))
        self._console(self._out).print(made)

    def _console(self, stream: TextIO) -> Console:
        from lorebank.cli.terminal import Terminal

        return Terminal(stream)


def _text(text: str) -> Any:
    from rich.text import Text

    return Text(safe(text), overflow="fold")
