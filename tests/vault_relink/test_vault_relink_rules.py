"""Whom a claim is about: the three tiers, competing names, scripts, and hostile texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorebank.vaults.relink.names import Names, Page
from lorebank.vaults.relink.outcome import AMBIGUOUS, NO_SUBJECT, Outcome
from lorebank.vaults.relink.rules import Claim, judge

MARA = "11111111-1111-4111-8111-111111111111"
PAGES = [
    Page(MARA, "Mara Olsen", ("Mara O.", "MO"), "person"),
    Page("id-acme-1", "Acme", ("Acme Coffee",), "company"),
    Page("id-berg-1", "Jonas Berg", ("Jonas",), "person"),
    Page("id-lind-1", "Eva Lind", ("Eva",), "person"),
    Page("id-holm-1", "Eva Holm", ("Eva",), "person"),
    Page("id-hidden", "Rolf Dahl", (), "person", "unusable"),
    Page("id-tea", "Tea Ceremony", (), "concept", "other"),
    Page("id-search", "Search", (), "project"),
    Page("id-machine", "Coffee Machine", (), "project"),
    Page("id-will", "Wilma Stone", ("Will", "April"), "person"),
    Page("id-jo", "Jo", (), "person"),
    Page("id-ming", "李明", (), "person"),
    Page("id-uni", "北京大学", (), "company"),
    Page("id-tanaka", "田中", (), "person"),
    Page("id-kim", "김철수", (), "person"),
    Page("id-kimj", "김정", (), "person"),
    Page("id-john", "ジョン", (), "person"),
    Page("id-ivan", "Иван Петров", ("Иван",), "person"),
    Page("id-ram", "राम", (), "person"),
    Page("id-node", "Node.js", (), "project"),
]
NAMES = Names(PAGES)


def says(text: str, **more: str) -> Outcome:
    return judge(Claim("c", text, **more), NAMES)


def mention(page: str) -> Outcome:
    return Outcome("linked", "mention", page)


LINKED = {
    "Mara Olsen prefers tea.": MARA,
    "The agreement is with Mara Olsen's office.": MARA,
    "mara olsen prefers tea": MARA,
    "MARA OLSEN prefers tea": MARA,
    f"Ask {MARA} about tea.": MARA,
    f"Ask `{MARA}` about tea.": MARA,
    "We met Mara O. at noon.": MARA,
    "The contract is with MO since 2024.": MARA,
    "Yesterday Mara Olsen talked about the API on Monday.": MARA,
    "Deployments wait for Mara Olsen.": MARA,
    "Mara Olsen is the CEO since Q3.": MARA,
    "Mara Olsen likes the Tea Ceremony.": MARA,
    "Mara Olsen, and again Mara Olsen.": MARA,
    "Mara\nOlsen prefers tea.": MARA,
    "Acme ships on Fridays.": "id-acme-1",
    "Acme Coffee ships on time.": "id-acme-1",
    "The order of l'Acme is late.": "id-acme-1",
    "We rely on Search for this.": "id-search",
    "The beans of the Coffee Machine are gone.": "id-machine",
    "Written for Node.js first.": "id-node",
    "We asked Jonas to come.": "id-berg-1",
    "We asked Jo to come.": "id-jo",
    "李明喜欢喝茶。": "id-ming",
    "他说李明在上海。": "id-ming",
    "北京大学提出了一个计划。": "id-uni",
    "田中さんは紅茶が好きです。": "id-tanaka",
    "ジョンは来週来る。": "id-john",
    "김철수는 차를 좋아한다.": "id-kim",
    "김철수가 왔다.": "id-kim",
    "김정는 왔다.": "id-kimj",
    "Вчера был разговор: Иван Петров любит чай.": "id-ivan",
    "иван петров любит чай.": "id-ivan",
    "राम को चाय पसंद है।": "id-ram",
    "See https://acme.example/Berlin and mara@acme.example; Mara Olsen knows.": MARA,
    "Mara Olsen wrote it.\n```\nAcme = Jonas\n```\n": MARA,
    "Mara Olsen calls it `Acme.run`.": MARA,
}


@pytest.mark.statement("4.1.5")
@pytest.mark.parametrize(("text", "page"), LINKED.items())
def test_4_1_5_a_text_that_names_one_page_and_nobody_else_is_linked(text: str, page: str) -> None:
    assert says(text) == mention(page)


UNLINKED = {
    "two pages": ("Mara Olsen works for Acme.", "ambiguous"),
    "a shared first name": ("We asked Eva to come.", "ambiguous"),
    "a name that nobody has": ("Mara Olsen visited Lisbon.", "ambiguous"),
    "another surname": ("We met Jonas Kvist.", "ambiguous"),
    "another first name": ("Anna Mara Olsen came.", "ambiguous"),
    "a longer name": ("The Acme Robotics fair was good.", "ambiguous"),
    "a bare first name": ("We met Mara at noon.", "no_subject"),
    "a first name that begins": ("Mara said that Acme is late.", "ambiguous"),
    "an owner that begins": ("Peter's view of Acme is bad.", "ambiguous"),
    "an initial": ("We met J. Kvist and Mara Olsen.", "ambiguous"),
    "a title": ("Dr. Kvist met Mara Olsen.", "ambiguous"),
    "an unusable page": ("Rolf Dahl prefers tea.", "ambiguous"),
    "a part of a word": ("Acmeville is far away.", "no_subject"),
    "a domain": ("The site is Acme.com today.", "ambiguous"),
    "a file": ("See the notes in acme.pdf today.", "no_subject"),
    "another family": ("D'Acme came late.", "ambiguous"),
    "an ordinary word": ("We improved the search.", "no_subject"),
    "ordinary words": ("The coffee machine broke.", "no_subject"),
    "a word that is a name": ("Will the release ship?", "ambiguous"),
    "a month that is a name": ("It ships in April.", "ambiguous"),
    "a short word": ("We asked JO to come.", "no_subject"),
    "over the end of a sentence": ("We met Mara. Olsen came.", "no_subject"),
    "over a paragraph": ("We met mara\n\nolsen came.", "no_subject"),
    "an address only": ("Write to mara@acme.com or see http://acme.com/Acme", "no_subject"),
    "code only": ("Run `Acme` now.", "no_subject"),
    "nothing": ("", "no_subject"),
    "no entity": ("The Tea Ceremony takes long.", "no_subject"),
    "a list in Han": ("李明和王芳去了北京。", "ambiguous"),
    "a longer name in Han": ("北京大学出版社发布了书。", "ambiguous"),
    "a longer person in Han": ("李明华在上海。", "ambiguous"),
    "somebody else in Japanese": ("鈴木さんと話した。ジョンは来る。", "ambiguous"),
    "a longer name in katakana": ("ジョンソンは来週来る。", "ambiguous"),
    "a longer name in Hangul": ("김정은 왔다.", "ambiguous"),
    "with somebody in Hangul": ("김철수와 이영희가 왔다.", "ambiguous"),
    "another name in Cyrillic": ("иван петров знает Анну.", "ambiguous"),
    "a mark that makes another word": ("रामी को चाय पसंद है।", "no_subject"),
}


@pytest.mark.statement("4.1.6")
@pytest.mark.parametrize("case", UNLINKED)
def test_4_1_6_anything_else_is_ambiguous_or_has_no_subject(case: str) -> None:
    text, kind = UNLINKED[case]
    assert says(text).kind == kind, text


def test_4_1_3_the_source_page_decides_whatever_the_text_says() -> None:
    assert says("Jonas Berg met Acme in Lisbon.", source_page=MARA) == Outcome("linked", "page", MARA)


@pytest.mark.parametrize("page", ["id-tea", "id-hidden", "gone", ""])
def test_4_1_3_a_source_page_that_is_no_usable_entity_page_leaves_it_to_the_next_tier(page: str) -> None:
    assert says("mara olsen prefers tea", source_page=page) == mention(MARA)


@pytest.mark.parametrize("hint", ["Mara Olsen", "  mara   OLSEN ", "MO", MARA])
def test_4_1_4_a_hint_that_names_one_page_is_linked(hint: str) -> None:
    assert says("Prefers Acme over Lisbon.", subject_hint=hint) == Outcome("linked", "hint", MARA)


@pytest.mark.statement("4.1.4", "4.1.7")
def test_4_1_7_the_tiers_run_page_hint_mention() -> None:
    found = says("We asked Jo.", source_page="id-acme-1", subject_hint="Mara Olsen")
    assert found == Outcome("linked", "page", "id-acme-1")
    assert says("We asked Jo.", subject_hint="Mara Olsen") == Outcome("linked", "hint", MARA)
    assert says("We asked Jo.", subject_hint="the user") == mention("id-jo")


def test_a_hint_that_names_somebody_unknown_keeps_the_text_from_deciding() -> None:
    assert says("Prefers Acme.", subject_hint="Peter Kvist") == AMBIGUOUS
    assert says("Prefers tea.", subject_hint="Peter Kvist") == NO_SUBJECT


def test_a_shared_hint_leaves_the_choice_to_the_text() -> None:
    assert says("eva lind prefers tea", subject_hint="Eva") == mention("id-lind-1")
    assert says("mara olsen prefers tea", subject_hint="Eva") == AMBIGUOUS
    assert says("prefers tea", subject_hint="Eva") == AMBIGUOUS


def test_the_longest_name_wins() -> None:
    names = Names([Page("a", "Mara", (), "person"), Page("b", "Mara Olsen", (), "person")])
    assert judge(Claim("c", "mara olsen prefers tea"), names) == mention("b")
    assert judge(Claim("c", "We met Mara at noon"), names) == mention("a")


def test_composed_and_decomposed_letters_are_the_same_name() -> None:
    names = Names([Page("z", "Zoe\u0308 A\u0301vila", (), "person")])
    assert judge(Claim("c", "Zo\u00eb \u00c1vila prefers tea"), names) == mention("z")


@pytest.mark.statement("4.1.17")
def test_4_1_17_only_pages_that_are_in_the_index_count() -> None:
    assert judge(Claim("c", "We asked Eva to come."), Names([PAGES[3]])) == mention("id-lind-1")


@pytest.mark.parametrize(
    "text",
    [
        "a@" * 24000,
        "`" * 49999,
        "Mara " * 9900,
        "mara olsen " * 4500,
        "```\n" * 12000,
        "\n - " * 12000,
        "ab" * 24000 + "://",
        "](" * 24000,
        "李" * 49000,
        "́" * 49000,
        "x" * 5000000,
    ],
    ids=range(11),
)
def test_hostile_texts_are_read_once_and_link_nothing_wrong(text: str) -> None:
    """Work that grows with the square of these lengths would not come to an end here."""
    assert says(text, subject_hint=text) in (NO_SUBJECT, AMBIGUOUS, mention(MARA))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.text(max_size=40))
def test_any_text_gets_an_outcome_and_always_the_same(text: str, hint: str) -> None:
    claim = Claim("c", text, subject_hint=hint)
    found = judge(claim, NAMES)
    assert found == judge(claim, Names(reversed(PAGES)))
    assert (found.subject is not None) == (found.kind == "linked") == (found.tier is not None)
