"""The console that tables and paragraphs are printed on."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console

PLAIN_WIDTH = 80


class Terminal(Console):
    """A console that adds nothing to what it is given, 80 columns wide where there is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        width = None if stream.isatty() else PLAIN_WIDTH
        super().__init__(file=stream, width=width, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """A reader that went away is no failure; the command's end deals with it."""
        raise BrokenPipeError
