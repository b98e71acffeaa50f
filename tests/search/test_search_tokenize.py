"""Terms: one function for index and query, in every script."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lorebank.search.tokenize import MAX_TERM_CHARS, name_terms, query_terms, terms

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@given(ANY_TEXT)
@example("İıſß ǅ \ud800 \x00 ﷺ")
@example("가각 กำ क्षि")
def test_any_string_gives_the_same_clean_terms_every_time(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert all(
        term and term == term.strip() and " " not in term and len(term) <= MAX_TERM_CHARS for term in found
    )
    " ".join(found).encode("utf-8")


@given(ANY_TEXT)
@example("Müller café Việt が 각")
def test_composed_and_decomposed_text_give_equal_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


@given(ANY_TEXT)
def test_query_terms_are_terms_of_the_index(text: str) -> None:
    found = query_terms(text)
    assert set(found) <= set(terms(text))
    assert len(found) == len(set(found))
    assert bool(found) == bool(terms(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GOALS.md", {"goals.md", "goal", "md"}),
        ("9router", {"9router", "router"}),
        ("read_file_lines", {"read_file_lines", "read", "file", "line"}),
        ("parseHttpRequest", {"parsehttprequest", "pars", "http", "request"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("v1.2.3", {"v1.2.3"}),
        ("src/app/main.py", {"src/app/main.py", "src", "app", "main", "py"}),
        ("ann@mail.org", {"ann@mail.org", "ann", "mail", "org"}),
    ],
)
def test_identifiers_are_kept_whole_and_split(text: str, expected: set[str]) -> None:
    assert set(terms(text)) == expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("painted", "paints"),
        ("Ann's", "ann"),
        ("1,250,000", "1250000"),
        ("İSTANBUL", "istanbul"),
        ("ISPARTA", "ısparta"),
        ("STRASSE", "straße"),
        ("café", "CAFE"),
        ("ＧＯＡＬ", "goal"),
        ("الكِتَاب", "كتاب"),
        ("إسلام", "اسلام"),
    ],
)
def test_forms_of_one_word_share_a_term(left: str, right: str) -> None:
    assert set(terms(left)) & set(terms(right))


def test_umlauts_are_found_in_both_spellings() -> None:
    assert set(terms("Müller")) >= set(terms("Muller")) | set(terms("Mueller"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京烤鸭", ["北京", "京烤", "烤鸭"]),
        ("猫", ["猫"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("어제", ["어제"]),
        ("แมว", ["แม", "มว"]),
        ("用GOALS.md和9router部署", ["用", "goals.md", "goal", "md", "和", "9router", "router", "部署"]),
    ],
)
def test_scripts_without_spaces_become_bigrams_beside_other_words(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_stop_words_go_from_queries_unless_nothing_else_is_left() -> None:
    assert query_terms("When did Ann paint the boat?") == ["ann", "paint", "boat"]
    assert query_terms("who is he") == ["who", "is", "he"]


def test_very_long_tokens_are_cut() -> None:
    assert all(len(term) <= MAX_TERM_CHARS for term in terms("x" * 10_000 + " " + "a.b" * 500 + "漢" * 300))


def test_names_are_findable_by_each_part() -> None:
    assert name_terms("Ann B. Öztürk") == ("ann", "ozturk", "oeztuerk")
