"""Log lines of the parts that run inside a command: warnings, on stderr, safe to show."""

from __future__ import annotations

import json
import logging

from lorebank.cli.output import safe


class Lines(logging.Formatter):
    """One line a record; with JSON, one object a line. A traceback stays out of the JSON."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        level, message = record.levelname.lower(), record.getMessage()
        if self._as_json:
            return json.dumps({"event": "log", "level": level, "message": message}, ensure_ascii=True)
        line = safe(f"lorebank: {level}: {message}")
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def to_stderr(*, as_json: bool) -> None:
    """Send warnings and errors to stderr, once."""
    root = logging.getLogger()
    if any(isinstance(handler.formatter, Lines) for handler in root.handlers):
        return
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(Lines(as_json=as_json))
    root.addHandler(handler)
