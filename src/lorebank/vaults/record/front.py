"""Frontmatter with its lines: the fast reader where it can, the complete one otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lorebank.vaults.record.canonical import NotCanonical, load_canonical
from lorebank.vaults.record.frame import Broken, Frame, Where
from lorebank.vaults.record.values import MAX_DIAGNOSTICS, Finding


@dataclass(frozen=True, slots=True)
class Front:
    """A frontmatter's mapping. `places` are lines counted from 0 at the first line of the YAML (by the fast
    reader), or offsets into it (by the complete one)."""

    frame: Frame
    value: Mapping[str, Any]
    places: Mapping[Where, int]
    are_lines: bool

    def line(self, *where: str | int) -> int:
        """The line of a value in the file; of what it stands in when it is not there itself; else 1."""
        for end in range(len(where), 0, -1):
            place = self.places.get(where[:end])
            if place is not None:
                return place + 2 if self.are_lines else self.frame.line_of(self.frame.start + place)
        return 1


def front_of(frame: Frame) -> Front:
    """Read it. `Broken` with the line in the file."""
    yaml = frame.text[frame.start : frame.end]
    if frame.eol == "\n":
        try:
            value, lines = load_canonical(yaml if yaml.endswith("\n") else yaml + "\n")
            return Front(frame, value, lines, True)
        except NotCanonical:
            pass
    from lorebank.vaults.record.yaml_events import load  # the YAML library only once it is needed

    try:
        loaded = load(yaml)
    except Broken as exc:
        line = frame.line_of(min(frame.start + exc.line, len(frame.text)))
        raise Broken(line, exc.rule, exc.message) from exc
    return Front(frame, loaded.value, loaded.offsets, False)


class Notes:
    """Collects the findings of one file: one more than an answer may hold, the last one saying so."""

    def __init__(self, path: str, front: Front) -> None:
        self.path = path
        self.front = front
        self.found: list[Finding] = []

    def add(self, where: Where, rule: str, message: str) -> None:
        """One more, at the line of `where`."""
        if len(self.found) > MAX_DIAGNOSTICS:
            return
        if len(self.found) == MAX_DIAGNOSTICS:
            rule, message = "record.more", "more is wrong from here on; mend what is named first"
        self.found.append(Finding(self.path, self.front.line(*where), rule, message))
