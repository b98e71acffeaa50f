"""Entity labels by rules: a group is answered by a value whose name or description meets the text's words.

Groups of free text and maps need a model. A group with listed values is decided only by a match: that no
value matches does not show that none applies, so the group stays undecided, whether it is optional or not.
So do groups that take one value when two match equally well. Undecided groups with `tag: true` make the
memory pending, which access filters read: better hidden for now than shown by mistake.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from lorebank.banks.extract.chatter_words import ENGLISH_SMALL_WORDS
from lorebank.banks.extract.values import LabelGroup, LabelValue
from lorebank.dates.words import word_set

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ingly", "edly", "ments", "ings", "ment", "ing", "ies", "ied", "es", "ed", "ly", "s", "e", "y")
_MIN_STEM = 4
# Words of descriptions that describe the label, not the text.
_DESCRIBING = word_set(
    "about anything related memory memories fact facts text texts topic topics user users mention",
    "mentions mentioned describe describes described concern concerns concerning value label labels",
    "include includes including example used when which where other",
)
_NAME, _DESCRIPTION = 2, 1


@dataclass(frozen=True, slots=True)
class Labelling:
    """The labels of one memory (`key:value`), those that are tags, and the groups left unanswered."""

    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    pending: bool = False


@dataclass(frozen=True, slots=True)
class _Value:
    label: str
    name: tuple[str, ...]
    hints: frozenset[str]
    spaceless: str


@dataclass(frozen=True, slots=True)
class _Group:
    key: str
    single: bool
    tag: bool
    values: tuple[_Value, ...]


class Labeller:
    """Label groups prepared once and applied to many texts."""

    __slots__ = ("_groups",)

    def __init__(self, groups: Sequence[LabelGroup]) -> None:
        self._groups = tuple(_prepared(group) for group in groups)

    def label(self, text: str) -> Labelling:
        """The labels of a text."""
        if not self._groups:
            return _NOTHING
        folded = unicodedata.normalize("NFC", text).casefold()
        stems = [stem(w) for w in _WORD.findall(folded)]
        present = frozenset(stems)
        labels: list[str] = []
        tags: list[str] = []
        undecided: list[str] = []
        pending = False
        for group in self._groups:
            chosen = _choose(group, folded, stems, present)
            labels += chosen
            if not chosen:
                undecided.append(group.key)
                pending = pending or group.tag
            elif group.tag:
                tags += chosen
        return Labelling(tuple(labels), tuple(tags), tuple(undecided), pending)


_NOTHING = Labelling()


def stem(word: str) -> str:
    """The word without one common English ending; short words stay as they are."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM - 1:
            return word[: -len(ending)]
    return word


def _prepared(group: LabelGroup) -> _Group:
    listed = group.values if group.type in ("value", "multi-values") else ()
    values = tuple(_prepared_value(group.key, value) for value in listed)
    return _Group(group.key, group.type == "value", group.tag, values)


def _prepared_value(key: str, value: LabelValue) -> _Value:
    name = unicodedata.normalize("NFC", value.value).casefold()
    described = unicodedata.normalize("NFC", value.description).casefold()
    hints = frozenset(
        stem(w)
        for w in _WORD.findall(described)
        if w not in ENGLISH_SMALL_WORDS and w not in _DESCRIBING and (len(w) >= _MIN_STEM or not w.isascii())
    )
    phrase = tuple(stem(w) for w in _WORD.findall(name))
    return _Value(f"{key}:{value.value}", phrase, hints, "" if name.isascii() else name)


def _choose(group: _Group, folded: str, stems: list[str], present: frozenset[str]) -> list[str]:
    scored = [(_score(value, folded, stems, present), value.label) for value in group.values]
    best = max((score for score, _ in scored), default=(0, 0))
    if best[0] == 0:
        return []
    if not group.single:
        return [label for score, label in scored if score[0]]
    winners = [label for score, label in scored if score == best]
    return winners if len(winners) == 1 else []


def _score(value: _Value, folded: str, stems: list[str], present: frozenset[str]) -> tuple[int, int]:
    """How well a value fits: the kind of match, then how many words of its description occur."""
    hits = len(value.hints & present)
    if _has_phrase(value.name, stems, present) or (value.spaceless and value.spaceless in folded):
        return _NAME, hits
    return (_DESCRIPTION, hits) if hits else (0, 0)


def _has_phrase(phrase: tuple[str, ...], stems: list[str], present: frozenset[str]) -> bool:
    if not phrase or not present.issuperset(phrase):
        return False
    width = len(phrase)
    return width == 1 or any(tuple(stems[i : i + width]) == phrase for i in range(len(stems) - width + 1))
