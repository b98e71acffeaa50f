"""The order of what a search finds, and scores that mean something within one search.

Exact identity comes first with score 1. Words are weighed by BM25 over the records that pass the filters, so
that nothing hidden can be felt. With x = BM25 divided by the summed selectivity of the question's terms (1: a
record of usual length holds every term once) the score is 1 - 2^(-2x): half of the question gives 0.5, all of
it 0.75, never 1.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from lorebank.search import lexical, postings
from lorebank.search.columns import Bools, Doubles, Floats
from lorebank.search.fusion import Relevance
from lorebank.search.settings import SearchSettings
from lorebank.search.snapshot import Slots, Snapshot
from lorebank.search.tokenize import query_terms
from lorebank.search.vector import MISSING
from lorebank.vaults.find.facets import Facets, facets_of
from lorebank.vaults.find.names import Match, names_of
from lorebank.vaults.find.question import Question
from lorebank.vaults.store.values import Entry, View

MOST: Final = 1_000
"""Hits that one search can page through."""
_SETTINGS: Final = SearchSettings()
_NEAR: Final = 50
_NEAR_SENSE: Final = 0.5
_SENSE: Final = 0.65


@dataclass(frozen=True, slots=True)
class Ranked:
    """One found record. `exact` says by what it is named, None when its words or sense match."""

    entry: Entry
    score: float
    exact: Match | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a search found, in order: the named ones, then `slots` with their `scores`."""

    facets: Facets
    exact: tuple[Ranked, ...]
    slots: Slots
    scores: Doubles

    def __len__(self) -> int:
        return len(self.exact) + len(self.slots)

    def part(self, start: int, stop: int) -> list[Ranked]:
        """The hits at these places."""
        named = list(self.exact[start:stop])
        begin = max(0, start - len(self.exact))
        rest = slice(begin, max(begin, stop - len(self.exact)))
        pairs = zip(self.slots[rest].tolist(), self.scores[rest].tolist(), strict=True)
        return [*named, *(Ranked(self.facets.entries[slot], score) for slot, score in pairs)]

    def order(self) -> str:
        """Stands for the order and the contents of what was found: any change that a later page could show
        makes another one."""
        digest = hashlib.sha256()
        for one in self.exact:
            digest.update(f"{one.entry.key}:{one.entry.sha256};".encode("ascii"))
        keys = np.fromiter((self.facets.entries[slot].key for slot in self.slots.tolist()), np.int64)
        digest.update(keys.tobytes() + self.facets.version[self.slots].tobytes())
        return digest.hexdigest()[:24]


def rank(view: View, question: Question, vector: Floats | None = None) -> Ranking:
    """The records that answer `question`, best first, at most 1,000; equal scores newest first.

    `vector` is the question's embedding where meaning is searched too; it adds candidates and changes no
    filter.
    """
    facets = facets_of(view)
    mask = facets.mask(
        kinds=question.kinds,
        types=question.types,
        lifecycles=question.lifecycles,
        period=question.period(),
        valid_on=question.valid_on_span(),
    )
    if not question.text:
        return _ordered(facets, (), mask.astype(np.float64), 1.0)
    exact = _exact(view, question.text, mask)
    scores = _scores(view.snapshot, mask, question.text, vector)
    scores[[slot for one in exact if (slot := view.snapshot.slot_of(one.entry.key)) is not None]] = 0.0
    return _ordered(facets, exact, scores, max(question.min_score, 1e-9))


def _ordered(facets: Facets, exact: tuple[Ranked, ...], scores: Doubles, least: float) -> Ranking:
    slots: Slots = np.flatnonzero(scores >= least)
    order = slots[np.lexsort((slots, -_newness(facets, slots), -scores[slots]))]
    kept = order[: MOST - len(exact)]
    return Ranking(facets, exact, kept, scores[kept])


def _newness(facets: Facets, slots: Slots) -> Doubles:
    """By the beginning of validity where it is known, otherwise by recording."""
    since = facets.since[slots]
    newness: Doubles = np.nan_to_num(np.where(np.isfinite(since), since, facets.recorded[slots]), nan=-1e18)
    return newness


def _exact(view: View, text: str, mask: Bools) -> tuple[Ranked, ...]:
    found: dict[int, Ranked] = {}
    for match, entry in names_of(view).called(text):
        slot = view.snapshot.slot_of(entry.key)
        if slot is not None and mask[slot]:
            found.setdefault(entry.key, Ranked(entry, 1.0, match))
    return tuple(found.values())[:MOST]


def _scores(snapshot: Snapshot, mask: Bools, text: str, vector: Floats | None) -> Doubles:
    terms = query_terms(text)
    raw = lexical.bm25(snapshot, mask, terms, _SETTINGS).astype(np.float64)
    whole = _selectivity(snapshot, mask, terms)
    scores: Doubles = 1.0 - np.exp2(-2.0 * raw / whole) if whole > 0 else np.zeros(snapshot.count)
    if vector is None or snapshot.vectors is None:
        return scores
    return _with_sense(snapshot, mask, vector, scores)


def _selectivity(snapshot: Snapshot, mask: Bools, terms: list[str]) -> float:
    """The summed weight of the terms that BM25 looks at; an unknown one counts like the rarest."""
    visible = int(np.count_nonzero(mask))
    if visible == 0:
        return 0.0
    numbers = [snapshot.vocabulary.get(term) for term in terms]
    known = [number for number in numbers if number is not None]
    pieces = postings.lists(snapshot.terms, known)
    weights = [lexical.idf(visible, max(1, _holders(one, mask))) for one in pieces]
    weights += [lexical.idf(visible, 1)] * (len(terms) - len(known))
    return sum(sorted(weights, reverse=True)[: _SETTINGS.max_query_terms])


def _holders(pieces: list[tuple[postings.Segment, slice]], mask: Bools) -> int:
    """How many visible slots hold a term. A segment may hold slots that are newer than the view."""
    lists = [segment.slots[part] for segment, part in pieces]
    return sum(int(np.count_nonzero(mask[slots[slots < len(mask)]])) for slots in lists)


def _with_sense(snapshot: Snapshot, mask: Bools, vector: Floats, scores: Doubles) -> Doubles:
    """Scores where the nearest records by meaning have their share too."""
    vectors = snapshot.vectors
    if vectors is None or vector.shape != (vectors.dimension,):
        return scores
    cosines = snapshot.products.cosines(vectors, np.asarray(vector, np.float32), snapshot.count)
    cosines[~mask] = MISSING
    relevance = Relevance.calibrated(cosines, None, _SETTINGS)
    if relevance.cosines is None:
        return scores
    sense, _ = relevance.parts(np.arange(snapshot.count, dtype=np.intp))
    known: Slots = np.flatnonzero(sense >= _NEAR_SENSE)
    near = known[np.argsort(-sense[known], kind="stable")[:_NEAR]]
    mixed = scores.copy()
    blended = _SENSE * sense[near] + (1 - _SENSE) * scores[near]
    mixed[near] = np.minimum(np.maximum(scores[near], blended), 0.999)
    return mixed
