"""Entities by rules: names, handles, identifiers, titles, and the bank's own known entities."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from lorebank.banks.extract.entity_words import (
    LINKS,
    NOT_NAMES,
    ORG_ENDINGS,
    PERSON_VERBS,
    PLACE_BEFORE,
    PLACE_ENDINGS,
    TITLES,
    VERB_AFTER,
)
from lorebank.banks.extract.known import NOTHING_KNOWN, WORD, KnownEntities, fold
from lorebank.banks.extract.values import EntityMention

MAX_ENTITIES = 16
MAX_NAME = 80
_MAX_WORDS = 5
_MAX_TITLE_WORDS = 7

_MARKS = re.compile(r"[@#/_\"“«《「『`]|-\d|\d[a-z]|[a-z][A-Z]|\.[a-z]")
_SPECIAL = re.compile(
    r"(?P<email>[\w.+-]{1,64}@(?P<host>[\w-]+(?:\.[\w-]+)+))"
    r"|https?://(?:www\.)?(?P<domain>[\w-]+(?:\.[\w-]+)+)\S*"
    r"|(?<![\w@])@(?P<handle>\w[\w.-]{1,38}\w)"
    r"|(?<![\w#&/])#(?P<tag>[^\W\d]\w{1,48})"
    r"|(?a:(?<![\w-])(?P<ticket>[A-Z][A-Z0-9]{1,9}-\d{1,7})(?![\w-]))"
    r"|(?a:(?<![\w./])(?P<file>[\w-]{1,60}\.(?:md|py|js|ts|json|ya?ml|toml|txt|csv|pdf|docx?|xlsx?|go|rs|java|c|cpp|h|sh|sql"
    r"|html|css|ini|cfg|env))(?!\w))"
    r"|(?a:(?<!\w)(?P<code>[a-zA-Z]\w*(?:_\w+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[a-z]+[A-Z]\w+|\d+[a-z]{3,}\w*)(?!\w))"
    r"|[\"“«](?P<quoted>[A-Z0-9][^\"“”«»\n]{1,60})[\"”»]"
    r"|[《「『](?P<title>[^》」』\n]{1,40})[》」』]"
    r"|`(?P<tick>[^`\n\s]{2,60})`"
)
_CJK = re.compile(
    r"(?P<person>[\u4e00-\u9fff]{1,4}|[\u30a0-\u30ff]{2,10})(?:さん|様|くん|ちゃん|先生|氏)"
    r"|(?P<org>[\u4e00-\u9fffA-Za-z0-9]{2,10}(?:公司|大学|銀行|银行|集团|株式会社|医院|协会))"
    r"|(?P<korean>[\uac00-\ud7a3]{2,4})(?= ?(?:씨|님))"
)
_POSSESSIVES = ("'s", "’s")
_APOSTROPHE = re.compile("['’]")
# Among Chinese, Japanese and Korean signs a Latin word ends where the script changes.
_LATIN_WORD = re.compile(r"[A-Za-z0-9\u00c0-\u024f]+(?:['’.-][A-Za-z0-9\u00c0-\u024f]+)*")
_HAS_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_SENTENCE_EDGE = frozenset('.!?:;…"“”«»(*>|-–—\n。！？、')


class _Word(NamedTuple):
    text: str
    begin: int
    stop: int


def find_entities(
    text: str, known: KnownEntities = NOTHING_KNOWN, people: Iterable[str] = ()
) -> tuple[EntityMention, ...]:
    """The entities that a text names, each once, in NFC, at most `MAX_ENTITIES`.

    `people` are the speakers of the conversation: their names are persons wherever they stand.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    found = _Collector(known, {fold(p): p for p in people})
    has_cjk = not text.isascii() and _HAS_CJK.search(text) is not None
    pattern = _LATIN_WORD if has_cjk else WORD
    words = [_Word(m[0], m.start(), m.end()) for m in pattern.finditer(text)]
    lowered = [w.text.casefold() for w in words]
    if len(known):
        for name in known.find([w[:-2] if w.endswith(_POSSESSIVES) else w for w in lowered], text):
            found.add(name, "CONCEPT")
    _names(text, words, lowered, found)
    if _MARKS.search(text):
        _specials(text, found)
    if has_cjk:
        _cjk(text, found)
    return found.mentions()


class _Collector:
    """Entities in the order they are found; a rule that knows a type beats CONCEPT."""

    def __init__(self, known: KnownEntities, people: dict[str, str]) -> None:
        self.known = known
        self.people = people
        self._found: dict[str, EntityMention] = {}

    def is_known(self, name: str) -> bool:
        return fold(name) in self.people or name in self.known

    def add(self, name: str, kind: str) -> None:
        key = self._person(fold(name).removeprefix("the "))
        if not 2 <= len(key) <= MAX_NAME and not _HAS_CJK.search(key):
            return
        if key in self.people:
            name, kind = self.people[key], "PERSON"
        held = self._found.get(key)
        if held is None:
            self._found[key] = EntityMention(self.known.name_of(name) or " ".join(name.split()), kind)
        elif held.type == "CONCEPT" and kind != "CONCEPT":
            self._found[key] = EntityMention(held.name, kind)

    def _person(self, key: str) -> str:
        """The speaker that a short form stands for ("Mel" for Melanie), or the key itself."""
        if len(key) < 3 or key in self.people:
            return key
        longer = [person for person in self.people if person.startswith(key) and " " not in person]
        return longer[0] if len(longer) == 1 else key

    def mentions(self) -> tuple[EntityMention, ...]:
        return tuple(self._found.values())[:MAX_ENTITIES]


def _names(text: str, words: list[_Word], lowered: list[str], found: _Collector) -> None:
    """Runs of capitalised words."""
    at = 0
    while at < len(words):
        if not words[at].text[0].isupper():
            at += 1
            continue
        stop = _run_end(text, words, lowered, at)
        _take_run(text, words, lowered, at, stop, found)
        at = stop


def _run_end(text: str, words: list[_Word], lowered: list[str], at: int) -> int:
    """The index after the last word of the run: capitalised words one space apart, small links inside."""
    stop = at + 1
    while stop < len(words) and stop - at < _MAX_WORDS:
        gap = text[words[stop - 1].stop : words[stop].begin]
        if gap not in (" ", ". ") or (gap == ". " and lowered[stop - 1] not in TITLES):
            break
        if words[stop].text[0].isupper():
            stop += 1
        elif (after := _after_links(text, words, lowered, stop)) is not None:
            stop = after + 1
        else:
            break
    return stop


def _after_links(text: str, words: list[_Word], lowered: list[str], at: int) -> int | None:
    """The index of the capitalised word that follows one or two links ("of", "of the"), one space apart."""
    for ahead in range(at + 1, min(at + 3, len(words))):
        if lowered[ahead - 1] not in LINKS or text[words[ahead - 1].stop : words[ahead].begin] != " ":
            return None
        if words[ahead].text[0].isupper():
            return ahead
    return None


def _take_run(
    text: str, words: list[_Word], lowered: list[str], begin: int, stop: int, found: _Collector
) -> None:
    edge = _begins_sentence(text, words[begin].begin)
    while begin < stop and _names_nothing(words[begin].text, lowered[begin], found):
        begin += 1
        edge = False
    while stop > begin and (
        lowered[stop - 1] in LINKS or _names_nothing(words[stop - 1].text, lowered[stop - 1], found)
    ):
        stop -= 1
    if begin >= stop:
        return
    name = _clean(text[words[begin].begin : words[stop - 1].stop])
    if len(name) < 2 or (stop - begin == 1 and _only_capitalised(name, edge, lowered, begin, found)):
        return
    found.add(name, _type_of(lowered, begin, stop))


def _only_capitalised(name: str, edge: bool, lowered: list[str], at: int, found: _Collector) -> bool:
    """Whether a single word that begins a sentence gives no sign of being a name."""
    if not edge or found.is_known(name) or (name.isupper() and len(name) > 1):
        return False
    before_end = lowered[at + 1] if at + 1 < len(lowered) else ""
    if lowered.count(lowered[at]) > 1 or len(name) < 3:
        return True
    if before_end in PERSON_VERBS or lowered[at].endswith("'s"):
        return False
    verb = before_end in VERB_AFTER or (before_end.endswith(("ed", "s")) and len(before_end) > 4)
    return not verb or name.endswith(("ing", "ly", "s", "tion"))


def _names_nothing(word: str, lowered: str, found: _Collector) -> bool:
    """Whether a word, or what stands before its apostrophe, is a common one and no name that is known."""
    plain = lowered in NOT_NAMES or _APOSTROPHE.split(lowered, 1)[0] in NOT_NAMES
    return plain and not found.is_known(word)


def _clean(name: str) -> str:
    """The name without a possessive ending."""
    for ending in _POSSESSIVES:
        name = name.removesuffix(ending)
    return name.strip(".-'’")


def _begins_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 3) : at].rstrip(" ")
    return not before or before[-1] in _SENTENCE_EDGE


def _type_of(lowered: list[str], begin: int, stop: int) -> str:
    last = lowered[stop - 1]
    if lowered[begin] in TITLES or (begin and lowered[begin - 1] in TITLES):
        return "PERSON"
    if last in ORG_ENDINGS and stop - begin > 1:
        return "ORG"
    if last in PLACE_ENDINGS and stop - begin > 1:
        return "PLACE"
    if " ".join(lowered[max(0, begin - 2) : begin]) in PLACE_BEFORE or (
        begin and lowered[begin - 1] in ("visited", "visiting")
    ):
        return "PLACE"
    after = lowered[stop] if stop < len(lowered) else ""
    return "PERSON" if after in PERSON_VERBS and stop - begin <= 3 else "CONCEPT"


def _specials(text: str, found: _Collector) -> None:
    """Handles, tags, addresses, tickets, files, identifiers and quoted titles."""
    for match in _SPECIAL.finditer(text):
        kind = match.lastgroup
        if match["email"]:
            found.add(match["email"].lower(), "CONCEPT")
        elif match["domain"]:
            found.add(match["domain"].lower(), "CONCEPT")
        elif kind and not (kind == "quoted" and _is_speech(match[kind])):
            found.add(match[kind].rstrip(".,!?;:"), "CONCEPT")


def _is_speech(quoted: str) -> bool:
    """Whether quoted words are something said rather than a title."""
    words = quoted.lower().split()
    return len(words) > _MAX_TITLE_WORDS or all(word.strip(".,!?") in NOT_NAMES for word in words)


def _cjk(text: str, found: _Collector) -> None:
    for match in _CJK.finditer(text):
        if match["org"]:
            found.add(match["org"], "ORG")
        else:
            found.add(match["person"] or match["korean"], "PERSON")
