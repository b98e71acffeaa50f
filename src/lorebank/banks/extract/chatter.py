"""What is empty chatter: greetings, thanks, agreement, laughter. Made to err on the side of keeping."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from lorebank.banks.extract.chatter_words import BARE_ANSWERS, LANGUAGES, ONLY_PHRASES

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*['’]?")
_SPACELESS = re.compile(r"[\u0e00-\u0e7f\u3040-\u318f\u4e00-\u9fff\uac00-\ud7a3]")
# Longer texts are kept whatever their words.
MAX_WORDS = 40
_MAX_SIGNS = 60
_MAX_LENGTH = 400
_STRETCHED = re.compile(r"(.)\1{2,}")


def words_of(text: str) -> list[str]:
    """The lower-case words of a text, with straight apostrophes."""
    return [w.lower().replace("’", "'") for w in _WORD.findall(text)]


def is_chatter(text: str, people: Collection[str] = ()) -> bool:
    """Whether a text says nothing worth a memory.

    It is chatter when it has no letter or digit at all, or when every word is a greeting, an
    acknowledgement, a filler or one of `people` (lower-case words of the speakers' names), at least one of
    them of the first two kinds. A digit, an unknown word or more than `MAX_WORDS` words keep it.
    """
    if len(text) > _MAX_LENGTH:
        return False
    if _SPACELESS.search(text):
        return len(text) <= _MAX_SIGNS and ONLY_PHRASES.fullmatch(_bare(text)) is not None
    words = words_of(text)
    if not words:
        return True
    if len(words) > MAX_WORDS:
        return False
    called = _called(words, text, people)
    return any(
        not core.isdisjoint(words) and _all_in(words, harmless, called) for core, harmless in LANGUAGES
    )


def _bare(text: str) -> str:
    """The letters, digits and vowel signs of a text, without spaces, marks and emoji."""
    return "".join(c for c in text if c.isalnum() or unicodedata.category(c)[0] == "M")


def is_small(text: str, people: Collection[str]) -> bool:
    """Whether no word of the text means anything alone, as in "I did too" or "what about you?"."""
    words = words_of(text)
    if len(words) > MAX_WORDS:
        return False
    called = _called(words, text, people)
    return any(_all_in(words, harmless, called) for _, harmless in LANGUAGES)


def _all_in(words: list[str], harmless: Collection[str], people: Collection[str]) -> bool:
    return all(w in harmless or w in people or _is_stretched(w, harmless) for w in words)


def _called(words: list[str], text: str, people: Collection[str]) -> Collection[str]:
    """The words by which a text may call `people`: names, possessives, and short forms with a capital."""
    short = {
        word
        for word in words
        if word.removesuffix("'s") in people
        or (len(word) >= 3 and word.capitalize() in text and any(p.startswith(word) for p in people))
    }
    return short.union(people) if short else people


def _is_stretched(word: str, harmless: Collection[str]) -> bool:
    """ "sooo", "hmmmm", "yessss": the plain word is looked up."""
    if not _STRETCHED.search(word):
        return False
    return _STRETCHED.sub(r"\1", word) in harmless or _STRETCHED.sub(r"\1\1", word) in harmless


def is_bare_answer(text: str) -> bool:
    """Whether a text is an answer that means nothing without its question: yes, no, a pronoun."""
    words = words_of(text)
    if not 0 < len(words) <= 3 or BARE_ANSWERS.isdisjoint(words):
        return False
    return all(w in BARE_ANSWERS or any(w in core for core, _ in LANGUAGES) for w in words)
