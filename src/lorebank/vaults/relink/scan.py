"""A claim's text as words with what stands between them. Linear in the length of the text, whatever it is.

Words are runs of letters, digits and their marks; Han, kana and Hangul count character by character, because
they are written without spaces or with particles attached.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal

from lorebank.vaults.relink.words import BEFORE_PERIOD

UNSPACED: Final = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks that belong to the letter before them and that `\w` misses.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0b3c-\u0b57\u0bbe-\u0bd7\u0c3e-\u0c56\u0cbc-\u0cd6"
    "\u0d3e-\u0d57\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ece\u102b-\u103e\u17b4-\u17d3\u200d"
)
_WORD = re.compile(rf"[{UNSPACED}]|(?:[^\W_{UNSPACED}]|[{_MARKS}])+")
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")
# Repetitions are bounded, so that no text can make them go over the same characters again and again.
_ADDRESS = re.compile(
    r"[A-Za-z]{2,12}://\S+|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|\]\([^()\s]{1,500}\)"
)
_CODE = re.compile(r"`[^`\n]*`")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_ENDS = frozenset(".!?…。！？")
_LINE_START = re.compile(r"\n[ \t]*(?:\n|[-*+>#•][ \t#>]*$)")
_JOINING = frozenset("-_./@#&+:'\u2019\u2010\u2011")
Where = Literal["text", "code", "address"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its place, its form as written and casefolded, and what it is attached to.

    `edge` is the step that a name takes to this word when it is not the name's first: what stands between
    (nothing for spaces and hyphens) and the word. `opens` tells that a sentence begins with it, `spaced`
    that only spaces are between it and the word before, `joined` the character that ties it to that word.
    """

    start: int
    end: int
    raw: str
    folded: str
    edge: str
    opens: bool
    spaced: bool
    joined: str
    where: Where = "text"

    @property
    def capital(self) -> bool:
        """Whether any of its letters is a capital."""
        return self.raw != self.raw.lower()

    @property
    def unspaced(self) -> bool:
        """Whether it is one character of a script without spaces."""
        return _IS_UNSPACED.match(self.raw) is not None


def normal(text: str) -> str:
    """`text` in the form in which names are compared: NFC."""
    return unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """NFC and casefolded, with single spaces: what two spellings of one name have in common."""
    return normal(" ".join(normal(text).casefold().split()))


def words(text: str) -> list[Word]:
    """The words of `text`, which is in NFC. Fenced code is blanked out; words in code or addresses say so."""
    text = _without_fences(text)
    apart = _spans(text)
    found: list[Word] = []
    before = 0
    for match in _WORD.finditer(text):
        gap = text[before : match.start()]
        last = found[-1] if found else None
        found.append(_word(match, gap, last, apart.at(match.start())))
        before = match.end()
    return found


def _word(match: re.Match[str], gap: str, last: Word | None, where: Where) -> Word:
    raw = match.group()
    folded = normal(raw.casefold())
    return Word(
        match.start(),
        match.end(),
        raw,
        folded,
        _between(gap) + folded,
        last is None or _ends(gap, last),
        last is not None and gap.isspace() and gap.count("\n") < 2,
        gap if len(gap) == 1 and gap in _JOINING and last is not None else "",
        where,
    )


def _between(gap: str) -> str:
    """What a gap adds to a step: nothing for spaces and hyphens, otherwise its signs."""
    if gap.count("\n") > 1:
        return "\n"
    signs = "".join(gap.split()).replace("\u2019", "'")
    return "" if signs in ("", "-", "_", "\u2010", "\u2011") else signs[:8] + " "


def _ends(gap: str, last: Word) -> bool:
    """Whether a sentence ends in the gap behind `last`. A line that merely was broken ends none."""
    if _LINE_START.search(gap):
        return True
    marks = [at for at, char in enumerate(gap[:16]) if char in _ENDS]
    if not marks:
        return False
    mark = marks[-1]
    if gap[mark] in "。！？":
        return True
    if not any(char.isspace() for char in gap[mark + 1 :]):
        return False
    return gap[mark] != "." or not (last.folded in BEFORE_PERIOD or len(last.folded) == 1)


def _without_fences(text: str) -> str:
    """`text` with fenced code blanked out; an open fence reaches to the end."""
    fences = [match.start() for match in _FENCE.finditer(text)]
    kept: list[str] = []
    at = 0
    for opened, closed in zip_longest(fences[::2], fences[1::2]):
        kept.append(text[at:opened])
        kept.append("\n\n")
        end = -1 if closed is None else text.find("\n", closed)
        at = len(text) if end < 0 else end
    return "".join([*kept, text[at:]])


class _Spans:
    """Where code and addresses are; asked in ascending order of position."""

    def __init__(self, spans: Iterator[tuple[int, int, Where]]) -> None:
        self._spans = spans
        self._now = next(spans, None)

    def at(self, place: int) -> Where:
        while self._now is not None and self._now[1] <= place:
            self._now = next(self._spans, None)
        return self._now[2] if self._now is not None and self._now[0] <= place else "text"


def _spans(text: str) -> _Spans:
    code: list[tuple[int, int, Where]] = [(*match.span(), "code") for match in _CODE.finditer(text)]
    links: list[tuple[int, int, Where]] = [(*match.span(), "address") for match in _ADDRESS.finditer(text)]
    return _Spans(iter(sorted(code + links)))
