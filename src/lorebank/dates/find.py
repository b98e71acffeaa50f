"""`find_dates`: walk the words of a text once and try the rules that can begin there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from lorebank.dates import absolute, english, latin, nested
from lorebank.dates.period import Period
from lorebank.dates.rules import DIGIT, NO_ANCHOR, Index, Rule, index, word_before
from lorebank.dates.scripts import RULES_BY_SCRIPT, SCRIPTS
from lorebank.dates.span import Bound, DateSpan

_INDEX: Index = index(absolute.NUMERIC, absolute.NAMED, english.RULES, latin.RULES)
_WORD = re.compile(r"[^\W_]+")
_NUMBER_INSIDE = re.compile(r"[\d$€£¥#][./:,-]?$|[$€£¥#_\\/-]$")
_BOUNDS: dict[str, Bound] = {
    "since": "since",
    "seit": "since",
    "from": "since",
    "until": "until",
    "till": "until",
    "bis": "until",
    "before": "before",
    "vor": "before",
    "after": "after",
    "nach": "after",
}


def find_dates(text: str, anchor: datetime | None) -> list[DateSpan]:
    """The date expressions of `text`, in order, never overlapping.

    `anchor` is the moment at which the text was said; a naive one counts as UTC. Without an anchor only
    dates that need none are found. A day or year that the calendar does not have is no date; nothing is
    ever raised.

    Readings where language is loose: "last Friday" is the most recent Friday strictly before the anchor's
    day and "next Friday" the first strictly after it; weeks run from Monday; "last week" is the calendar
    week before; "last summer" is the latest summer that is over. A day and month without a year lies in the
    year nearest to the anchor.
    """
    if anchor is not None and anchor.tzinfo is None:
        anchor = anchor.replace(tzinfo=UTC)
    spans = _spans_by_word(text, anchor)
    if not text.isascii():
        found = list(_spans_by_script(text, anchor))
        if found:
            spans = _without_overlap(spans + found)
    return spans


def _spans_by_word(text: str, anchor: datetime | None) -> list[DateSpan]:
    spans: list[DateSpan] = []
    position = 0
    lookup = _INDEX.get
    for word in _WORD.finditer(text):
        begin = word.start()
        if begin < position:
            continue
        token = word[0]
        rules = lookup(token.lower())
        if token[0].isdigit():
            if _NUMBER_INSIDE.search(text, max(0, begin - 2), begin):
                continue
            rules = (*_INDEX[DIGIT], *rules) if rules else _INDEX[DIGIT]
        if rules:
            span = _longest(text, begin, rules, anchor)
            if span:
                spans.append(span)
                position = span.stop
    return spans


def _longest(text: str, begin: int, rules: tuple[Rule, ...], anchor: datetime | None) -> DateSpan | None:
    best = _nested(text, begin, anchor)
    for rule in rules:
        if rule.relative and anchor is None:
            continue
        match = rule.pattern.get().match(text, begin)
        if match and (best is None or match.end() > best.stop):
            found = _evaluate(rule, match, anchor)
            if found:
                best = _span(text, begin, match.end(), found, rule.relative)
    return best


def _nested(text: str, begin: int, anchor: datetime | None) -> DateSpan | None:
    """ "the week before 9 June 2023": the inner date is found first, then shifted."""
    match = nested.PREFIX.get().match(text, begin)
    if match is None:
        return None
    inner_at = match.end()
    word = _WORD.match(text, inner_at)
    if word is None:
        return None
    key = DIGIT if word[0][0].isdigit() else word[0].lower()
    inner = _longest(text, inner_at, _INDEX.get(key, ()), anchor)
    if inner is None:
        return None
    try:
        found = _in_calendar(nested.shifted(match, inner.start, inner.end))
    except (ValueError, OverflowError):
        return None
    return _span(text, begin, inner.stop, found, inner.relative) if found else None


def _evaluate(rule: Rule, match: re.Match[str], anchor: datetime | None) -> Period | None:
    try:
        return _in_calendar(rule.build(match, anchor or NO_ANCHOR))
    except (ValueError, OverflowError, IndexError, StopIteration):
        return None  # a day that the calendar does not have


def _in_calendar(found: Period | None) -> Period | None:
    """The period; `OverflowError` where a zone carries one of its ends out of the years 1-9999 of UTC."""
    if found is not None and not 1 < found.start.year <= found.end.year < 9999:
        found.start.astimezone(UTC)
        found.end.astimezone(UTC)
    return found


def _span(text: str, begin: int, stop: int, found: Period, relative: bool) -> DateSpan:
    bound = _BOUNDS.get(word_before(text, begin))
    if text[stop - 1] == ".":  # an abbreviation's, or the sentence's: not part of the words either way
        stop -= 1
    return DateSpan(begin, stop, text[begin:stop], found.start, found.end, found.precision, relative, bound)


def _spans_by_script(text: str, anchor: datetime | None) -> Iterator[DateSpan]:
    for name, present in SCRIPTS.items():
        if present.search(text) is None:
            continue
        for rule in RULES_BY_SCRIPT[name]:
            if rule.relative and anchor is None:
                continue
            for match in rule.pattern.get().finditer(text):
                found = _evaluate(rule, match, anchor)
                if found:
                    yield _span(text, match.start(), match.end(), found, rule.relative)


def _without_overlap(spans: list[DateSpan]) -> list[DateSpan]:
    """Earliest first, the longest of those that begin together; later ones that overlap are left out."""
    kept: list[DateSpan] = []
    for span in sorted(spans, key=lambda s: (s.begin, -s.stop)):
        if not kept or span.begin >= kept[-1].stop:
            kept.append(span)
    return kept
