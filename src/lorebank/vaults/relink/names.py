"""The names of a partition's pages: id, title and aliases, as one index that finds them in a text.

A text is walked once; at each word the longest name that begins there is found by steps in a tree. No name is
longer than `MAX_NAME_WORDS`, so the work is linear in the text and does not depend on the number of pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.values import Record
from lorebank.vaults.relink.scan import Word, fold, normal, words

MAX_NAME_WORDS: Final = 24
"""Longer names are compared with a whole hint only, never looked for in a text."""
PROPER: Final = frozenset({"person", "company", "place"})
"""Types whose names of several words count in small letters too: they seldom are ordinary words."""
Standing = Literal["subject", "unusable", "other"]


@dataclass(frozen=True, slots=True)
class Page:
    """An active page as far as linking goes.

    `standing`: `subject` may be linked to; `unusable` is an entity that may not (not valid, or its id is
    there twice), whose names only make a claim ambiguous; `other` is not an entity.
    """

    id: str
    title: str
    aliases: tuple[str, ...] = ()
    type: str | None = None
    standing: Standing = "subject"


@dataclass(slots=True)
class Name:
    """What one name stands for, by folded form. `forms` are its spellings as written on the pages."""

    subjects: set[str] = field(default_factory=set)
    unusable: bool = False
    other: bool = False
    forms: set[str] = field(default_factory=set)
    is_id: bool = False
    needs_capital: bool = True

    @property
    def entity(self) -> bool:
        """Whether an entity has this name."""
        return bool(self.subjects) or self.unusable

    @property
    def only(self) -> str | None:
        """The one subject that it stands for; None when there are more, or one that is not usable."""
        return next(iter(self.subjects)) if len(self.subjects) == 1 and not self.unusable else None


_Node = dict[str, Any]
_HERE: Final = ""


class Names:
    """The index. Not changed after it was made; safe from any thread."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._pages: dict[str, Page] = {}
        self._whole: dict[str, Name] = {}
        self._tree: _Node = {}
        self.parts: set[str] = set()
        """Single words of longer names of entities, casefolded: nobody is guessed by them."""
        for page in pages:
            self._add(page)

    def page(self, page_id: str | None) -> Page | None:
        """The active entity page with that id, None when there is none that may be linked to."""
        page = None if page_id is None else self._pages.get(page_id)
        return page if page is not None and page.standing == "subject" else None

    def named(self, text: str) -> Name | None:
        """What `text` as a whole is the name of."""
        return self._whole.get(fold(text))

    def longest(self, text: Sequence[Word], at: int) -> tuple[int, Name] | None:
        """The longest name that begins at the word: how many words it takes, and what it stands for."""
        node, found = self._tree.get(text[at].folded), None
        reach = min(at + MAX_NAME_WORDS, len(text))
        taken = at + 1
        while node is not None:
            if _HERE in node:
                found = (taken - at, node[_HERE])
            if taken >= reach:
                break
            node, taken = node.get(text[taken].edge), taken + 1
        return found

    def _add(self, page: Page) -> None:
        if page.standing != "other":
            self._pages[page.id] = page
        self._name(page, page.id, is_id=True)
        for name in (page.title, *page.aliases):
            self._name(page, name, is_id=False)

    def _name(self, page: Page, form: str, *, is_id: bool) -> None:
        form, folded = normal(form), fold(form)
        if not folded:
            return
        name = self._whole.setdefault(folded, Name())
        _note(name, page, form)
        path = words(" ".join(form.split()))
        if not path or len(path) > MAX_NAME_WORDS:
            return
        if is_id and len(path) == 1 and path[0].raw.isalpha():
            return  # an id that is a word is not looked for in texts
        node = self._tree.setdefault(path[0].folded, {})
        for word in path[1:]:
            node = node.setdefault(word.edge, {})
        name = node.setdefault(_HERE, Name())
        _note(name, page, form)
        name.is_id = name.is_id or is_id
        loose = is_id or (len(path) > 1 and page.type in PROPER)
        name.needs_capital = name.needs_capital and not loose and any(word.capital for word in path)
        if page.standing != "other" and len(path) > 1:
            self.parts.update(word.folded for word in path)


def _note(name: Name, page: Page, form: str) -> None:
    name.forms.add(form)
    if page.standing == "subject":
        name.subjects.add(page.id)
    elif page.standing == "unusable":
        name.unusable = True
    else:
        name.other = True


def pages_of(records: Iterable[Record], ontology: Ontology) -> list[Page]:
    """The active pages among a partition's records. A page whose id is not its own cannot be linked to."""
    records = list(records)
    seen: dict[str, int] = {}
    for record in records:
        seen[record.id] = seen.get(record.id, 0) + 1
    active = [record for record in records if record.kind == "page" and record.lifecycle == "active"]
    return [
        Page(one.id, one.title, one.aliases, one.type, _standing(one, ontology, seen[one.id]))
        for one in active
    ]


def _standing(record: Record, ontology: Ontology, times: int) -> Standing:
    if not ontology.is_entity(record.type):
        return "other"
    return "subject" if record.valid and times == 1 else "unusable"
