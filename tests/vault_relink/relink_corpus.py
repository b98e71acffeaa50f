"""A made partition of claims whose subjects are known, traps included. A seed always gives the same."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from vault_kit.memory_vault import MemoryVault

FIRST = [
    "Mara",
    "Jonas",
    "Eva",
    "Rolf",
    "Wilma",
    "Pavel",
    "Ines",
    "Tomas",
    "Greta",
    "Oskar",
    "Lucia",
    "Henrik",
    "Nadia",
    "Simon",
    "Petra",
    "Viktor",
]
LAST = [
    "Olsen",
    "Berg",
    "Lind",
    "Holm",
    "Stone",
    "Novak",
    "Duarte",
    "Kvist",
    "Sommer",
    "Aalto",
    "Reyes",
    "Falk",
    "Moreau",
    "Haas",
    "Brandt",
    "Vega",
]
FIRMS = [
    "Acme",
    "Northwind",
    "Tallgrass",
    "Bluefin",
    "Orrery",
    "Lumenor",
    "Kestrel",
    "Pinewright",
    "Solvane",
    "Quarrymen",
]
PROJECTS = ["Search", "Falcon", "Coffee Machine", "Blue Harbor", "Node.js", "Atlas"]
STRANGERS = ["Bogdan", "Farah", "Keiko", "Leopold", "Umberto", "Zainab"]
CITIES = ["Lisbon", "Graz", "Tampere", "Porto", "Vilnius", "Leeds"]
HAN = ["李明", "王芳", "张伟杰", "陈静怡"]
KANA = ["ジョン", "マリア"]
HANGUL = ["김철수", "박지민"]
PLAIN = [
    "prefers tea over coffee",
    "keeps the minutes of every meeting",
    "wants the report before noon",
    "moved the deadline by a week",
    "works from home on Fridays",
    "signed the agreement in March",
    "asked for the API documentation",
]


class QuickVault(MemoryVault):
    """A vault that takes files without looking at them."""

    def put(self, path: str, data: bytes) -> str:
        self.files[path] = data
        return ""


@dataclass
class Corpus:
    """`expected` has the tier and the page of each claim that must be linked, None of all others."""

    vault: MemoryVault
    expected: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    outside: set[str] = field(default_factory=set)


class Maker:
    def __init__(self, seed: int, size: int, people: int) -> None:
        self._chance = random.Random(seed)
        self._size, self._people = size, people
        self.corpus = Corpus(QuickVault())
        self._vault = self.corpus.vault
        self.people: list[tuple[str, str, str]] = []
        self.firms: list[tuple[str, str]] = []
        self.projects: list[tuple[str, str]] = []
        self.scripts: dict[str, str] = {}

    def id(self) -> str:
        return str(uuid.UUID(int=self._chance.getrandbits(128), version=4))

    def page(self, title: str, type: str = "person", **more: Any) -> str:
        page_id = self.id()
        self._vault.page(title, type, id=page_id, path=f"{type}/{len(self._vault.files)}.md", **more)
        return page_id

    def pages(self) -> None:
        pairs = [(first, last) for first in FIRST for last in LAST]
        for number, (first, last) in enumerate(self._chance.sample(pairs, self._people)):
            aliases = [f"{first[0]}{last[:3]}-{number}"] if number % 3 == 0 else []
            page = self.page(f"{first} {last}", aliases=aliases)
            self.people.append((page, f"{first} {last}", aliases[0] if aliases else ""))
        self.firms = [(self.page(name, "company"), name) for name in FIRMS]
        self.projects = [(self.page(name, "project"), name) for name in PROJECTS]
        for name in (*HAN, *KANA, *HANGUL):
            self.scripts[name] = self.page(name)
        self.twins = [self.page("Anna Twin", aliases=["Annika"]), self.page("Lena Twin", aliases=["Annika"])]
        self.page("Old Timer", lifecycle="superseded")
        self.page("Former Partner", "company", lifecycle="withdrawn")
        self.concept = self.page("Slow Mornings", "source")
        self.broken = self.page("Broken Page", "project", fields={"status": "no such status"})

    def claims(self) -> None:
        kinds: list[Callable[[], None]] = [
            *(self.full_name, self.alias, self.firm, self.project, self.by_id, self.from_page, self.by_hint),
            *(self.own_script, self.small_letters, self.opener),
            *(self.two_pages, self.stranger, self.city, self.first_name, self.shared_alias, self.shared_hint),
            *(
                self.surname,
                self.longer_firm,
                self.not_active,
                self.concept_only,
                self.nobody,
                self.elsewhere,
            ),
            *(self.in_code, self.ordinary_word, self.foreign_script, self.stranger_hint, self.invalid_page),
        ]
        while len(self.corpus.expected) < self._size:
            kinds[len(self.corpus.expected) % len(kinds)]()
        self.not_candidates()

    # --- linked

    def full_name(self) -> None:
        page, name, _ = self._chance.choice(self.people)
        text = self._chance.choice(["{n} {p}.", "The owner says that {n} {p}.", "In May {n}'s team {p}."])
        self._add(text.format(n=name, p=self._plain()), ("mention", page))

    def alias(self) -> None:
        page, _, alias = self._chance.choice([one for one in self.people if one[2]])
        self._add(f"We know that {alias} {self._plain()}.", ("mention", page))

    def firm(self) -> None:
        page, name = self._chance.choice(self.firms)
        self._add(f"Our contract with {name} ends in Q3.", ("mention", page))

    def project(self) -> None:
        page, name = self._chance.choice(self.projects)
        self._add(f"The status of {name} is unknown to the team.", ("mention", page))

    def by_id(self) -> None:
        page, _, _ = self._chance.choice(self.people)
        self._add(f"The person `{page}` {self._plain()}.", ("mention", page))

    def from_page(self) -> None:
        page, _, _ = self._chance.choice(self.people)
        other = self._chance.choice(self.firms)[1]
        self._add(f"{self._chance.choice(STRANGERS)} met {other}.", ("page", page), source_page=page)

    def by_hint(self) -> None:
        page, name, _ = self._chance.choice(self.people)
        self._add(
            f"Somebody in {self._chance.choice(CITIES)} {self._plain()}.", ("hint", page), subject_hint=name
        )

    def own_script(self) -> None:
        name = self._chance.choice([*HAN, *KANA, *HANGUL])
        text = (
            f"{name}喜欢喝茶。"
            if name in HAN
            else f"{name}は紅茶が好き。"
            if name in KANA
            else f"{name}는 차를 마신다."
        )
        self._add(text, ("mention", self.scripts[name]))

    def small_letters(self) -> None:
        page, name, _ = self._chance.choice(self.people)
        self._add(f"i heard that {name.lower()} {self._plain().lower()}", ("mention", page))

    def opener(self) -> None:
        page, name, _ = self._chance.choice(self.people)
        self._add(f"Deployments wait until {name} is back. Yesterday {name} was ill.", ("mention", page))

    # --- left alone

    def two_pages(self) -> None:
        self._add(f"{self._chance.choice(self.people)[1]} works for {self._chance.choice(FIRMS)}.", None)

    def stranger(self) -> None:
        name = self._chance.choice(self.people)[1]
        who = self._chance.choice(STRANGERS)
        text = self._chance.choice(["We heard {s} and {n}.", "{n} married {s}.", "It was {n}, or {s}."])
        self._add(text.format(n=name, s=who), None)

    def city(self) -> None:
        self._add(f"{self._chance.choice(self.people)[1]} moved to {self._chance.choice(CITIES)}.", None)

    def first_name(self) -> None:
        self._add(f"We asked {self._chance.choice(FIRST)}, who {self._plain()}.", None)

    def shared_alias(self) -> None:
        self._add(f"We asked Annika, who {self._plain()}.", None)

    def shared_hint(self) -> None:
        self._add(f"Somebody {self._plain()}.", None, subject_hint="Annika")

    def surname(self) -> None:
        self._add(f"It was {self._chance.choice(STRANGERS)} {self._chance.choice(LAST)} who called.", None)

    def longer_firm(self) -> None:
        self._add(f"The {self._chance.choice(FIRMS)} {self._chance.choice(CITIES)} office is closed.", None)

    def not_active(self) -> None:
        self._add(self._chance.choice(["We met Old Timer.", "The Former Partner office is closed."]), None)

    def concept_only(self) -> None:
        self._add("The idea of Slow Mornings is good.", None)

    def nobody(self) -> None:
        self._add(f"Somebody {self._plain()}.", None)

    def elsewhere(self) -> None:
        self._add("We met Elsewhere Person at noon.", None)

    def in_code(self) -> None:
        firm = self._chance.choice(FIRMS)
        self._add(f"Run `{firm}` or see https://{firm}.example/{firm} and {firm}@mail.example.", None)

    def ordinary_word(self) -> None:
        self._add(
            self._chance.choice(["the search is slow", "our coffee machine broke", "a falcon flew by"]), None
        )

    def foreign_script(self) -> None:
        texts = [
            "李明和王大卫去了北京。",
            "张伟杰斯在上海。",
            "ジョンソンは来る。",
            "鈴木さんとジョンは来る。",
            "김철수민은 왔다.",
        ]
        self._add(self._chance.choice(texts), None)

    def stranger_hint(self) -> None:
        hint = f"{self._chance.choice(STRANGERS)} {self._chance.choice(LAST)}"
        self._add(f"Likes what {self._chance.choice(FIRMS)} does.", None, subject_hint=hint)

    def invalid_page(self) -> None:
        self._add("The Broken Page is due.", None, source_page=self.broken)

    def not_candidates(self) -> None:
        """Claims that relink never looks at, although each names exactly one page."""
        _page, name, _ = self.people[0]
        upload = self._vault.source("A file.", origin="knowledge_attach_file")
        for more in (
            {"source": upload, "quote": None},
            {"lifecycle": "withdrawn"},
            {"entities": [self.people[1][0]]},
            {"claim_kind": "no such kind"},
        ):
            self.corpus.outside.add(self._claim(f"{name} prefers tea.", **more))

    def _plain(self) -> str:
        return self._chance.choice(PLAIN)

    def _add(self, text: str, expected: tuple[str, str] | None, **more: Any) -> None:
        self.corpus.expected[self._claim(text, **more)] = expected

    def _claim(self, text: str, **more: Any) -> str:
        more = {"id": self.id(), "remembered": True, "source": self.excerpt, "quote": None} | more
        self._vault.claim(text, more.pop("source"), more.pop("quote"), **more)
        return str(more["id"])

    def make(self) -> Corpus:
        self.excerpt = self._vault.source("What was said.", origin="knowledge_remember")
        self.pages()
        self.claims()
        return self.corpus


def corpus(size: int, seed: int = 4, people: int = 120) -> Corpus:
    """A partition with `size` claims on `people` and others, and a few claims that are no candidates."""
    return Maker(seed, size, people).make()
