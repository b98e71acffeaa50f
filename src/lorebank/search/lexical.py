"""BM25 over the visible passages of a snapshot.

Document frequencies and the mean length count visible passages only: what a filter hides cannot be felt in
the scores of what it shows.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lorebank.search import postings
from lorebank.search.columns import Bools, Floats, Ints
from lorebank.search.settings import SearchSettings
from lorebank.search.snapshot import Snapshot

# Letters with digits, names joined by punctuation, or four digits and more that are no year.
_IDENTIFIER = re.compile(r"(?=\S*\d)(?=\S*[^\W\d_])\S{3,}|\w+(?:[._/:-]\w+)+|(?!(?:19|20)\d\d$)\d{4,}")
_FEW = 3


@dataclass(frozen=True, slots=True)
class TermList:
    """The visible slots that hold a term, with counts, and the weight of the term in the query."""

    slots: Ints
    counts: npt.NDArray[np.uint16]
    idf: float
    weight: float = 1.0


def bm25(snapshot: Snapshot, mask: Bools, terms: list[str], settings: SearchSettings) -> Floats:
    """The BM25 score of every slot for a query's terms; 0 where hidden or nothing matches."""
    scores = np.zeros(snapshot.count, np.float32)
    visible = int(np.count_nonzero(mask))
    lists = _term_lists(snapshot, mask, visible, terms, settings)
    if not lists:
        return scores
    lengths = snapshot.columns.length[: snapshot.count]
    mean_length = max(1.0, float(lengths @ mask) / visible)
    k1, b = settings.bm25_k1, settings.bm25_b
    for found in lists:
        counts = found.counts.astype(np.float32)
        norm = np.float32(k1 * (1 - b)) + np.float32(k1 * b / mean_length) * lengths[found.slots]
        gain = found.idf * found.weight * (k1 + 1)
        scores[found.slots] += (np.float32(gain) * counts / (counts + norm)).astype(np.float32)
    return scores


def identified(snapshot: Snapshot, mask: Bools, terms: list[str]) -> npt.NDArray[np.intp]:
    """Visible slots that hold an identifier among the terms, where few do: whoever names one means those."""
    visible = int(np.count_nonzero(mask))
    numbers = [snapshot.vocabulary.get(term) for term in terms if _IDENTIFIER.fullmatch(term)]
    lists = [found for found in _lists_of(snapshot, mask, visible, numbers) if found is not None]
    few = max(_FEW, visible // 100)
    parts = [found.slots for found in lists if len(found.slots) <= few]
    return np.unique(np.concatenate(parts)).astype(np.intp) if parts else np.zeros(0, np.intp)


def _term_lists(
    snapshot: Snapshot, mask: Bools, visible: int, terms: list[str], settings: SearchSettings
) -> list[TermList]:
    """Lists of the most selective query terms; for one that nothing visible holds those of its relatives."""
    found = _lists_of(snapshot, mask, visible, [snapshot.vocabulary.get(term) for term in terms])
    chosen = sorted((item for item in found if item is not None), key=lambda item: -item.idf)
    for term, item in zip(terms, found, strict=True):
        if item is None and len(chosen) < settings.max_query_terms:
            chosen.extend(_relatives(snapshot, mask, visible, term, settings))
    return chosen[: settings.max_query_terms]


def _relatives(
    snapshot: Snapshot, mask: Bools, visible: int, term: str, settings: SearchSettings
) -> list[TermList]:
    found = _lists_of(snapshot, mask, visible, list(snapshot.vocabulary.relatives(term)))
    known = [item for item in found if item is not None][: settings.max_relatives]
    return [TermList(item.slots, item.counts, item.idf, settings.relative_weight) for item in known]


def _lists_of(
    snapshot: Snapshot, mask: Bools, visible: int, numbers: list[int | None]
) -> list[TermList | None]:
    wanted = [number for number in numbers if number is not None]
    pieces = dict(zip(wanted, postings.lists(snapshot.terms, wanted), strict=True))
    everything = visible == snapshot.count
    return [
        None if number is None else _visible_list(pieces[number], mask, visible, everything)
        for number in numbers
    ]


def _visible_list(
    pieces: list[tuple[postings.Segment, slice]], mask: Bools, visible: int, everything: bool
) -> TermList | None:
    if not pieces:
        return None
    slots = np.concatenate([segment.slots[part] for segment, part in pieces])
    counts = np.concatenate([segment.counts[part] for segment, part in pieces])
    inside = slots < len(mask)
    if not everything or not inside.all():
        keep = np.zeros(len(slots), np.bool_)
        keep[inside] = mask[slots[inside]]
        slots, counts = slots[keep], counts[keep]
    if len(slots) == 0:
        return None
    return TermList(slots, counts, idf(visible, len(slots)))


def idf(visible: int, holders: int) -> float:
    """Selectivity of a term, always above 0 (the BM25+1 form)."""
    return math.log(1 + (visible - holders + 0.5) / (holders + 0.5))
