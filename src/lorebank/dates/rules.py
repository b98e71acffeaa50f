"""What a rule is, and the table that finds the rules for a first word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from lorebank.dates.period import Period

# The second argument is the anchor; rules that are not `relative` read only its zone.
Build = Callable[[re.Match[str], datetime], Period | None]

DIGIT = "#"
NO_ANCHOR = datetime(2000, 1, 1, tzinfo=UTC)


class LazyPattern:
    """A pattern that is compiled on first use, so that start-up does not pay for languages nobody writes."""

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    def get(self) -> re.Pattern[str]:
        """The compiled pattern."""
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern that is tried where one of its first words stands (`DIGIT` stands for any number).

    `build` returns None when the match means no date after all. It may raise ValueError or OverflowError
    for a date that does not exist.
    """

    pattern: LazyPattern
    build: Build
    relative: bool


Index = dict[str, tuple[Rule, ...]]


def index(*parts: Iterable[tuple[Iterable[str], Rule]]) -> Index:
    """First word -> rules to try there."""
    table: dict[str, list[Rule]] = {}
    for part in parts:
        for keys, rule in part:
            for key in keys:
                table.setdefault(key, []).append(rule)
    return {key: tuple(rules) for key, rules in table.items()}


def fixed(keys: Iterable[str], pattern: str, build: Build) -> tuple[tuple[str, ...], Rule]:
    """The first words and the rule of a date that needs no anchor."""
    return tuple(keys), Rule(_whole(pattern), build, relative=False)


def anchored(keys: Iterable[str], pattern: str, build: Build) -> tuple[tuple[str, ...], Rule]:
    """The first words and the rule of a date that is read against the anchor."""
    return tuple(keys), Rule(_whole(pattern), build, relative=True)


def _whole(pattern: str) -> LazyPattern:
    """A case-blind pattern that must not end inside a word."""
    return LazyPattern(rf"(?:{pattern})(?!\w)", re.IGNORECASE)


_WORD_BEFORE = re.compile(r"([^\W\d_]+)[ \t,]{1,3}$")


def word_before(text: str, position: int) -> str:
    """The word that ends right before `position`, in lower case, or an empty text."""
    found = _WORD_BEFORE.search(text, max(0, position - 16), position)
    return found[1].lower() if found else ""
