"""One function makes keyword terms, for the index and for the query, so that both always agree.

Words are casefolded, freed of diacritics and stemmed (English Porter for Latin script, Arabic for Arabic).
Identifiers stay whole and are split too. Scripts without spaces become character bigrams. Everything about
one chunk of text is decided by `_chunk_terms`, which is cached: natural text repeats its words.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Final

import snowballstemmer

from lorebank.search.stopwords import STOP_WORDS

MAX_TERM_CHARS: Final = 64
_CACHE_WORDS: Final = 65_536

# Han and Kana, Thai, Lao, Myanmar and Khmer are written without spaces; in Hangul particles cling to words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks that belong to the letter before them and that `\w` misses.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0dff"
_LETTER = rf"(?:[^\W{_UNSPACED}]|[{_MARKS}])"
_CHUNK = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:[.\-/:@#+'\u2019]{_LETTER}+)*")
_ASCII_CHUNK = re.compile(r"\w+(?:[.\-/:@#+']\w+)*")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_STRIPPED_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+"
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_APOSTROPHES = re.compile("['\u2019]")
_JOINERS = re.compile(r"[.\-/:@#+_]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LETTERS_OR_DIGITS = re.compile(r"\d+|[^\W\d_]+")
_CLITICS: Final = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
_ARABIC_LETTERS = re.compile("[\u0620-\u064a]")
_ARABIC_FOLD = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ؤ": "و", "ئ": "ي"})
_ARABIC_ARTICLES: Final = ("وال", "بال", "كال", "فال", "لل", "ال")
_UMLAUT_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})

_english = snowballstemmer.stemmer("english")
_arabic = snowballstemmer.stemmer("arabic")
_stemming = threading.Lock()  # a Snowball stemmer keeps state while it works


def terms(text: str) -> list[str]:
    """The terms of `text`, in order, with repetitions. Deterministic, never raises, equal for NFC and NFD."""
    if text.isascii():
        chunks = _ASCII_CHUNK.findall(_THOUSANDS.sub("", text) if "," in text else text)
    else:
        chunks = _CHUNK.findall(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text)))
    found: list[str] = []
    for chunk in chunks:
        found.extend(_chunk_terms(chunk) if len(chunk) <= MAX_TERM_CHARS else _long_chunk(chunk))
    return found


def query_terms(text: str) -> list[str]:
    """Distinct terms of a query without stop words; all of them when nothing else is left."""
    chunks = dict.fromkeys(terms(text))
    kept = [term for term in chunks if term not in _STOP_TERMS]
    return kept or list(chunks)


@lru_cache(maxsize=_CACHE_WORDS)
def name_terms(name: str) -> tuple[str, ...]:
    """Terms by which a query can name a speaker: parts of the name, initials and titles of one letter left
    out.
    """
    return tuple(term for term in dict.fromkeys(terms(name)) if len(term) > 1 and term not in _STOP_TERMS)


def _long_chunk(chunk: str) -> list[str]:
    """Terms of a chunk too long to be one term: a run of an unspaced script, a URL, or noise that is cut."""
    if _IS_UNSPACED.match(chunk):
        return _bigrams(chunk)
    found: list[str] = []
    for part in _JOINERS.split(chunk):
        found.extend(_chunk_terms(part[:MAX_TERM_CHARS]))
    return found


@lru_cache(maxsize=_CACHE_WORDS)
def _chunk_terms(chunk: str) -> tuple[str, ...]:
    if _IS_UNSPACED.match(chunk):
        return tuple(_bigrams(chunk))
    found: list[str] = []
    for piece in _apostrophe_parts(chunk):
        found.extend(_identifier_terms(piece))
    return tuple(found)


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def _apostrophe_parts(chunk: str) -> list[str]:
    """ "Ann's" -> Ann; "l'amour" -> amour; "O'Brien" -> Brien: English endings and one-letter parts go."""
    parts = _APOSTROPHES.split(chunk)
    if len(parts) == 1:
        return parts
    kept = [parts[0], *(part for part in parts[1:] if part.casefold() not in _CLITICS)]
    return [part for part in kept if len(part) > 1] or kept


def _identifier_terms(piece: str) -> list[str]:
    """A plain word gives its stem; an identifier gives itself whole, then the stems of its parts."""
    whole = _fold(piece)
    plain = _without_marks(piece)
    parts = (_HUMPS if plain.isascii() and piece.isascii() else _LETTERS_OR_DIGITS).findall(plain)
    if len(parts) <= 1:
        return _word_terms(piece, whole)
    found = [whole[:MAX_TERM_CHARS]]
    for part in parts:
        if len(part) > 1 or not part.isascii():
            found.append(_stem(_fold(part)))
    return found


def _word_terms(piece: str, folded: str) -> list[str]:
    if not folded:
        return []
    found = [_stem(folded)]
    spelled = unicodedata.normalize("NFC", piece.casefold()).translate(_UMLAUT_SPELLED)
    if not piece.isascii() and (variant := _stem(_fold(spelled))) != found[0]:
        found.append(variant)
    return found


def _without_marks(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _STRIPPED_MARKS.sub("", unicodedata.normalize("NFKD", text)))


def _fold(text: str) -> str:
    """Casefolded, without diacritics; dotted and dotless i are one letter, alef has one form."""
    if text.isascii():
        return text.lower().strip("_")
    folded = _without_marks(_without_marks(text).casefold()).replace("ı", "i")
    return folded.translate(_ARABIC_FOLD).strip("_")


def _stem(word: str) -> str:
    word = word[:MAX_TERM_CHARS]
    if word.isascii():
        if len(word) < 3 or not word.isalpha():
            return word
        with _stemming:
            return str(_english.stemWord(word))
    if _ARABIC_LETTERS.match(word):
        return _arabic_stem(word)
    return word


def _arabic_stem(word: str) -> str:
    for article in _ARABIC_ARTICLES:
        if word.startswith(article) and len(word) - len(article) >= 3:
            word = word[len(article) :]
            break
    with _stemming:
        return str(_arabic.stemWord(word)).translate(_ARABIC_FOLD) or word


_STOP_TERMS: Final[frozenset[str]] = STOP_WORDS | frozenset(_stem(word) for word in STOP_WORDS)
