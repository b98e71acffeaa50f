"""Searching a partition: order, filters, dates, paging, and what must not be felt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lorebank.access.audience import Partition
from lorebank.errors import Conflict, InvalidInput, Unavailable
from lorebank.vaults.find.cursor import encode
from lorebank.vaults.find.question import Question
from lorebank.vaults.find.search import search
from made_vault import MadeVault, MadeView

SESSION = Partition("33333333-3333-4333-8333-333333333333")


def found(view: MadeView, query: str = "", **rest: Any) -> list[str]:
    """The titles of the hits."""
    options = {name: rest.pop(name) for name in ("limit", "cursor") if name in rest}
    return [hit["title"] for hit in search(view, Question(query, **rest), **options)["hits"]]


def test_exact_title_comes_before_what_only_mentions_it(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    vault.claim("Ann Miller, Ann Miller and again Ann Miller was seen.")
    vault.page("Ann Miller", "Works on the harbour.")
    hits = search(vault.view(), Question("ann  MILLER"))["hits"]
    assert hits[0]["title"] == "Ann Miller"
    assert (hits[0]["score"], hits[0]["exact"]) == (1.0, "title")
    assert 0 < hits[1]["score"] < 1 and "exact" not in hits[1]


def test_an_alias_and_an_id_name_a_page_whatever_the_unicode_form(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    page = vault.page("Robert Strauß", "Bakes.", aliases=["Bäcker Bob"])
    vault.page("Someone else", "Bakes too.")
    view = vault.view()
    decomposed = search(view, Question("BA\u0308CKER bob"))["hits"]
    assert (decomposed[0]["id"], decomposed[0]["exact"]) == (page, "alias")
    assert search(view, Question(page))["hits"][0]["exact"] == "id"
    assert search(view, Question("robert STRAUSS"))["hits"][0]["exact"] == "title"


def test_1_9_78_no_match_is_an_empty_list(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    assert search(vault.view(), Question("anything")) == {"hits": [], "total": 0, "nextCursor": None}
    vault.claim("The ferry leaves at nine.")
    assert search(vault.view(), Question("zeppelin")) == {"hits": [], "total": 0, "nextCursor": None}


@pytest.mark.statement("1.9.78")
def test_empty_is_an_answer_for_a_filter_too(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    vault.claim("The ferry leaves at nine.")
    assert search(vault.view(), Question(kinds=("relationship",)))["hits"] == []


def test_hits_show_words_dates_origin_and_entities(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    ann = vault.page("Ann Miller")
    text = "A long beginning. " * 30 + "Ann moved to Lisbon in spring. " + "A long end. " * 30
    claim = vault.claim(
        text, title="Ann moved", entities=[ann], valid_from="2024-04", origin="user", attribution="Ann"
    )
    hit = search(vault.view(), Question("who moved to Lisbon"))["hits"][0]
    assert hit["id"] == claim
    assert "Lisbon" in hit["snippet"] and len(hit["snippet"]) < 260
    assert hit["matched"] == ["moved", "Lisbon"]
    assert (hit["validFrom"], hit["origin"], hit["attribution"]) == ("2024-04", "user", "Ann")
    assert hit["entities"] == [{"id": ann, "title": "Ann Miller"}]
    assert hit["path"].startswith("claims/")


def test_attribution_falls_back_to_the_source(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    vault.claim("The lift is broken.")
    assert search(vault.view(), Question("lift"))["hits"][0]["attribution"] == "a talk"


def test_only_active_records_unless_asked(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    vault.claim("The rent is 900.", title="new")
    vault.claim("The rent is 800.", title="old", lifecycle="superseded")
    view = vault.view()
    assert found(view, "rent") == ["new"]
    assert found(view, "rent", lifecycles=("superseded",)) == ["old"]
    assert set(found(view, "rent", lifecycles=())) == {"new", "old"}


def test_kinds_and_types(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    ann = vault.page("Ann Harbour")
    yard = vault.page("Harbour yard", type="company")
    vault.claim("The harbour is busy.", title="busy", claim_kind="event")
    vault.relationship("works_at", ann, yard, title="harbour work")
    view = vault.view()
    assert set(found(view, "harbour", kinds=("page",))) == {"Ann Harbour", "Harbour yard"}
    assert found(view, "harbour", types=("company",)) == ["Harbour yard"]
    assert found(view, "harbour", types=("event",)) == ["busy"]
    assert found(view, types=("works_at",)) == ["harbour work"]
    assert found(view, types=("nothing-like-it",)) == []


@pytest.fixture(name="dated")
def dated_view(tmp_path: Path) -> MadeView:
    vault = MadeVault(tmp_path)
    vault.claim("rent", title="2019 to 2021", valid_from="2019", valid_to="2021")
    vault.claim("rent", title="from May 2021", valid_from="2021-05")
    vault.claim("rent", title="until 2018", valid_to="2018-06-30")
    vault.claim("rent", title="one day", valid_from="2020-02-29", valid_to="2020-02-29")
    vault.claim("rent", title="undated", recorded_at="2022-03-01T10:00:00Z")
    vault.page("a page about rent")
    return vault.view()


@pytest.mark.parametrize(
    ("day", "titles"),
    [
        ("2021-12-31", {"2019 to 2021", "from May 2021", "undated"}),
        ("2022-01-01", {"from May 2021", "undated"}),
        ("2021-04-30", {"2019 to 2021", "undated"}),
        ("2021-05", {"2019 to 2021", "from May 2021", "undated"}),
        ("2018-06-30", {"until 2018", "undated"}),
        ("2018-07-01", {"undated"}),
        ("2020-02-29", {"2019 to 2021", "one day", "undated"}),
        ("2020", {"2019 to 2021", "one day", "undated"}),
        ("2030-01-01T12:00:00+02:00", {"from May 2021", "undated"}),
    ],
)
def test_valid_on_keeps_what_covers_the_day(dated: MadeView, day: str, titles: set[str]) -> None:
    assert set(found(dated, "rent", valid_on=day)) == titles


def test_from_and_to_go_by_validity_or_by_recording(dated: MadeView) -> None:
    assert set(found(dated, "rent", since="2020-02", until="2020-03")) == {"2019 to 2021", "one day"}
    assert set(found(dated, "rent", until="2018")) == {"until 2018"}
    assert set(found(dated, "rent", since="2022-02", until="2022-04")) == {"undated", "from May 2021"}


def test_dates_alone_list_newest_first(dated: MadeView) -> None:
    hits = search(dated, Question(valid_on="2021-06-01", kinds=("claim",)))["hits"]
    assert [hit["title"] for hit in hits] == ["undated", "from May 2021", "2019 to 2021"]
    assert {hit["score"] for hit in hits} == {1.0}


@pytest.mark.parametrize(
    ("question", "field"),
    [
        (Question("x", since="yesterday"), "from"),
        (Question("x", until="2021-13"), "to"),
        (Question("x", valid_on="2021-02-30"), "validOn"),
        (Question("x", since="2021", until="2020"), "to"),
        (Question(), "query"),
    ],
)
def test_wrong_questions_name_the_field(dated: MadeView, question: Question, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        search(dated, question)
    assert caught.value.fields[0].loc == ("body", field)


def test_min_score_is_enforced_and_scores_mean_coverage(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    for place in range(20):
        vault.claim(f"Nothing of interest number {place}.")
    vault.claim("The blue ferry sails at dawn.", title="all")
    vault.claim("The blue door.", title="part")
    view = vault.view()
    hits = search(view, Question("blue ferry dawn"))["hits"]
    scores = {hit["title"]: hit["score"] for hit in hits}
    assert scores["all"] > 0.6 > 0.45 > scores["part"] > 0
    assert found(view, "blue ferry dawn", min_score=0.5) == ["all"]
    assert found(view, "blue ferry dawn", min_score=1.0) == []


def test_paging_shows_each_hit_once_and_ends(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    for place in range(23):
        vault.claim(f"The ferry number {place} sails.", title=f"{place}")
    view, seen, cursor = vault.view(), [], None
    while True:
        answer = search(view, Question("ferry"), limit=10, cursor=cursor)
        seen += [hit["title"] for hit in answer["hits"]]
        cursor = answer["nextCursor"]
        if cursor is None:
            break
    assert sorted(seen, key=int) == [str(place) for place in range(23)]
    assert answer["total"] == 23


def test_a_cursor_fits_one_question_and_one_state(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    for place in range(5):
        vault.claim(f"The ferry number {place} sails.")
    view = vault.view()
    cursor = search(view, Question("ferry"), limit=2)["nextCursor"]
    assert len(search(view, Question("ferry"), limit=3, cursor=cursor)["hits"]) == 3
    with pytest.raises(InvalidInput, match="another question"):
        search(view, Question("number"), limit=2, cursor=cursor)
    for broken in ("", "x", cursor[:-2], encode(2, "q", "o")[:-1] + "~", "ä"):
        with pytest.raises(InvalidInput, match="cursor"):
            search(view, Question("ferry"), limit=2, cursor=broken)
    vault.claim("One more ferry.")
    with pytest.raises(Conflict, match="changed"):
        search(vault.view(), Question("ferry"), limit=2, cursor=cursor)


def test_1_7_65_a_hit_whose_file_changed_meanwhile_is_not_given(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    vault.record("claims/a.md", "The ferry sails.")
    view = vault.view()
    vault.record("claims/a.md", "The ferry is sold.")
    with pytest.raises(Unavailable):
        search(view, Question("ferry"))
    assert "sold" in search(vault.view(), Question("ferry"))["hits"][0]["snippet"]


def test_1_5_46_another_partition_changes_no_result(tmp_path: Path) -> None:
    vault, other = MadeVault(tmp_path), MadeVault(tmp_path, SESSION)
    ann = vault.page("Ann", "The ferry.", aliases=["Annie"])
    vault.claim("The ferry sails.", entities=[ann])
    before = search(vault.view(), Question("ferry"))
    exact = search(vault.view(), Question("annie"))
    for place in range(30):
        other.page("Ann", f"The ferry {place}.", id=ann if place == 0 else f"x{place}")
    assert search(vault.view(), Question("ferry")) == before
    assert search(vault.view(), Question("annie")) == exact


def test_1_5_46_what_a_filter_hides_is_not_felt_in_scores(tmp_path: Path) -> None:
    one, two = MadeVault(tmp_path / "1"), MadeVault(tmp_path / "2")
    for vault in (one, two):
        vault.claim("The ferry sails.", title="a")
        vault.claim("The tram stops.", title="b")
    for place in range(10):
        two.claim(f"The ferry {place}", lifecycle="withdrawn")
    plain, crowded = (search(vault.view(), Question("ferry"))["hits"] for vault in (one, two))
    assert [hit["score"] for hit in plain] == [hit["score"] for hit in crowded]


def test_1_5_47_an_entity_of_another_partition_is_like_none(tmp_path: Path) -> None:
    vault, other = MadeVault(tmp_path), MadeVault(tmp_path, SESSION)
    there = other.page("Ann", id="ann-there")
    vault.claim("The ferry sails.", entities=[there])
    vault.claim("The ferry stops.", entities=["never-was"])
    hits = search(vault.view(), Question("ferry"))["hits"]
    shapes = {tuple(sorted(hit["entities"][0])) for hit in hits}
    assert shapes == {("id", "missing")}
    assert all(hit["valid"] is False for hit in hits)


def test_2_1_4_duplicates_are_listed_and_not_found_by_id(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    for title in ("one", "two"):
        vault.claim("The ferry sails.", title=title, id="twin")
    view = vault.view()
    hits = search(view, Question("ferry"))["hits"]
    assert {hit["title"] for hit in hits} == {"one", "two"}
    assert all(hit["duplicate"] for hit in hits)
    assert search(view, Question("twin"))["hits"] == []


def test_2_1_5_a_withheld_file_is_not_found_and_an_invalid_record_is_marked(tmp_path: Path) -> None:
    vault = MadeVault(tmp_path)
    vault.write("claims/no.md", b"---\nformat: knowledge-record-v1\n---\nThe ferry.\n")
    vault.claim("The ferry sails.", claim_kind="rumour")
    hits = search(vault.view(), Question("ferry"))["hits"]
    assert [(hit["snippet"], hit["valid"]) for hit in hits] == [("The ferry sails.", False)]
