"""Entities by rules."""

from __future__ import annotations

import unicodedata

import pytest

from lorebank.banks.extract import EntityInput, ExtractSettings, ItemInput, KnownEntities, extract
from lorebank.banks.extract.entities import find_entities


def names(text: str, known: KnownEntities | None = None) -> list[str]:
    return [e.name for e in find_entities(text, known or KnownEntities())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alice prefers tea.", ["Alice"]),
        ("The meeting with Peter Novak in Lisbon was long.", ["Peter Novak", "Lisbon"]),
        ("We read The Lord of the Rings aloud.", ["Lord of the Rings"]),
        ("Painting is fun and it helps.", []),
        ("However, nothing happened on Monday in March.", []),
        ("ask @maria_k about #gardening", ["maria_k", "gardening"]),
        ("Write to ann.lee@mail.example.org", ["ann.lee@mail.example.org"]),
        ("see https://www.docs.example.com/x?y=1 for it", ["docs.example.com"]),
        ("it is in GOALS.md, ticket ABC-123", ["GOALS.md", "ABC-123"]),
        ("call parse_text in TextParser via 9router", ["parse_text", "TextParser", "9router"]),
        ("they sang “Blue Harbour Song” twice", ["Blue Harbour Song"]),
        ("我在读《红楼梦》", ["红楼梦"]),
        ("请看GOALS.md文件和9router，我在Berlin工作", ["GOALS.md", "9router", "Berlin"]),
        ("田中さんは昨日来ました", ["田中"]),
        ("김민수 씨가 왔어요", ["김민수"]),
        ("I saw Anna's brother", ["Anna"]),
    ],
)
def test_names_are_found(text: str, expected: list[str]) -> None:
    assert sorted(names(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("I saw Dr. Ortiz today", "Dr. Ortiz", "PERSON"),
        ("Nora lives in a boat", "Nora", "PERSON"),
        ("she joined Harbour Tools GmbH", "Harbour Tools GmbH", "ORG"),
        ("he lives in Tromsø", "Tromsø", "PLACE"),
        ("we walked along Baker Street", "Baker Street", "PLACE"),
        ("it is written in Rust", "Rust", "CONCEPT"),
        ("他在腾讯公司工作", "他在腾讯公司", "ORG"),
    ],
)
def test_a_type_is_given_only_where_a_rule_knows_it(text: str, name: str, kind: str) -> None:
    assert (name, kind) in [(e.name, e.type) for e in find_entities(text)]


def test_known_entities_are_found_in_any_case_and_at_the_sentence_start() -> None:
    known = KnownEntities(["Blue Harbour", "tea ceremony", "Blue", "北京", "Straße 9"])
    assert names("blue harbour opened a TEA CEREMONY", known) == ["Blue Harbour", "tea ceremony"]
    assert names("我住在北京", known) == ["北京"]
    assert "Straße 9" in names("an der strasse 9", known)
    assert (len(known), "BLUE" in known, known.name_of("blue  harbour")) == (5, True, "Blue Harbour")


def test_a_known_name_is_found_in_its_possessive() -> None:
    assert names("that is blue harbour's boat", KnownEntities(["Blue Harbour"])) == ["Blue Harbour"]


def test_both_unicode_forms_of_a_name_are_one_entity() -> None:
    composed, decomposed = (unicodedata.normalize(form, "Zoë Müller") for form in ("NFC", "NFD"))
    assert names(f"I met {composed}.") == names(f"I met {decomposed}.") == [composed]
    assert KnownEntities([composed, decomposed]).name_of(decomposed) == composed
    assert len(KnownEntities([composed, decomposed])) == 1


def test_speakers_are_persons_and_their_short_names_stand_for_them() -> None:
    content = "Melanie: I saw a heron.\nTom: Mel, was it grey?\nMelanie: It was a grey heron."
    found = extract(ItemInput(content), ExtractSettings()).facts
    assert [(e.name, e.type) for e in found[1].entities] == [("Tom", "PERSON"), ("Melanie", "PERSON")]


def test_roles_are_no_entities() -> None:
    content = "User: I keep bees.\nAssistant: I wrote down that you keep bees."
    found = extract(ItemInput(content), ExtractSettings()).facts
    assert [fact.entities for fact in found] == [(), ()]


def test_given_entities_come_with_the_facts_that_name_them_or_with_all() -> None:
    content = "Ann: I moved to Gdynia.\nBen: My dog is called Rex."
    item = ItemInput(content, entities=(EntityInput("gdynia", "PLACE"), EntityInput("Rex")))
    first, second = extract(item, ExtractSettings()).facts
    assert ("gdynia", "PLACE") in [(e.name, e.type) for e in first.entities]
    assert [e.name.lower() for e in first.entities].count("gdynia") == 1
    assert ("Rex", "CONCEPT") in [(e.name, e.type) for e in second.entities]
    elsewhere = extract(ItemInput(content, entities=(EntityInput("Case 9"),)), ExtractSettings()).facts
    assert all(fact.entities[0].name == "Case 9" for fact in elsewhere)


def test_without_free_form_only_given_entities_remain() -> None:
    item = ItemInput("Nora lives in Tromsø.", entities=(EntityInput("Nora"),))
    (fact,) = extract(item, ExtractSettings(entities_allow_free_form=False)).facts
    assert [e.name for e in fact.entities] == ["Nora"]
