"""Whom a claim is about, decided without a model (seed 002; docs/knowledge.md has what we decided).

Tiers in order: the page that the claim was taken from, a hint that names exactly one entity page, a text
that names exactly one entity page and nobody else. Whatever is left stays unlinked: a missing link costs a
search, a wrong one makes the knowledge wrong.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Final

from lorebank.vaults.record.values import Record
from lorebank.vaults.relink import edges
from lorebank.vaults.relink.names import Name, Names
from lorebank.vaults.relink.outcome import AMBIGUOUS, NO_SUBJECT, Outcome
from lorebank.vaults.relink.scan import Word, normal, words
from lorebank.vaults.relink.words import OPENERS, is_unnamed

MAX_MENTION_CHARS: Final = 50_000
"""Characters of a claim's text that the mention tier reads; a longer claim is about more than one thing."""
SHORT: Final = 3
"""Letters up to which a single word must be spelled exactly as the page spells it, capitals included."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a claim says about its subject: its text (the body), and where it was taken from."""

    id: str
    text: str
    source_page: str | None = None
    subject_hint: str | None = None


def is_open(record: Record) -> bool:
    """An active, valid claim without linked page: what relink and the review look among."""
    return record.kind == "claim" and record.lifecycle == "active" and record.valid and not record.entities


def is_candidate(record: Record, remembered: Container[str]) -> bool:
    """Whether relink may link it: it also cites one of the retained excerpts of `knowledge_remember`, whose
    descriptor ids are `remembered` (statement 4.1.1)."""
    return is_open(record) and any(citation.source in remembered for citation in record.evidence)


def judge(claim: Claim, names: Names) -> Outcome:
    """The decision on one claim (statements 4.1.3-7, 4.2.20-24)."""
    if (page := names.page(claim.source_page)) is not None:
        return Outcome("linked", "page", page.id)
    hinted = names.named(claim.subject_hint or "")
    if hinted is not None and hinted.only is not None:
        return Outcome("linked", "hint", hinted.only)
    return _by_mention(claim, hinted, names)


def _by_mention(claim: Claim, hinted: Name | None, names: Names) -> Outcome:
    text = _Reading(normal(claim.text), names) if len(claim.text) <= MAX_MENTION_CHARS else None
    named = text.found if text is not None else set()
    if text is not None and len(named) == 1 and not text.doubtful:
        (subject,) = named
        if _agrees(claim.subject_hint, hinted, subject, names):
            return Outcome("linked", "mention", subject)
    several = named or (text is not None and text.unclear) or (hinted is not None and hinted.entity)
    return AMBIGUOUS if several else NO_SUBJECT


def _agrees(hint: str | None, hinted: Name | None, subject: str, names: Names) -> bool:
    """Whether a hint that decided nothing leaves room for the subject: it must not name anybody else."""
    if hinted is not None and hinted.entity:
        return subject in hinted.subjects and not hinted.unusable
    if hinted is not None or not hint:
        return True
    reading = _Reading(normal(hint[:MAX_MENTION_CHARS]), names, openers=False)
    return not reading.doubtful and reading.found <= {subject}


@dataclass(slots=True)
class _Reading:
    """One pass over a text: the subjects that it names (`found`), whether a name was seen that could be
    several's or a part of another (`unclear`), and whether one was seen that nobody has (`unknown`)."""

    text: str
    names: Names
    openers: bool = True
    found: set[str] = field(default_factory=set)
    unclear: bool = False
    unknown: bool = False

    def __post_init__(self) -> None:
        found, at, ends = words(self.text), 0, set[int]()
        while at < len(found):
            taken, name = self.names.longest(found, at) or (1, None)
            if name is not None and self._spelled(name, found[at : at + taken]):
                self._take(name, found, at, taken)
                ends.add(found[at + taken - 1].end)
                at += taken
            else:
                self.unknown = self.unknown or self._is_name(found, at)
                at += 1
        self.unknown = self.unknown or edges.others(self.text, ends)

    @property
    def doubtful(self) -> bool:
        return self.unclear or self.unknown

    def _spelled(self, name: Name, match: Sequence[Word]) -> bool:
        """Whether the words stand there as a name: an ordinary word in small letters is none."""
        if any(word.where == "address" or (word.where == "code" and not name.is_id) for word in match):
            return False
        if name.is_id:
            return True
        if name.needs_capital and not any(word.capital for word in match):
            return False
        if len(match) > 1:
            return True
        raw = match[0].raw
        return len(raw) > 1 and (len(raw) > SHORT or raw in name.forms)

    def _take(self, name: Name, found: Sequence[Word], at: int, taken: int) -> None:
        if not name.entity:
            return  # a page that is no entity: known, neither a subject nor in the way
        match = found[at : at + taken]
        if name.only is None or not self._is_clear(match, found, at + taken) or _ordinary(match, name):
            self.unclear = True
        else:
            self.found.add(name.only)

    def _is_clear(self, match: Sequence[Word], found: Sequence[Word], after: int) -> bool:
        """Whether the match is not a part of something longer: `Acme.com`, `D'Angelo`, two Han names."""
        first, last = match[0], match[-1]
        if first.joined and not (first.joined in "'\u2019" and self._elided(first)):
            return False
        if after < len(found) and found[after].joined and not _possessive(found[after]):
            return False
        if first.unspaced or last.unspaced:
            return edges.is_clear(self.text, first.start, last.end)
        return True

    def _elided(self, word: Word) -> bool:
        """An article before an apostrophe, as in l'Acme: one or two small letters."""
        before = self.text[max(word.start - 4, 0) : word.start - 1].split()
        return bool(before) and len(before[-1]) <= 2 and before[-1].islower()

    def _is_name(self, found: Sequence[Word], at: int) -> bool:
        """Whether a word outside of all matches looks like the name of somebody."""
        word = found[at]
        if not word.capital or word.where != "text" or is_unnamed(word.folded):
            return False
        if not (word.opens and self.openers):
            return True
        if word.folded in OPENERS:
            return False
        return word.folded in self.names.parts or self._is_tied(found, at)

    def _is_tied(self, found: Sequence[Word], at: int) -> bool:
        """Whether a sentence's first word belongs to the next one, or owns it: then it is part of a name."""
        after = found[at + 1] if at + 1 < len(found) else None
        if after is None:
            return False
        return _possessive(after) or (after.spaced and after.capital and not is_unnamed(after.folded))


def _possessive(word: Word) -> bool:
    return word.joined in ("'", "\u2019") and word.folded == "s"


def _ordinary(match: Sequence[Word], name: Name) -> bool:
    """Whether the name is made of words that mean something else as well: May, Will, The Board."""
    if name.is_id or match[0].unspaced:
        return False
    return all(word.folded in OPENERS or is_unnamed(word.folded) for word in match)
